"""URDF+: loops, couplings of links, motors; and how its exporters spell it."""

import ik_node as ik
from ik_node.description.read import read_description
from ik_node.model.rotation import quat_to_matrix
import numpy as np
import pytest
from support.robot_texts import joint, urdf

ENDS = (
    '<predecessor link="b"><origin xyz="1 0 0" rpy="0 0 0.5"/></predecessor>'
    '<successor link="c"><origin xyz="0 1 0"/></successor>'
)


def robot(inside, dependent=''):
    """Return links and joints, each a hinge: a to b, a to c; joints named like their child."""
    text = urdf('a b c', joint('jb', 'a', 'b'), joint('jc', 'a', 'c'), inside)
    for name in dependent:
        text = text.replace(f'name="j{name}"', f'name="j{name}" independent="false"')
    return text


def one(attributes, inside=ENDS, tag='loop'):
    """Return the closure of one loop."""
    (closure,) = read_description(robot(f'<{tag} {attributes}>{inside}</{tag}>')).closures.values()
    return closure


@pytest.mark.parametrize('tag', ['loop', 'constraint'])
@pytest.mark.parametrize(
    ('type_name', 'rows'),
    [('revolute', 5), ('continuous', 5), ('prismatic', 5), ('fixed', 6), ('planar', 3)],
)
def test_every_loop_type_is_read(tag, type_name, rows):
    """The predecessor carries the closure, the successor is its child; all types are read."""
    found = one(f'name="l" type="{type_name}"', tag=tag)
    assert (found.name, found.parent.name, found.child.name) == ('l', 'b', 'c')
    assert len(found.dof) == rows
    assert found.position.tolist() == [1, 0, 0]
    assert found.offset_position.tolist() == [0, 1, 0]


def test_the_axis_counts_in_the_frames():
    """It is x where none is written."""
    for axis, wanted in (('', (1, 0, 0)), ('<axis xyz="0 3 4"/>', (0, 0.6, 0.8))):
        found = one('name="l" type="revolute"', ENDS + axis)
        in_c = quat_to_matrix(found.offset_quaternion)[:, 2]
        np.testing.assert_allclose(in_c, wanted, atol=1e-15)
        turn = np.array([[np.cos(0.5), -np.sin(0.5), 0], [np.sin(0.5), np.cos(0.5), 0], [0, 0, 1]])
        in_b = quat_to_matrix(found.quaternion)[:, 2]
        np.testing.assert_allclose(in_b, turn @ wanted, atol=1e-15)


def test_other_spellings_are_read():
    """Fusion's exporter, and how it was written in the beginning."""
    fusion = '<predecessor name="b"/><sucessor name="c"><origin xyz="0 2 0"/></sucessor>'
    assert one('name="l" type="revolute"', fusion).offset_position.tolist() == [0, 2, 0]
    old = (
        '<predecessor link="b"/><successor link="c"/><predecessor_origin xyz="1 0 0"/>'
        '<successor_origin xyz="0 3 0"/>'
    )
    found = one('name="l" type="position"', old, 'constraint')
    assert (len(found.dof), found.position.tolist()) == (3, [1, 0, 0])
    assert found.offset_position.tolist() == [0, 3, 0]


def coupling(ratio='6', tag='coupling', attributes='name="c"', extra=''):
    """Return a coupling of the links b and c."""
    return (
        f'<{tag} {attributes}><predecessor link="b"/><successor link="c"/>'
        f'<ratio value="{ratio}"/>{extra}</{tag}>'
    )


@pytest.mark.parametrize(
    ('element', 'ratio'),
    [
        (coupling(), 6.0),
        (coupling(attributes='name="c" type="rolling"'), 6.0),
        (coupling('-2', 'constraint'), -2.0),
        (coupling('2', 'constraint', 'name="c" type="rolling"', '<polarity value="-1"/>'), -2.0),
    ],
)
def test_coupling_of_two_joints_becomes_a_rule(element, ratio):
    """The successor's joint follows: its value is ratio times the predecessor's."""
    description = read_description(robot(element))
    (rule,) = description.joints['jc'].couplings.values()
    assert (rule.master.name, rule.coefficients) == ('jb', (0.0, ratio))
    assert not description.closures
    assert description.dialect == 'URDF + URDF+'


def test_the_dependent_joint_follows():
    """If only the predecessor's joint is dependent, it is the one that follows."""
    description = read_description(robot(coupling('4'), dependent='b'))
    (rule,) = description.joints['jb'].couplings.values()
    assert (rule.master.name, rule.coefficients) == ('jc', (0.0, 0.25))
    assert description.actuated == ['jc']


def test_coupling_of_more_joints_becomes_a_sum():
    """The value of the dependent joint is ratio times the sum down to the predecessor."""
    joints = ''.join(
        f'<joint name="{name}" type="revolute"{flag}><parent link="{parent}"/>'
        f'<child link="{name}"/><axis xyz="0 1 0"/><limit lower="-9" upper="9"/></joint>'
        for name, parent, flag in (
            ('hip', 'base', ''),
            ('knee', 'hip', ''),
            ('ankle', 'knee', ''),
            ('rotor', 'hip', ' independent="false"'),
        )
    )
    links = ''.join(f'<link name="{n}"/>' for n in ('base', 'hip', 'knee', 'ankle', 'rotor'))
    element = coupling('3').replace('"b"', '"ankle"').replace('"c"', '"rotor"', 2)
    element = element.replace('name="rotor"', 'name="c"')
    loaded = ik.load_robot(f'<robot name="r">{links}{joints}{element}</robot>')
    assert loaded.mobility == 3
    assert loaded.actuated == ['hip', 'knee', 'ankle']
    q = np.zeros(len(loaded.joint_names))
    q[:3] = 0.3, 0.4, -0.1
    loaded.q = q
    loaded.assemble()
    values = dict(zip(loaded.joint_names, loaded.q, strict=True))
    assert values['rotor'] == pytest.approx(3 * (values['knee'] + values['ankle']), abs=1e-14)
    assert values['rotor'] != 0.0
    assert loaded.joint_names == ['hip', 'knee', 'ankle', 'rotor']
