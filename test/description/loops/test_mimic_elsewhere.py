"""Mimic rules for simulators: plugins of Gazebo and parameters of ros2_control."""

from ik_node.description.read import read_description
import pytest
from support.robot_texts import joint, urdf


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
    fingers = (joint(name, 'hand', name) for name in 'abc')
    description = read_description(urdf('hand a b c', *fingers, extra))
    rules = [
        (joint.name, each.master.name, each.coefficients)
        for joint in description.joint_order
        for each in joint.couplings.values()
    ]
    assert rules == [('b', 'a', coefficients)]
    assert description.dialect == 'URDF + mimic rules for simulators'
