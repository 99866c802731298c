"""Drake's elements in a URDF."""

from ik_node.description.read import read_description
from ik_node.errors import UnsupportedElementError
import pytest


def robot(inside, joint=''):
    """Return three links in a row, hinged, with some elements on line 3."""
    text = ''.join(f'<link name="{name}"/>' for name in 'ABC')
    for name, parent in (('B', 'A'), ('C', 'B')):
        text += (
            f'<joint name="j{name}" type="continuous"><parent link="{parent}"/>'
            f'<child link="{name}"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>'
            f'{joint if name == "C" else ""}</joint>'
        )
    return f'<robot name="r">\n{text}\n{inside}</robot>'


def between(tag, extra='', first='A', p_BQ='<drake:TAG_p_BQ value="4 5 6"/>'):
    """Return a constraint between points."""
    inside = (
        f'<drake:TAG_body_A name="{first}"/><drake:TAG_body_B name="C"/>'
        f'<drake:TAG_p_AP value="1 2 3"/>{p_BQ}{extra}'
    )
    return f'<drake:TAG>{inside}</drake:TAG>'.replace('TAG', tag)


def test_ball_constraint_becomes_a_point():
    """Two points; the prefix need not be declared."""
    description = read_description(robot(between('ball_constraint')))
    (found,) = description.closures.values()
    assert (found.name, len(found.dof)) == ('ball_constraint_1', 3)
    assert (found.child.name, found.parent.name) == ('A', 'C')
    assert found.offset_position.tolist() == [1, 2, 3]
    assert found.position.tolist() == [4, 5, 6]
    assert description.dialect == 'URDF + Drake'


def test_distance_constraint_is_read():
    """Two points and how far they are apart."""
    extra = '<drake:TAG_distance value="0.5"/><drake:TAG_stiffness value="1"/>'
    (found,) = read_description(robot(between('distance_constraint', extra))).closures.values()
    assert (found.kind, found.distance) == ('distance', 0.5)


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


def test_drake_mimic_is_read():
    """A rule that only Drake sees is a coupling; URDF's own comes first."""
    drake = '<drake:mimic joint="jB" multiplier="2" offset="1"/>'
    (rule,) = read_description(robot('', drake)).joints['jC'].couplings.values()
    assert (rule.master.name, rule.coefficients) == ('jB', (1.0, 2.0))
    own = '<mimic joint="jB" multiplier="3"/>'
    (rule,) = read_description(robot('', own + drake)).joints['jC'].couplings.values()
    assert rule.coefficients == (0.0, 3.0)
    (note,) = read_description(robot('', '<drake:mimic joint="x"/>')).notes
    assert "'jC' is not read" in note
    assert "'x'" in note


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


def test_unread_drake_tendon_is_noted():
    """A tendon has limits, not a row."""
    description = read_description(robot('<drake:tendon_constraint/>'))
    assert description.notes == ['<drake:tendon_constraint> is not read']
