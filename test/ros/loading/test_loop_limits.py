"""Loops that a description's rounding leaves open by a little."""

from ik_node.errors import TopologyError
from ik_node.robot import load_robot
from ik_node.ros.control.tracker import Tracker
from ik_node.ros.loading.load_model import load_model
from ik_node.ros.loading.loaded_model import loop_limits, ModelRequest
from ik_node.ros.parameters.settings import Settings
import pytest


def off_plane(urdf, height):
    """Return the five-bar with its loop out of the plane by `height` [m]."""
    robot = load_robot(urdf('fivebar'))
    (pin,) = robot.closures.values()
    position, quat = pin.offset_position.copy(), pin.offset_quaternion
    position[2] += height
    pin.set_offset(position, quat)
    robot.assemble()
    return robot


def test_closed_loop_has_the_tolerance_of_the_node(urdf):
    """It is `LOOP_TOLERANCE`."""
    assert loop_limits(off_plane(urdf, 0.0)) == {'pin': 1e-6}


def test_loop_open_by_rounding_has_a_larger_limit(urdf):
    """A note reports it."""
    robot = off_plane(urdf, 2e-5)
    assert loop_limits(robot)['pin'] == pytest.approx(8.1e-5, rel=1e-3)
    assert any("'pin' stays 2e-05 open" in note for note in robot.notes)


def test_tolerance_of_the_annotation_counts(urdf):
    """A residual within it counts as closed."""
    robot = off_plane(urdf, 2e-5)
    robot.closures['pin'].tolerance = 1e-4
    assert loop_limits(robot) == {'pin': 1e-4}
    assert not robot.notes


def test_loop_open_by_centimetres_is_refused(urdf):
    """The error names the loop."""
    with pytest.raises(TopologyError, match=r"'pin' stays 0\.02 open"):
        loop_limits(off_plane(urdf, 2e-2))


def test_a_robot_with_rounded_loops_ticks(shared):
    """The loop_joint elements of the AgiBot leave 28 micrometres open."""
    text = (shared / 'models/agibot_g1_omnipicker/G1_omnipicker.urdf').read_text()
    settings = Settings.from_values({'goal_names': ('',)})
    model = load_model(ModelRequest(text, '', settings.active_goals, settings.options))
    report = Tracker(model).tick({}, None, settings, 0.0)
    assert not report.held
    assert max(e.position for e in report.solution.closure_errors.values()) < 3e-5
    assert report.converged


def test_robot_with_loop_and_sum_of_joints_is_loaded(urdf):
    """The row of the sum has the tolerance of the node, too."""
    tool = urdf('fivebar').replace(
        '</robot>',
        '<link name="dial"/><joint name="dial" type="continuous"><parent link="base_link"/>'
        '<child link="dial"/></joint><joint_coupling joint="dial"><term of="left_shoulder" '
        'coefficients="0 1"/><term of="right_shoulder" coefficients="0 1"/></joint_coupling>'
        '</robot>',
    )
    assert loop_limits(load_robot(tool)) == {'pin': 1e-6, 'coupling of dial': 1e-6}
