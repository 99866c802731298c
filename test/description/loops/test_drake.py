"""Drake's elements in a URDF."""

from ik_node.description.read import read_description
from ik_node.errors import UnsupportedElementError
import pytest
from support.robot_texts import AXIS, joint, urdf


def robot(inside):
    """Return three links in a row, hinged, with some elements."""
    there = '<origin xyz="1 0 0"/>' + AXIS
    return urdf('A B C', joint('jB', 'A', 'B', there), joint('jC', 'B', 'C', there), '\n', inside)


@pytest.mark.parametrize(
    ('tag', 'more', 'kind', 'distance'),
    [
        ('ball_constraint', '', 'frame', 0.0),
        ('distance_constraint', '<drake:TAG_distance value="0.5"/>', 'distance', 0.5),
    ],
)
def test_constraint_between_points_is_read(tag, more, kind, distance):
    """Two points, and how far they are apart; the prefix need not be declared."""
    inside = (
        '<drake:TAG><drake:TAG_body_A name="A"/><drake:TAG_body_B name="C"/>'
        '<drake:TAG_p_AP value="1 2 3"/><drake:TAG_p_BQ value="4 5 6"/>'
        f'{more}<drake:TAG_stiffness value="1"/></drake:TAG>'
    )
    description = read_description(robot(inside.replace('TAG', tag)))
    (found,) = description.closures.values()
    assert (found.name, found.kind, found.distance) == (f'{tag}_1', kind, distance)
    assert [dof.name for dof in found.dof][:3] == (['X', 'Y', 'Z'] if kind == 'frame' else [])
    assert (found.child.name, found.parent.name) == ('A', 'C')
    assert found.offset_position.tolist() == [1, 2, 3]
    assert found.position.tolist() == [4, 5, 6]
    assert description.dialect == 'URDF + Drake'


FRAMES = (
    '<frame name="Fa" link="A" xyz="3 0 0" rpy="0 0 0"/>'
    '<frame name="Fc" link="C" xyz="1 0 0" rpy="0 0 0.5"/>'
)


def bushing(torque, force, first='Fa'):
    """Return a bushing and its frames."""
    return FRAMES + (
        f'<drake:linear_bushing_rpy><drake:bushing_frameA name="{first}"/>'
        f'<drake:bushing_frameC name="Fc"/><drake:bushing_torque_stiffness value="{torque}"/>'
        '<drake:bushing_torque_damping value="0 0 0"/>'
        f'<drake:bushing_force_stiffness value="{force}"/></drake:linear_bushing_rpy>'
    )


@pytest.mark.parametrize(
    ('torque', 'force', 'dofs'),
    [
        ('1 1 1', '2 2 2', 'X Y Z EX EY EZ'),
        ('1 1 0', '2 2 2', 'X Y Z EX EY'),
        ('0 0 0', '2 2 2', 'X Y Z'),
        ('1 1 1', '2 0 2', 'X Z EX EY EZ'),
        ('1 1 0', '2 2 0', 'X Y EX EY'),
        ('1 1 0', '0 0 2', 'Z EX EY'),
    ],
)
def test_bushing_constrains_its_stiff_axes(torque, force, dofs):
    """Axes without stiffness are free."""
    description = read_description(robot(bushing(torque, force)))
    (found,) = description.closures.values()
    assert [dof.name for dof in found.dof] == dofs.split()
    assert (found.parent.name, found.child.name) == ('A', 'C')
    assert found.position.tolist() == [3, 0, 0]
    assert f'axes of stiffness: {dofs}' in description.notes[0]


def test_bushing_of_stiffness_zero_is_not_used():
    """It ties nothing, which is noted; a link has a frame of its name."""
    description = read_description(robot(bushing('0 0 0', '0 0 0')))
    assert not description.closures
    assert 'is not used: all its stiffnesses are 0' in description.notes[0]
    (found,) = read_description(robot(bushing('1 1 1', '1 1 1', 'A'))).closures.values()
    assert found.position.tolist() == [0, 0, 0]


def test_drake_joint_is_read():
    """A type that URDF does not have; the link hangs on it."""
    text = robot('').replace(
        '<joint name="jC" type="continuous">', '<drake:joint name="jC" type="ball">'
    )
    text = text.replace('</joint>\n', '</drake:joint>\n')
    description = read_description(text)
    assert len(description.joints['jC'].dof) == 3
    plane = read_description(
        text.replace('<axis xyz="0 0 1"/></drake', '</drake').replace('"ball"', '"planar"')
    )
    assert [dof.name for dof in plane.joints['jC'].dof] == ['X', 'Y', 'EZ']
    assert [root.name for root in description.roots] == ['A']
    with pytest.raises(UnsupportedElementError, match='<drake:joint name="jC">: type="screw" is'):
        read_description(text.replace('"ball"', '"screw"'))
