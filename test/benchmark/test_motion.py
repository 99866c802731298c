"""The cost and the loops that `bench motion` checks with SLSQP are those of the robot."""

from human_motion import clips
from motion import Cost, frame_of, Kinematics, Retargeting
import numpy as np
import pytest
from support.naive import naive_of

STEP = 1e-6
LENGTH = 0.7  # any [m]


@pytest.fixture(scope='module')
def task():
    return Retargeting()


@pytest.fixture(scope='module')
def frame(task):
    return frame_of(task.poses(next(clips(1, 30))), 20)


def near(robot, seed):
    return robot.q + 0.01 * np.random.default_rng(seed).uniform(-1.0, 1.0, len(robot.q))


def slope(function, q):
    steps = STEP * np.eye(len(q))
    return np.stack([(function(q + s) - function(q - s)) / (2.0 * STEP) for s in steps], axis=-1)


@pytest.mark.parametrize('seed', range(2))
def test_gradient_of_cost_agrees_with_differences(task, frame, seed):
    cost, q = Cost(task, LENGTH, 0.3), near(task.robot, seed)
    q[task.robot.joint_names.index('pelvis_yaw')] = 0.8 * seed
    found = slope(lambda each: cost.value(each, frame, task.robot.q)[0], q)
    np.testing.assert_allclose(cost.value(q, frame, task.robot.q)[1], found, atol=1e-7)


def test_gaps_of_loops_and_their_derivative_agree_with_naive_kinematics(task):
    kinematics, q = Kinematics(task.robot), near(task.robot, 0)
    there = naive_of(task.robot, q)
    wanted = [there.error(loop)[0] for loop in task.robot.closures.values()]
    assert min(wanted) > 1e-4
    found = np.linalg.norm(kinematics.gaps(q).reshape(-1, 3), axis=1)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_allclose(kinematics.gap_jacobian(q), slope(kinematics.gaps, q), atol=1e-8)


def test_goals_of_a_clip_have_the_scale_of_the_mapping(task):
    """Clips are in metres with z up; the mapping file is for centimetres with y up."""
    clip = next(clips(1, 30))
    poses = task.poses(clip)
    np.testing.assert_allclose(
        poses['pelvis_link'][0], 0.83 * clip.positions['pelvis'], atol=1e-12
    )
    assert {*poses} == {*task.robot.goals}
