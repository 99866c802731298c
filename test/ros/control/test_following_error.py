"""Commands wait for a robot that does not follow, and begin again where it is measured."""

import numpy as np
import pytest

ARMS = ('arm0', 'arm1', 'arm2')
LIMIT = 0.2
TURNING = """<robot name="wheel">
  <link name="base"/><link name="disc"/><link name="tip"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="disc"/>
    <axis xyz="0 0 1"/><limit effort="1" velocity="5"/></joint>
  <joint name="tip_joint" type="fixed"><parent link="disc"/><child link="tip"/>
    <origin xyz="0.3 0 0"/></joint>
</robot>"""


class Robot:
    """A robot beside the node: its joints follow the commands with a lag, or do not."""

    def __init__(self, moving, **values):
        self.robot = moving(
            'delta',
            goal_names=('platform',),
            goals__platform__link='platform_link',
            goals__platform__dof='X Y Z',
            output__type='commands',
            **values,
        )
        start = self.robot.model.q_start
        self.at = np.array([self.robot.value(name, start) for name in ARMS])
        self.lag = 0.02
        self.follows = True
        self.commands = []

    @property
    def hardware(self):
        return self.robot.motion.hardware

    def tick(self, seconds=0.01, measure=True):
        if measure:
            self.robot.measure(**dict(zip(ARMS, self.at.tolist(), strict=True)))
        _, command = self.robot.tick(seconds)
        self.commands.append(None if command is None else command.positions)
        if command is not None:
            if self.hardware.q is not None:
                self.robot.watched.check_q(self.hardware.q)
            if self.follows:
                share = min(1.0, seconds / self.lag)
                self.at = self.at + share * (command.positions - self.at)
        return command

    def error(self):
        """Return the largest following error of the last command [rad]."""
        return float(np.abs(self.commands[-1] - self.at).max())

    def place(self, offset):
        model = self.robot.model
        position = model.reached('platform', model.q_start)[:3, 3] + np.array(offset)
        q = model.solver.solve_pose({'platform': (position, (0, 0, 0, 1))}, model.q_start).q
        return np.array([self.robot.value(name, q) for name in ARMS])


@pytest.fixture
def delta(moving):
    delta = Robot(moving)
    delta.robot.goal('platform', (0.08, 0.05, 0.03))
    return delta


def run(delta, seconds, period=0.01):
    largest = 0.0
    for _ in range(round(seconds / period)):
        if delta.tick(period) is not None:
            largest = max(largest, delta.error())
    return largest


@pytest.mark.parametrize('source', ['solution', 'measured'])
def test_commands_stay_near_a_robot_that_does_not_move(delta, source):
    """They wait at the limit, return to the measured configuration, and diagnostics report it."""
    delta.robot.configure(state_source=source)
    delta.follows = False
    assert run(delta, 0.4) <= LIMIT
    assert 'waiting for joint arm' in delta.hardware.note
    assert 'output.max_following_error' in delta.hardware.note
    assert run(delta, 4.0) <= LIMIT
    assert run(delta, 4.0) <= 0.25 * LIMIT
    assert 'does not follow' in delta.hardware.fault


def test_robot_moved_by_hand_starts_at_its_measured_configuration(delta):
    """With the drives off, commands and solution move to the measured configuration."""
    run(delta, 2.0)
    delta.follows = False
    delta.robot.configure(goals__platform__enabled=True)
    delta.at = delta.place((-0.08, -0.02, 0.02))
    commands = []
    for _ in range(100):
        delta.tick()
        commands.append(np.abs(delta.commands[-1] - delta.at).max())
    assert commands[0] > LIMIT
    first = next(n for n, error in enumerate(commands) if error < 1e-4)
    assert 0.4 < 0.01 * first < 0.6
    assert max(commands[first:]) <= 0.25 * LIMIT


def test_one_wrong_measurement_moves_nothing(delta):
    run(delta, 1.0)
    at, before = delta.at, delta.commands[-1]
    delta.at = at + np.array([1.0, 0.0, 0.0])
    delta.follows = False
    for _ in range(5):
        delta.tick()
        assert delta.commands[-1] == pytest.approx(before, abs=0.05)
    delta.at, delta.follows = at, True
    run(delta, 2.0)
    assert delta.hardware.fault == ''
    assert delta.at == pytest.approx(delta.place((0.08, 0.05, 0.03)), abs=1e-4)


@pytest.mark.parametrize('lag', [0.01, 0.2])
def test_commands_wait_for_a_slow_robot(delta, lag):
    """A robot that follows with a lag never counts as one that does not follow."""
    delta.lag = lag
    for _ in range(400):
        delta.tick()
        assert delta.hardware.fault == ''
        assert delta.error() <= LIMIT
    assert delta.at == pytest.approx(delta.place((0.08, 0.05, 0.03)), abs=1e-3)


def test_after_a_gap_only_new_measurements_count(delta):
    """After 3 s without ticks the node starts where the robot has been moved meanwhile."""
    run(delta, 1.0)
    old = delta.commands[-1]
    delta.at = delta.place((-0.05, 0.0, 0.02))
    delta.follows = False
    # The tick comes before the joint states of the meantime are read.
    assert delta.tick(3.0, measure=False) is None
    assert 'no tick for 3 s: waiting for new joint_states of arm0' in delta.hardware.note
    for _ in range(5):
        delta.robot.measure(**dict(zip(ARMS, old.tolist(), strict=True)))
        assert delta.tick(measure=False) is None
    for _ in range(30):
        delta.tick()
        if delta.commands[-1] is not None:
            break
    assert delta.commands[-1] == pytest.approx(delta.at, abs=1e-6)
    assert run(delta, 0.1) < LIMIT


@pytest.mark.parametrize('wrapped', [True, False])
def test_full_turns_do_not_count_as_following_error(moving, wrapped):
    wheel = moving(TURNING, goal_names=('tip',), goals__tip__link='tip', output__type='commands')
    at = 0.0
    for tick in range(1500):
        shown = (at + np.pi) % (2 * np.pi) - np.pi if wrapped else at
        wheel.measure(turn=shown)
        angle = 0.01 * tick
        wheel.goals.put(
            'tip',
            (
                (0.3 * np.cos(angle), 0.3 * np.sin(angle), 0.0),
                (0.0, 0.0, np.sin(angle / 2), np.cos(angle / 2)),
            ),
            wheel.now,
        )
        _, command = wheel.tick()
        assert wheel.motion.hardware.note == ''
        assert abs(command.positions[0] - at) < LIMIT
        at = float(command.positions[0])
    assert at > 14.0


@pytest.mark.parametrize(
    ('way', 'seconds', 'waits'),
    [(0.006, 1.0, 0.5), (0.1, 2.0, 2.0), (0.19, 0.0, 0.5), (0.19, 1.0, 3.0)],
)
def test_hand_over_at_rest_is_without_a_step(delta, way, seconds, waits):
    """Something else moved the robot, by less than the limit; the drives are switched on again."""
    run(delta, 3.0)
    goal = delta.place((0.08, 0.05, 0.03))
    assert delta.at == pytest.approx(goal, abs=1e-6)
    delta.follows, begin = False, delta.at
    for n in range(round(seconds * 100)):
        delta.at = begin + way * np.array([1.0, -0.5, 0.2]) * (n + 1) / (seconds * 100)
        delta.tick()
    delta.at = begin + way * np.array([1.0, -0.5, 0.2])
    run(delta, waits)
    assert delta.error() <= 0.05 * LIMIT + 1e-6
    delta.follows = True
    steps = []
    for _ in range(400):
        before = delta.at
        delta.tick()
        steps.append(np.abs(delta.at - before).max())
    # The goal is still in force; drives of 0.02 s go half of what is commanded in a tick.
    assert max(steps) <= max(0.5 * 0.05 * LIMIT, 0.01 * delta.robot.model.max_velocity.max())
    assert delta.at == pytest.approx(goal, abs=1e-4)
    assert delta.hardware.fault == ''


@pytest.mark.parametrize(('noise', 'droop'), [(5e-3, 0.0), (1e-3, 0.02)])
def test_noise_and_a_load_are_no_hand_over(delta, noise, droop):
    random = np.random.default_rng(4)
    run(delta, 0.02)
    delta.follows, commands = False, []
    for _ in range(1200):
        delta.at = delta.commands[-1] - droop + noise * random.standard_normal(3)
        delta.tick()
        assert delta.hardware.fault == ''
        commands.append(delta.commands[-1])
    goal = delta.place((0.08, 0.05, 0.03))
    assert np.array(commands[200:]) == pytest.approx(np.tile(goal, (1000, 1)), abs=1e-5)


def test_motor_that_is_left_out_of_the_outputs_is_watched(moving):
    """Commands wait for it where a motion needs it; where none does, it may be anywhere."""
    robot = Robot(moving, output__joints=['arm0', 'arm1'])
    robot.follows = False
    robot.robot.goal('platform', (0.08, 0.05, 0.03))
    largest, said = 0.0, ''
    for _ in range(60):
        command = robot.tick()
        robot.at[:2] = command.positions
        largest = max(largest, abs(robot.at[2] - robot.robot.value('arm2', robot.hardware.q)))
        said = robot.hardware.note if 'arm2' in robot.hardware.note else said
    assert 'waiting for joint arm2' in said
    assert largest <= LIMIT
    for _ in range(100):
        robot.at[:2] = robot.tick().positions
    assert 'joint arm2 does not follow' in robot.hardware.fault
    assert 'not in output.joints' in robot.hardware.fault


def test_motor_outside_of_the_motion_may_be_anywhere(moving):
    robot = moving(
        """<robot name="arm"><link name="base"/><link name="tip"/><link name="finger"/>
          <joint name="slide" type="prismatic"><parent link="base"/><child link="tip"/>
            <axis xyz="1 0 0"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
          <joint name="grip" type="revolute"><parent link="tip"/><child link="finger"/>
            <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
        </robot>""",
        goal_names=('tip',),
        goals__tip__link='tip',
        goals__tip__dof='X',
        output__type='commands',
        output__joints=['slide'],
    )
    robot.goal('tip', (0.5, 0.0, 0.0))
    at = 0.0
    for n in range(100):
        robot.measure(slide=at, grip=0.02 * n)
        _, command = robot.tick()
        at = float(command.positions[0])
    assert at == pytest.approx(0.5, abs=1e-6)
    assert robot.motion.hardware.note == ''
