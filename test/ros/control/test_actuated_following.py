"""Measured motors, solved passive joints: the forward kinematics of parallel robots."""

from ik_node.ros.control.following import QUIET
from ik_node.ros.control.tracker import drive_steps
import numpy as np
import pytest
from support.fourbar_urdf import FOURBAR

# Steps that close the loops at the end of a drive, in a tick.
CLOSING = 40


@pytest.fixture
def fivebar(moving):
    return moving('fivebar', state_source='actuated')


def test_robot_stays_in_its_assembly_branch(fivebar):
    """With distant motor values the tool stays on its side of the elbows at every step."""
    shoulders = [(0.5, -0.5), (-0.6, 0.6), (0.3, 0.9), (-0.3, -0.9), (0.0, 0.0)]
    for left, right in shoulders:
        fivebar.measure(left_shoulder=left, right_shoulder=right)
        report, _ = fivebar.tick()
        assert report.held == ''
        assert (fivebar.value('left_shoulder'), fivebar.value('right_shoulder')) == (left, right)
        left_elbow, right_elbow, tool = (
            fivebar.model.robot.forward(report.q, link)[:2, 3]
            for link in ('left_fore_link', 'right_fore_link', 'tool_link')
        )
        between, up = right_elbow - left_elbow, tool - left_elbow
        assert between[0] * up[1] - between[1] * up[0] > 0.01
        fivebar.watched.check_q(report.q)
    assert report.q == pytest.approx(fivebar.model.q_start, abs=1e-9)


@pytest.mark.parametrize(
    ('values', 'words'),
    [
        ({'left_shoulder': 1.3}, 'left_shoulder stopped at 1.2 on the way to 1.3'),
        ({'left_shoulder': -1.2, 'right_shoulder': 1.2}, 'shoulder stopped at '),
        ({'left_shoulder': 1.0, 'right_shoulder': -1.0}, 'at limits: left_elbow, right_elbow'),
    ],
)
def test_impossible_motor_values_hold_the_last_configuration(fivebar, values, words):
    """The last good answer is published at rest, with the joint that stopped and its value."""
    fivebar.measure(left_shoulder=0.2, right_shoulder=0.1)
    good, _ = fivebar.tick()
    fivebar.measure(**values)
    for _ in range(3):
        report, _ = fivebar.tick()
        assert report.q.tolist() == good.q.tolist()
        assert report.velocity.tolist() == [0.0] * 4
        assert not report.converged
        assert 'no configuration with closed loops has the measured values' in report.held
        assert words in report.held
    fivebar.measure(left_shoulder=0.21, right_shoulder=0.1)
    assert fivebar.tick()[0].converged


def test_sensor_slightly_beyond_a_limit_is_set_to_the_limit(fivebar):
    """A rounding error of the sensor is accepted; the joint state keeps the limit."""
    solver = fivebar.model.solver
    near = solver.drive({'left_shoulder': 1.2}, fivebar.model.q_start).q
    fivebar.measure(left_shoulder=1.2000001, right_shoulder=fivebar.value('right_shoulder', near))
    assert fivebar.tick()[0].held == ''
    assert fivebar.value('left_shoulder') == 1.2


def test_unmeasured_motor_keeps_its_value_and_is_named(fivebar):
    """A motor that was never measured stays and is named; later its last value counts."""
    report, _ = fivebar.tick()
    assert report.held == 'not measured yet: left_shoulder, right_shoulder'
    assert report.q.tolist() == fivebar.model.q_start.tolist()
    fivebar.measure(left_shoulder=0.2)
    report, _ = fivebar.tick()
    assert report.notes == ('not measured yet: right_shoulder',)
    assert (fivebar.value('left_shoulder'), fivebar.value('right_shoulder')) == (0.2, 0.0)
    fivebar.measure(right_shoulder=0.1)
    report, _ = fivebar.tick()
    assert report.notes == ()
    assert (fivebar.value('left_shoulder'), fivebar.value('right_shoulder')) == (0.2, 0.1)


@pytest.mark.parametrize('on_stale', ['hold', 'stop', 'ignore'])
def test_stale_motor_is_named_and_on_stale_decides(fivebar, on_stale):
    """When one motor's sensor stops, on_stale decides, and the motor is always named."""
    fivebar.configure(joint_state_timeout=0.1, on_stale=on_stale)
    fivebar.measure(left_shoulder=0.2, right_shoulder=0.1)
    fivebar.tick()
    fivebar.now += 0.2
    fivebar.measure(left_shoulder=0.3)
    report, _ = fivebar.tick()
    assert 'joint_states is stale: right_shoulder' in ' '.join((report.held, *report.notes))
    assert report.silent == (on_stale == 'stop')
    assert fivebar.value('left_shoulder') == (0.3 if on_stale == 'ignore' else 0.2)


SHOULDERS = ('left_shoulder', 'right_shoulder')


def velocities(robot, report):
    """Return the reported velocities of the motors of the five-bar [rad/s]."""
    return [robot.value(shoulder, report.velocity) for shoulder in SHOULDERS]


def test_two_senders_of_different_motors_get_the_true_velocity(fivebar):
    """With two senders, 1 ms apart or with equal stamps, no velocity is 0 or far too large."""
    for apart in (0.001, 0.0):
        for step in range(20):
            stamp = fivebar.now
            left = fivebar.answer(stamp, left_shoulder=0.01 * step)
            right = fivebar.answer(stamp + apart, right_shoulder=-0.01 * step)
            fivebar.now += 0.01
            if step > 1:
                assert velocities(fivebar, left) == pytest.approx([1.0, -1.0], rel=1e-6)
                assert velocities(fivebar, right) == pytest.approx([1.0, -1.0], rel=1e-6)
        fivebar.now += 10.0
        fivebar.motion.take_model(fivebar.model, fivebar.settings)


def test_only_measured_motors_are_answered(fivebar):
    """Joint states of passive or unknown joints, a pause and other modes give no answer."""
    assert fivebar.answer(1.0, left_elbow=0.1, nose=0.2) is None
    fivebar.motion.paused = True
    assert fivebar.answer(1.0, left_shoulder=0.1, right_shoulder=0.0) is None
    fivebar.motion.paused = False
    fivebar.configure(state_source='measured')
    assert fivebar.answer(1.0, left_shoulder=0.1, right_shoulder=0.0) is None
    fivebar.configure(state_source='actuated')
    assert fivebar.answer(1.0, left_shoulder=0.1, right_shoulder=0.0).converged


@pytest.mark.parametrize(('timeout', 'quiet'), [(0.0, QUIET), (0.1, 0.1), (3.0, QUIET)])
def test_ticks_solve_again_when_measurements_stop(fivebar, timeout, quiet):
    """Ticks solve after half a second without measurements, or once they are stale."""
    fivebar.configure(joint_state_timeout=timeout)
    answer = fivebar.answer(fivebar.now, left_shoulder=0.1, right_shoulder=0.0)
    assert fivebar.tick(0.9 * quiet)[0] is answer
    report, _ = fivebar.tick(0.2 * quiet)
    assert report is not answer
    assert report.stale == (timeout == 0.1)
    assert report.q == pytest.approx(answer.q, abs=1e-12)


# A crank that turns for ever, and moves a rocker.
CRANK = FOURBAR.replace('name="drive" type="revolute"', 'name="drive" type="continuous"')


def test_long_drive_continues_over_several_ticks(moving):
    """The crank has turned several times since zero: the robot is held until the drive arrives."""
    crank = moving(CRANK, state_source='actuated', actuated_joints=('drive',), rate=1000.0)
    steps = drive_steps(crank.model, crank.settings)
    assert steps == 100
    crank.measure(drive=100.0)
    reports = []
    while not (reports and reports[-1].converged):
        before = crank.tracker.q
        report, _ = crank.tick(0.001)
        reports.append(report)
        if report.held:
            assert 'the drive to the measured values takes more than one tick' in report.held
            assert report.q is before
        assert report.solution.iterations <= steps + CLOSING
        assert len(reports) < 12
    assert len(reports) > 2
    assert crank.value('drive') == 100.0
    crank.watched.check_q(report.q)
    # The same branch: the rocker has not turned.
    assert abs(crank.value('rock') - crank.value('rock', crank.model.q_start)) < 1.6


HINGES = [
    f'{leg}_{joint}'
    for leg in ('front_left', 'front_right', 'rear_left', 'rear_right')
    for joint in ('hip', 'thigh', 'knee')
]


def test_redundant_motors_give_the_nearest_configuration(moving):
    """Twelve noisy hinges of a standing walker give the six values of its body."""
    walker = moving('walker', state_source='actuated')
    model, rng = walker.model, np.random.default_rng(0)
    assert len(walker.motion.roles.actuated) == 12 > model.mobility
    q = model.q_start
    home = model.robot.forward(q, 'body_link')[:3, 3]
    misfits = []
    for step in range(40):
        place = home + 0.02 * np.array([np.sin(0.2 * step), 1 - np.cos(0.2 * step), 0.0])
        q = model.solver.solve_pose({'body_link': (place, (0, 0, 0, 1))}, q).q
        exact = {hinge: walker.value(hinge, q) for hinge in HINGES}
        noise = dict(zip(HINGES, rng.normal(0.0, 1e-3, 12).tolist(), strict=True))
        walker.measure(**{hinge: exact[hinge] + noise[hinge] for hinge in HINGES})
        report, _ = walker.tick()
        assert report.converged
        (note,) = report.notes
        assert note.startswith('the motors contradict each other: ')
        walker.watched.check_q(report.q)
        misfits.append(model.robot.forward(report.q, 'body_link')[:3, 3] - place)
    # No farther than one hinge's noise would move it.
    assert np.abs(misfits).max() < 2e-3
    # Without noise there is nothing to note.
    walker.measure(**exact)
    assert walker.tick()[0].notes == ()
    # One hinge that is wrong is not covered up.
    walker.measure(front_left_knee=exact['front_left_knee'] + 0.5)
    report, _ = walker.tick()
    assert 'no configuration with closed loops has the measured values' in report.held
