"""Velocities, efforts and singularities of the whole robot by its measured motors."""

import numpy as np
import pytest

MOTORS = ('motor_left', 'motor_right')
JOINTS = ('ankle_pitch', 'ankle_roll')


@pytest.fixture
def ankle(moving):
    return moving(
        'ankle', state_source='actuated', actuated_joints=MOTORS, transmission__joints=JOINTS
    )


def measure(robot, stamp, position, velocity=None, effort=None):
    parts = [dict(zip(MOTORS, part or (), strict=False)) for part in (velocity, effort)]
    robot.measured.update(MOTORS, position, stamp, *parts)
    return robot.motion.answer(robot.tracker, MOTORS, robot.settings, stamp, robot.now)


def part(robot, names, values):
    return np.array([robot.value(name, values) for name in names])


def test_velocity_is_a_difference_if_one_motor_has_none(ankle):
    measure(ankle, 100.0, [0.2, 0.1], [9.0, 9.0])
    report = measure(ankle, 100.5, [0.25, 0.1], [9.0])
    assert part(ankle, MOTORS, report.velocity) == pytest.approx([0.1, 0.0], abs=1e-9)


def test_ticks_report_measured_efforts(moving):
    robot = moving(
        'ankle', actuated_joints=MOTORS, transmission__joints=JOINTS, joint_state_timeout=0.5
    )
    robot.measured.update(MOTORS, [0.0, 0.0], robot.now, {}, dict.fromkeys(MOTORS, 1.0))
    report, _ = robot.tick()
    assert part(robot, JOINTS, report.effort) == pytest.approx([1.75, 0.0], abs=1e-3)
    assert robot.tick(1.0)[0].effort is None


def test_joint_space_that_motors_do_not_determine_is_reported(moving):
    robot = moving(
        'ankle',
        actuated_joints=MOTORS,
        transmission__actuators=MOTORS[:1],
        transmission__joints=JOINTS,
    )
    assert robot.motion.joint_space.singularity(robot.tracker.q) is None
    assert 'motor_left do not determine' in robot.motion.joint_space.note
    assert robot.tick()[0].converged
