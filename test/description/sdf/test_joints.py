"""Every type of joint of SDFormat, its limits, what follows what, and motors."""

import ik_node as ik
from ik_node.description.read import read_description
from ik_node.model.dof import DOF
import numpy as np
import pytest


def sdf(content, version='1.11'):
    """Return a model with links a, b and c, and what is given."""
    links = ''.join(f'<link name="{name}"/>' for name in 'abc')
    return f'<sdf version="{version}"><model name="r">{links}{content}</model></sdf>'


def joint(kind, inner='', name='j', ends='ab'):
    """Return a joint between two links."""
    return (
        f'<joint name="{name}" type="{kind}"><parent>{ends[0]}</parent><child>{ends[1]}</child>'
        f'{inner}</joint>'
    )


def axis(xyz='0 0 1', inner='', tag='axis'):
    """Return an axis."""
    return f'<{tag}><xyz>{xyz}</xyz>{inner}</{tag}>'


def limits(lower='', upper='', more=''):
    """Return a <limit>; '' leaves an element out."""
    inner = f'<lower>{lower}</lower>' if lower else ''
    inner += f'<upper>{upper}</upper>' if upper else ''
    return f'<limit>{inner}{more}</limit>'


@pytest.mark.parametrize('kind', ['universal', 'revolute2'])
def test_joint_of_two_axes_becomes_two_joints(kind):
    """Two hinges in a row: the first in the parent, the second in what that turns."""
    inner = axis('0 0 1', limits('-1', '2')) + axis('1 0 0', limits('-0.5', '0.25'), 'axis2')
    description = read_description(sdf(joint(kind, inner)))
    assert [each.name for each in description.joint_order] == ['j', 'j_axis2']
    assert 'j__between' in description.links
    description.joints['j'].set_dof_values(0.4)
    description.joints['j_axis2'].set_dof_values(0.2)
    c, s, d, t = np.cos(0.4), np.sin(0.4), np.cos(0.2), np.sin(0.2)
    expected = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ [[1, 0, 0], [0, d, -t], [0, t, d]]
    np.testing.assert_allclose(description.links['b'].matrix_world[:3, :3], expected, atol=1e-12)
    robot = ik.load_robot(sdf(joint(kind, inner)))
    np.testing.assert_array_equal(robot.lower, [-1, -0.5])
    np.testing.assert_array_equal(robot.upper, [2, 0.25])


def test_screw_couples_rotation_and_translation():
    """A turn about the axis goes [m] along it: the new element, the old one in rad/m, neither."""
    for inner, way in [
        ('<screw_thread_pitch>0.1</screw_thread_pitch>', 0.1),
        ('<screw_thread_pitch>-0.1</screw_thread_pitch>', -0.1),
        ('<thread_pitch>20</thread_pitch>', -np.pi / 10),
        ('<thread_pitch>-20</thread_pitch><screw_thread_pitch>3</screw_thread_pitch>', 3.0),
        ('', 1.0),
    ]:
        description = read_description(
            sdf(joint('screw', inner + axis('0 1 0', limits('-9', '9'))))
        )
        assert [each.name for each in description.joint_order] == ['j', 'j_slide']
        assert any('taken as 1 m per turn' in note for note in description.notes) == (not inner)
        turn, slide = description.joints['j'], description.joints['j_slide']
        assert slide.couplings[DOF.Y].master is turn
        assert slide.couplings[DOF.Y].value(2 * np.pi) == pytest.approx(way)
        assert (turn.min_dof_limit[DOF.EY], turn.max_dof_limit[DOF.EY]) == (-9, 9)


@pytest.mark.parametrize(('flip', 'sign'), [('ab', -1), ('ba', 1)])
def test_gearbox_becomes_a_coupling(flip, sign):
    """Angles from the reference body: child = -ratio * parent; a joint the other way counts so."""
    gears = joint(
        'gearbox',
        '<gearbox_ratio>5</gearbox_ratio><gearbox_reference_body>a</gearbox_reference_body>'
        + axis('0 0 2')
        + axis('0 0 1', tag='axis2'),
        'gears',
        'bc',
    )
    text = sdf(
        joint('revolute', axis(), 'j', flip) + joint('continuous', axis(), 'k', 'ac') + gears
    )
    description = read_description(text)
    assert list(description.joints) == ['j', 'k']
    (rule,) = description.joints['k'].couplings.values()
    assert rule.master is description.joints['j']
    assert rule.coefficients == (0.0, 5.0 * sign)
    assert ik.load_robot(text).mobility == 1


def test_mimic_becomes_a_coupling():
    """Value = multiplier * (leader's - reference) + offset; of either axis; Drake's way too."""
    follow = (
        '<mimic joint="j" axis="axis2"><multiplier>2</multiplier><offset>0.5</offset>'
        '<reference>0.1</reference></mimic>'
    )
    text = sdf(
        joint('universal', axis() + axis('1 0 0', tag='axis2'))
        + joint('prismatic', axis(inner=follow), 'k', 'bc')
        + '<link name="d"/>'
        + joint('revolute', axis() + '<drake:mimic joint="k" multiplier="3"/>', 'l', 'cd')
    )
    description = read_description(text)
    (rule,) = description.joints['k'].couplings.values()
    assert rule.master is description.joints['j_axis2']
    assert rule.coefficients == (0.5 - 2 * 0.1, 2.0)
    (rule,) = description.joints['l'].couplings.values()
    assert (rule.master.name, rule.coefficients) == ('k', (0.0, 3.0))
    assert ik.load_robot(text).mobility == 2


def test_zero_effort_means_no_motor():
    """Where some have an effort of 0, the others have motors."""
    idle = axis(inner=limits(more='<effort>0</effort>'))
    text = sdf(joint('revolute', axis()) + joint('revolute', idle, 'k', 'bc'))
    description = read_description(text)
    assert description.actuated == ['j']
    assert np.isinf(description.joints['k'].max_effort).all()
    assert not any('effort' in note for note in description.notes)
    plugin = (
        '<plugin filename="gz-sim-joint-controller-system"><joint_name>k</joint_name></plugin>'
    )
    description = read_description(text.replace('</model>', f'{plugin}</model>'))
    assert description.actuated == ['k']
    assert "effort limit of 0 or less, taken as unlimited: 'k'" in description.notes


def test_masses_are_read():
    """Mass and centre of mass; what is not written is 1 kg, and noted."""
    mass = '<mass>2.5</mass>'
    text = (
        f'<sdf version="1.9"><model name="r"><link name="a"><inertial>{mass}'
        '<pose>1 2 3 1 1 1</pose></inertial></link><link name="b"/>'
        '<link name="c"><inertial auto="true"/></link></model></sdf>'
    )
    description = read_description(text)
    assert [link.mass for link in description.links.values()] == [2.5, 1.0, 1.0]
    np.testing.assert_array_equal(description.links['a'].centre_of_mass, [1, 2, 3])
    assert "links 'b': no mass is given, taken as 1 kg" in description.notes
    assert any("'c': the mass depends on shapes" in each for each in description.notes)
