"""What our writer adds to a URDF: <joint_coupling>, <joint_start>, `unlimited`, single motors."""

from hypothesis import given, settings
from hypothesis import strategies as st
from ik_node.description.read import read_description
from ik_node.errors import DescriptionError, IkError
import numpy as np
import pytest

ARM = """<robot name="arm">
  <link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <joint name="turn" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-1000" upper="2" velocity="1000" effort="1000" {unlimited}/></joint>
  <joint name="slide" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="2"/></joint>
  <joint name="ball" type="spherical"><parent link="c"/><child link="d"/></joint>
  {more}
</robot>"""
MOTOR = '<joint name="{}"><command_interface name="position"/></joint>'


def read(more='', unlimited=''):
    """Return the arm with something added."""
    return read_description(ARM.format(more=more, unlimited=unlimited))


def test_polynomial_coupling_is_read():
    """A polynomial of any value, in the place of a <mimic>."""
    description = read('<joint_coupling joint="slide" of="ball.EY" coefficients="0.1 0 -2e-1"/>')
    (coupling,) = description.joints['slide'].couplings.values()
    assert coupling.coefficients == (0.1, 0.0, -0.2)
    assert (coupling.master.name, coupling.master_dof.name) == ('ball', 'EY')
    assert description.dialect == 'URDF + joint_coupling'


def test_unlimited_numbers_are_ignored():
    """Those that are named are no limits; the others count."""
    joint = read(unlimited='unlimited="lower velocity"').joints['turn']
    assert joint.min_dof_limit[5] == -np.inf
    assert (joint.max_dof_limit[5], joint.max_velocity[5]) == (2.0, np.inf)
    plain = read().joints['turn']
    assert (plain.min_dof_limit[5], plain.max_velocity[5]) == (-1000.0, 1000.0)
    assert (joint.max_effort[5], plain.max_effort[5]) == (1000.0, 1000.0)
    assert read(unlimited='unlimited="effort"').joints['turn'].max_effort[5] == np.inf


def test_joint_start_sets_the_value():
    """Within their limits, single values of a ball too."""
    starts = {'turn': 0.5, 'slide': 7.0, 'ball.EX': -0.3}
    more = [f'<joint_start joint="{name}" value="{value}"/>' for name, value in starts.items()]
    joints = read(''.join(more)).joints
    assert joints['turn'].dof_values[5] == 0.5
    assert joints['slide'].dof_values[2] == 1.0
    assert joints['ball'].dof_values.tolist() == [0.0, 0.0, 0.0, -0.3, 0.0, 0.0]


def test_single_values_have_motors():
    """Beside those of whole joints, in the order of the file."""
    motors = ''.join(MOTOR.format(name) for name in ('ball.EZ', 'turn', 'gone', 'ball.X'))
    assert read(f'<ros2_control>{motors}</ros2_control>').actuated == ['ball.EZ', 'turn']


@pytest.mark.parametrize(
    ('more', 'unlimited', 'said'),
    [
        ('<joint_coupling of="turn" coefficients="1"/>', '', 'the attribute joint="..." is miss'),
        ('<joint_coupling joint="turn" coefficients="1"/>', '', 'the attribute of="..." is miss'),
        ('<joint_coupling joint="turn" of="slide"/>', '', 'coefficients="..." is missing'),
        (
            '<joint_coupling joint="turn" of="slide" coefficients="1 x"/>',
            '',
            "'x' is not a number",
        ),
        (
            f'<joint_coupling joint="turn" of="slide" coefficients="{"1 " * 11}"/>',
            '',
            '11 coefficients; expected 1 to 10 numbers',
        ),
        ('<joint_coupling joint="turm" of="slide" coefficients="1"/>', '', "you mean 'turn'"),
        ('<joint_coupling joint="ball" of="slide" coefficients="1"/>', '', 'several DoF'),
        ('<joint_start joint="turm" value="1"/>', '', "you mean 'turn'"),
        ('<joint_start joint="ball" value="1"/>', '', "no joint value 'ball'"),
        ('<joint_start joint="ball.X" value="1"/>', '', "no joint value 'ball.X'"),
        ('<joint_start joint="turn"/>', '', 'value="..." is missing'),
        ('<joint_start joint="turn" value="nan"/>', '', "'nan' is not a number"),
        ('', 'unlimited="lower jerk"', 'expected some of lower upper velocity effort'),
    ],
)
def test_mistakes_are_refused(more, unlimited, said):
    """File, line and element, what was found and what is allowed."""
    with pytest.raises(DescriptionError) as caught:
        read(more, unlimited)
    assert said in str(caught.value)
    assert caught.value.line is not None


WORDS = st.sampled_from(
    [
        *('joint', 'of', 'value', 'coefficients', 'turn', 'slide', 'ball', 'ball.EX', '.EX', '.'),
        *('1', '-2', 'nan', 'inf', '1e400', '', ' ', 'ball.EX.EX', 'lower', 'upper', 'é'),
    ]
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(['joint_coupling', 'joint_start', 'loop_joint']),
            st.dictionaries(
                st.sampled_from(['joint', 'of', 'value', 'coefficients', 'name']), WORDS
            ),
        ),
        max_size=4,
    ),
    st.lists(WORDS, max_size=3),
)
def test_any_elements_are_read_or_refused(elements, unlimited):
    """Any attributes: a description with finite values, or an IkError."""
    said = ''
    for tag, attributes in elements:
        said += f'<{tag} {" ".join(f"{k}={chr(34)}{v}{chr(34)}" for k, v in attributes.items())}/>'
    try:
        description = read(said, f'unlimited="{" ".join(unlimited)}"')
    except IkError:
        return
    for joint in description.joints.values():
        assert np.isfinite(joint.dof_values).all()
