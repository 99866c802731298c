"""Velocities, efforts and singularities of the whole robot by its measured motors."""

from ik_node.solver import Status
import numpy as np
import pytest

MOTORS = ('motor_left', 'motor_right')
JOINTS = ('ankle_pitch', 'ankle_roll')


@pytest.fixture
def ankle(moving):
    """Provide an ankle that follows its measured motors."""
    return moving(
        'ankle', state_source='actuated', actuated_joints=MOTORS, transmission__joints=JOINTS
    )


def measure(robot, stamp, position, velocity=None, effort=None):
    """Have the motors measured, and return the report of the answer."""
    parts = [dict(zip(MOTORS, part or (), strict=False)) for part in (velocity, effort)]
    robot.measured.update(MOTORS, position, stamp, *parts)
    return robot.motion.answer(robot.tracker, MOTORS, robot.settings, stamp, robot.now)


def part(robot, names, values):
    """Return the values of some joints."""
    return np.array([robot.value(name, values) for name in names])


def test_velocity_of_every_joint_follows_from_that_of_the_motors(ankle):
    """The first measurement suffices; differences of positions agree."""
    speeds, step = np.array([0.7, -0.4]), 1e-5
    report = measure(ankle, 100.0, [0.2, 0.1], speeds.tolist())
    ahead = measure(ankle, 100.1, (np.array([0.2, 0.1]) + step * speeds).tolist())
    assert report.velocity == pytest.approx((ahead.q - report.q) / step, abs=1e-4)
    assert part(ankle, MOTORS, report.velocity) == pytest.approx(speeds, abs=1e-12)
    assert np.abs(part(ankle, JOINTS, report.velocity)).min() > 0.01


def test_velocity_is_a_difference_if_one_motor_has_none(ankle):
    """Also after messages in which both had one."""
    measure(ankle, 100.0, [0.2, 0.1], [9.0, 9.0])
    report = measure(ankle, 100.5, [0.25, 0.1], [9.0])
    assert part(ankle, MOTORS, report.velocity) == pytest.approx([0.1, 0.0], abs=1e-9)


def test_efforts_of_the_joint_space_do_the_work_of_the_motors(ankle):
    """Passive joints outside the joint space have none."""
    report = measure(ankle, 100.0, [0.3, -0.1], [0.7, -0.4], [2.0, -1.5])
    motors = part(ankle, MOTORS, report.effort) @ part(ankle, MOTORS, report.velocity)
    joints = part(ankle, JOINTS, report.effort) @ part(ankle, JOINTS, report.velocity)
    assert joints == pytest.approx(motors, rel=1e-9)
    assert part(ankle, MOTORS, report.effort).tolist() == [2.0, -1.5]
    assert np.count_nonzero(report.effort) == 4


def test_effort_is_unknown_if_that_of_one_motor_is(ankle):
    """Positions and velocities are as usual."""
    report = measure(ankle, 100.0, [0.3, -0.1], [0.7, -0.4], [2.0])
    assert report.effort is None


def test_ticks_report_measured_efforts(moving):
    """The state source is the solution; stale measurements count no more."""
    robot = moving(
        'ankle', actuated_joints=MOTORS, transmission__joints=JOINTS, joint_state_timeout=0.5
    )
    robot.measured.update(MOTORS, [0.0, 0.0], robot.now, {}, dict.fromkeys(MOTORS, 1.0))
    report, _ = robot.tick()
    assert part(robot, JOINTS, report.effort) == pytest.approx([1.75, 0.0], abs=1e-3)
    assert robot.tick(1.0)[0].effort is None


def test_singularity_is_named_before_it_is_reached(moving, urdf):
    """A five-bar stands in it with both distal links in one line; all numbers stay finite."""
    text = urdf('fivebar').replace('lower="-1.2" upper="1.2"', 'lower="-3" upper="3"')
    robot = moving(text, transmission__joints=('left_elbow', 'right_elbow'))
    space, names = robot.motion.joint_space, robot.model.joint_names
    found = []
    q = robot.model.q_start
    for angle in np.linspace(0.0, 1.0, 400):
        wanted = {'left_shoulder': q_of(robot, 'left_shoulder') + angle}
        wanted['right_shoulder'] = q_of(robot, 'right_shoulder') - angle
        solution = robot.model.solver.drive(wanted, q)
        q = solution.q
        singularity = space.singularity(q)
        assert np.isfinite([*singularity.type_1, *singularity.type_2]).all()
        found.append(singularity.warning(0.25, names, space.names))
        if solution.status is Status.CONVERGED:
            last_before = found[-1]
    assert last_before != ''
    assert found[0] == ''
    assert 'near a singularity of type II' in found[-1]
    assert solution.status is Status.STALLED


def q_of(robot, name):
    """Return a joint's value in the description."""
    return robot.value(name, robot.model.q_start)


def test_joint_space_that_motors_do_not_determine_is_reported(moving):
    """The robot works; the note gives the reason."""
    robot = moving(
        'ankle',
        actuated_joints=MOTORS,
        transmission__actuators=MOTORS[:1],
        transmission__joints=JOINTS,
    )
    assert robot.motion.joint_space.singularity(robot.tracker.q) is None
    assert 'motor_left do not determine' in robot.motion.joint_space.note
    assert robot.tick()[0].converged
