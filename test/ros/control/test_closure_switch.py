"""Closures are released and made while the robot moves."""

import numpy as np
import pytest

BALL = 'leg0_ball'


@pytest.fixture
def hexapod(moving):
    """Provide the hexapod with a goal for its platform."""
    return moving('hexapod', goal_names=('platform',), goals__platform__link='platform_link')


def lead_away(robot):
    """Release leg 0 and lead the platform away from it."""
    robot.motion.closures.release(robot.model, BALL)
    robot.goal('platform', (0.006, 0.004, 0.002))
    report, _ = robot.ticks(3)
    assert report.converged
    assert robot.watched.gap(BALL, report.q) > 1e-3
    return report


def others_hold(robot, q):
    """Assert that the other five loops are closed and limits are kept."""
    solver = robot.model.solver
    assert np.abs(solver.drive({}, q).q - q).max() < 1e-5
    assert (q >= robot.model.lower).all()
    assert (q <= robot.model.upper).all()


def test_released_closure_is_not_enforced(hexapod):
    """The leg stays behind from the next solve on; the other loops stay closed."""
    report = lead_away(hexapod)
    assert BALL not in report.solution.closure_errors
    assert len(report.solution.closure_errors) == 5
    assert hexapod.motion.closures.released == {BALL}
    others_hold(hexapod, report.q)


def test_released_closure_closes_at_the_velocity_limits(hexapod):
    """No joint jumps, the other loops stay closed, and the closure is enforced again."""
    before = lead_away(hexapod).q
    assert hexapod.motion.make_closure(hexapod.tracker, BALL, hexapod.settings) == ''
    window = hexapod.model.max_velocity * 0.01
    steps = 0
    while hexapod.motion.closures.closing:
        report, _ = hexapod.tick()
        if hexapod.motion.closures.closing:
            assert report.held == f'closing {BALL}'
            assert not report.converged
            assert (np.abs(report.q - before) <= window * (1 + 1e-6)).all()
            assert np.any(report.velocity != 0.0)
            others_hold(hexapod, report.q)
        before = report.q
        steps += 1
        assert steps < 500
    assert steps > 2
    assert hexapod.motion.closures.released == set()
    report, _ = hexapod.ticks(5)
    hexapod.watched.check_q(report.q)
    assert report.converged


def test_closing_keeps_max_joint_velocity(hexapod):
    """max_joint_velocity slows the closing."""
    lead_away(hexapod)
    hexapod.configure(max_joint_velocity=0.25)
    hexapod.motion.make_closure(hexapod.tracker, BALL, hexapod.settings)
    before = hexapod.tracker.q
    report, _ = hexapod.tick()
    steps = np.abs(report.q - before) / (hexapod.model.max_velocity * 0.01)
    assert 0.2 < steps.max() <= 0.25 * (1 + 1e-6)


def test_coincident_frames_close_at_once(hexapod):
    """Nothing moves."""
    hexapod.motion.closures.release(hexapod.model, BALL)
    before, _ = hexapod.tick()
    assert hexapod.motion.make_closure(hexapod.tracker, BALL, hexapod.settings) == ''
    report, _ = hexapod.ticks(2)
    assert hexapod.motion.closures.released == set()
    assert report.q == pytest.approx(before.q, abs=1e-9)
    assert len(report.solution.closure_errors) == 6


def test_closure_that_cannot_be_closed_stays_released(moving):
    """With locked arms the pin cannot close: the reason contains the remaining distance."""
    robot = moving('fivebar')
    robot.motion.closures.release(robot.model, 'pin')
    robot.targets.update(['left_shoulder'], [1.0])
    robot.targets.apply(robot.model.robot)
    robot.ticks(2)
    robot.configure(locked_joints=('left_shoulder', 'left_elbow', 'right_shoulder'))
    before = robot.tracker.q
    reason = robot.motion.make_closure(robot.tracker, 'pin', robot.settings)
    assert 'closure pin stays open by 0.' in reason
    report, _ = robot.ticks(3)
    assert robot.motion.closures.released == {'pin'}
    assert robot.motion.closures.closing == set()
    assert report.q.tolist() == before.tolist()
    assert report.solution.closure_errors == {}


def test_closing_does_not_move_measured_motors(moving):
    """With state_source actuated only passive joints may close the loop."""
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
    """Both closures are closed at the end."""
    hexapod.motion.closures.release(hexapod.model, 'leg1_ball')
    lead_away(hexapod)
    hexapod.motion.make_closure(hexapod.tracker, BALL, hexapod.settings)
    hexapod.tick()
    hexapod.motion.make_closure(hexapod.tracker, 'leg1_ball', hexapod.settings)
    assert hexapod.motion.closures.closing == {BALL, 'leg1_ball'}
    report, _ = hexapod.ticks(300)
    assert hexapod.motion.closures.released == set()
    hexapod.watched.check_q(report.q)


def test_release_stops_a_closing_in_progress(hexapod):
    """The last request counts."""
    lead_away(hexapod)
    hexapod.motion.make_closure(hexapod.tracker, BALL, hexapod.settings)
    hexapod.tick()
    hexapod.motion.closures.release(hexapod.model, BALL)
    report, _ = hexapod.ticks(50)
    assert hexapod.motion.closures.released == {BALL}
    assert report.converged


def test_reset_keeps_closures_released(hexapod):
    """A closing in progress ends, and released closures stay released."""
    lead_away(hexapod)
    hexapod.motion.make_closure(hexapod.tracker, BALL, hexapod.settings)
    hexapod.motion.reset(hexapod.tracker)
    report, _ = hexapod.ticks(3)
    assert hexapod.motion.closures.released == {BALL}
    assert report.q == pytest.approx(hexapod.model.q_start, abs=1e-9)


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


def test_mobility_counts_enforced_closures_and_locks(hexapod):
    """The count uses the present closures and locks."""
    assert hexapod.mobility() == 6
    hexapod.motion.closures.release(hexapod.model, BALL)
    assert hexapod.mobility() == 9
    hexapod.configure(locked_joints=('leg0',))
    assert hexapod.mobility() == 8
    hexapod.configure(locked_joints=())
    assert hexapod.mobility() == 9


def test_closing_an_enforced_closure_has_no_effect(hexapod):
    """It is not an error and moves nothing."""
    assert hexapod.motion.make_closure(hexapod.tracker, BALL, hexapod.settings) == ''
    assert hexapod.motion.closures.closing == set()


def test_new_goals_keep_closures_released(hexapod, moving, urdf):
    """A new model of the same robot keeps its released closures; another robot has all closed."""
    lead_away(hexapod)
    same = moving('hexapod', goal_names=('other',), goals__other__link='platform_link').model
    hexapod.motion.take_model(same, hexapod.settings)
    assert not same.robot.closures[BALL].enabled
    assert hexapod.motion.closures.released == {BALL}
    hexapod.motion.take_model(moving('fivebar').model, hexapod.settings)
    assert hexapod.motion.closures.released == set()
