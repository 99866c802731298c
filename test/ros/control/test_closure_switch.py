"""Closures are released and made while the robot moves."""

import pytest

BALL = 'leg0_ball'


@pytest.fixture
def hexapod(moving):
    return moving('hexapod', goal_names=('platform',), goals__platform__link='platform_link')


def lead_away(robot):
    robot.motion.closures.release(robot.model, BALL)
    robot.goal('platform', (0.006, 0.004, 0.002))
    report, _ = robot.ticks(3)
    assert report.converged
    assert robot.watched.gap(BALL, report.q) > 1e-3
    return report


def test_closing_does_not_move_measured_motors(moving):
    robot = moving('fivebar', state_source='actuated')
    robot.motion.closures.release(robot.model, 'pin')
    robot.measure(left_shoulder=1.1, right_shoulder=-1.1)
    robot.ticks(2)
    assert 'stays open' in robot.motion.make_closure(robot.tracker, 'pin', robot.settings)
    robot.measure(left_shoulder=0.3, right_shoulder=-0.2)
    robot.ticks(2)
    assert robot.motion.make_closure(robot.tracker, 'pin', robot.settings) == ''
    report, _ = robot.ticks(100)
    assert (robot.value('left_shoulder'), robot.value('right_shoulder')) == (0.3, -0.2)
    robot.watched.check_q(report.q)


def test_second_closure_joins_one_that_is_closing(hexapod):
    hexapod.motion.closures.release(hexapod.model, 'leg1_ball')
    lead_away(hexapod)
    hexapod.motion.make_closure(hexapod.tracker, BALL, hexapod.settings)
    hexapod.tick()
    hexapod.motion.make_closure(hexapod.tracker, 'leg1_ball', hexapod.settings)
    assert hexapod.motion.closures.closing == {BALL, 'leg1_ball'}
    report, _ = hexapod.ticks(300)
    assert hexapod.motion.closures.released == set()
    hexapod.watched.check_q(report.q)


GRASP = """
closures:
  - {name: pin, frame_a: {link: left_fore_link, xyz: [0.24, 0, 0.012]}, type: hinge,
     frame_b: {link: right_fore_link, xyz: [0.24, 0, 0]}, enabled: false}
"""


def test_closure_disabled_by_the_description_is_released(moving):
    """`enabled: false` releases a closure until it is closed, and again after a reset."""
    arms = moving('fivebar', closures=GRASP)
    start = arms.model.q_start
    assert arms.motion.closures.released == {'pin'}
    assert arms.mobility() == 4
    report, _ = arms.tick()
    assert report.q.tolist() == start.tolist()
    arms.configure(joint_targets='{left_shoulder: 0.3}')
    assert arms.watched.gap('pin', arms.ticks(50)[0].q) > 0.01
    arms.configure(joint_targets='')
    assert arms.motion.make_closure(arms.tracker, 'pin', arms.settings) == ''
    arms.ticks(200)
    assert arms.motion.closures.released == set()
    assert arms.mobility() == 2
    arms.watched.check_q(arms.tracker.q)
    arms.motion.reset(arms.tracker)
    assert arms.motion.closures.released == {'pin'}
    report, _ = arms.tick()
    assert report.held == ''
    assert report.q.tolist() == start.tolist()


def test_new_goals_keep_closures_released(hexapod, moving, urdf):
    """A new model of the same robot keeps its released closures; another robot has all closed."""
    lead_away(hexapod)
    same = moving('hexapod', goal_names=('other',), goals__other__link='platform_link').model
    hexapod.motion.take_model(same, hexapod.settings)
    assert not same.robot.closures[BALL].enabled
    assert hexapod.motion.closures.released == {BALL}
    hexapod.motion.take_model(moving('fivebar').model, hexapod.settings)
    assert hexapod.motion.closures.released == set()
