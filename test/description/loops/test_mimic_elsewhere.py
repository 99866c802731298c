"""Mimic rules for simulators: plugins of Gazebo and parameters of ros2_control."""

from ik_node.description.read import read_description
import pytest


def robot(extra, mimic=''):
    """Return three fingers on a hand."""
    text = '<link name="hand"/>'
    for name in 'abc':
        inside = mimic if name == 'b' else ''
        text += (
            f'<link name="{name}"/><joint name="{name}" type="continuous"><parent link="hand"/>'
            f'<child link="{name}"/><axis xyz="0 0 1"/>{inside}</joint>'
        )
    return f'<robot name="r">{text}{extra}</robot>'


def plugin(leader, follower, inside=''):
    """Return a plugin that makes a joint follow."""
    return (
        f'<gazebo><plugin name="p" filename="libmimic.so"><joint>{leader}</joint>'
        f'<mimicJoint>{follower}</mimicJoint>{inside}</plugin></gazebo>'
    )


def parameters(leader, follower, inside=''):
    """Return a ros2_control that makes a joint follow."""
    return (
        f'<ros2_control name="s" type="system"><joint name="{follower}">'
        f'<param name="mimic">{leader}</param>{inside}</joint></ros2_control>'
    )


def rules(description):
    """Return follower, leader and coefficients of all couplings."""
    return [
        (joint.name, each.master.name, each.coefficients)
        for joint in description.joint_order
        for each in joint.couplings.values()
    ]


@pytest.mark.parametrize(
    ('extra', 'coefficients'),
    [
        (plugin('a', 'b'), (0, 1)),
        (plugin('a', ' b ', '<multiplier>-2</multiplier><offset>0.5</offset>'), (0.5, -2)),
        (parameters('a', 'b'), (0, 1)),
        (parameters('a', 'b', '<param name="multiplier">3</param>'), (0, 3)),
    ],
)
def test_mimic_rules_outside_mimic_are_read(extra, coefficients):
    """The follower is multiplier times the leader, plus offset."""
    description = read_description(robot(extra))
    assert rules(description) == [('b', 'a', coefficients)]
    assert description.dialect == 'URDF + mimic rules for simulators'


def test_mimic_of_urdf_overrides_plugin():
    """What <mimic> says already is not said again, whichever way round it is written."""
    mimic = '<mimic joint="a" multiplier="2"/>'
    for extra in (plugin('a', 'b'), plugin('b', 'a'), parameters('a', 'b')):
        description = read_description(robot(extra, mimic))
        assert rules(description) == [('b', 'a', (0, 2))]
        assert description.notes == []


@pytest.mark.parametrize(
    ('extra', 'reason'),
    [
        (plugin('c', 'b'), 'that joint follows another already'),
        (plugin('x', 'c'), "there is no joint 'x' of one DoF"),
        (plugin('c', 'a') + plugin('b', 'c'), "'b' follows that joint"),
        (plugin('c', 'c'), "'c' follows that joint"),
    ],
)
def test_unusable_mimic_is_noted_and_ignored(extra, reason):
    """The robot is read without the rule."""
    notes = read_description(robot(extra, '<mimic joint="a"/>')).notes
    assert len(notes) == 1
    assert notes[0].endswith(f'is not read: {reason}')


def test_a_plugin_that_closes_a_loop_is_noted():
    """Its axis is in its program."""
    extra = '<gazebo><plugin name="p" filename="libx_closed_loop_plugin.so"/></gazebo>'
    assert (
        "'libx_closed_loop_plugin.so' closes a loop and is not read"
        in read_description(robot(extra)).notes[0]
    )
