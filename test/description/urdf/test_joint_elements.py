"""What our writer adds to a URDF: <joint_coupling>, <joint_start>, `unlimited`, single motors."""

from ik_node.description.read import read_description
import numpy as np

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
