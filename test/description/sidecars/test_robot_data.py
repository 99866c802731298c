"""`robot_data.yaml` of fusion2URDF."""

from ik_node.errors import DescriptionError
from ik_node.robot import load_robot
from ik_node.solver import Solver
import numpy as np
import pytest

# A four-bar linkage with bars of 1 m: the pin connects the end of the coupler and the rocker.
ROBOT = """<robot name="r"><link name="base"/><link name="crank"/><link name="coupler"/>
<link name="rocker"/>
<joint name="motor" type="revolute"><parent link="base"/><child link="crank"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="elbow" type="continuous"><parent link="crank"/><child link="coupler"/>
<origin xyz="0 1 0" rpy="0 0 -0.2"/><axis xyz="0 0 1"/></joint>
<joint name="foot" type="continuous"><parent link="base"/><child link="rocker"/>
<origin xyz="1 0 0" rpy="3.141593 0 0"/><axis xyz="0 0 -1"/></joint></robot>"""
DATA = """
metadata: {design_name: r}
joints:
  motor: {type: revolute, passive: false}
  elbow: {type: continuous, passive: true}
  foot: {type: continuous, passive: true}
closing_joints:
  - name: pin
    source: auto_detected
    type: TYPE
    parent: rocker
    child: coupler
    origin_xyz_m: [0.0, -1.0, 0.0]
    origin_rpy_rad: [1.570796, 0.0, 0.0]
    axis: [0.0, 1.0, 0.0]
    limits: {lower: -1.0, upper: 1.0, effort: 1.0, velocity: 1.0}
"""


@pytest.fixture
def write(tmp_path):
    """Return a writer of robot and data, which returns the path of the robot."""

    def write_both(data):
        (tmp_path / 'urdf').mkdir(exist_ok=True)
        (tmp_path / 'urdf' / 'r.urdf').write_text(ROBOT)
        (tmp_path / 'robot_data.yaml').write_text(data)
        return tmp_path / 'urdf' / 'r.urdf'

    return write_both


def test_closing_joint_closes_the_loop_where_the_urdf_has_it(write):
    """A parallelogram: rocker and crank turn alike, and only the servo has a motor."""
    robot = load_robot(write(DATA.replace('TYPE', 'revolute')))
    assert robot.dialect == 'URDF + robot_data YAML'
    assert robot.actuated == ['motor']
    assert int(robot.mobility) == 1
    assert any('limits are not used' in note for note in robot.notes)
    solver = Solver(robot)
    for angle in np.linspace(-0.6, 0.6, 5):
        answer = solver.solve_pose({}, q0={'motor': angle}, joints=['elbow', 'foot'])
        assert answer.converged
        assert answer['foot'] == pytest.approx(angle, abs=1e-5)


@pytest.mark.parametrize('half_turn', ['3.1416', '3.14159', '3.141593', '3.14159265358979'])
def test_loop_with_rounded_axes_is_driven_away_from_where_they_agree(write, half_turn):
    """The file closes the loop exactly; the digits of an axis open it as soon as it moves."""
    path = write(DATA.replace('TYPE', 'revolute'))
    path.write_text(ROBOT.replace('3.141593', half_turn))
    robot = load_robot(path)
    answer = Solver(robot).drive({'motor': 0.6})
    assert answer.converged
    assert answer['foot'] == pytest.approx(0.6, abs=1e-5)


def test_type_of_closing_joint_is_checked(write):
    """A ball that became fixed is told, and an unknown type is refused with its line."""
    robot = load_robot(write(DATA.replace('TYPE', 'fixed')), assemble=False)
    assert any('ball' in note for note in robot.notes)
    with pytest.raises(DescriptionError, match=r'(?s)robot_data\.yaml.*pin_slot'):
        load_robot(write(DATA.replace('TYPE', 'pin_slot')))
