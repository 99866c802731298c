"""Commands of ticks that are late at random: drives move as far as was asked, and no faster."""

from ik_node.ros.outputs import trajectory
import numpy as np
import pytest
from support.trajectory_controller import PERIOD as UPDATE
from support.trajectory_controller import TrajectoryController

PERIOD = 0.01
SPACES = {
    'ankle': (['motor_left', 'motor_right'], {'ankle_pitch': 0.05, 'ankle_roll': -0.025}),
    'delta': (
        ['arm0', 'arm1', 'arm2'],
        {'platform_x': 0.008, 'platform_y': -0.005, 'platform_z': 0.004},
    ),
}
SECONDS = 6.0


def late_by_up_to_five_periods(random):
    while True:
        yield PERIOD * (1.0 + 5.0 * random.random())


def late_and_soon(random):
    """Yield the intervals of a timer: after a late tick the next ones are where they belong."""
    last, due = 0.0, PERIOD
    while True:
        now = due + (5.0 * PERIOD * random.random() if random.random() < 0.3 else 0.0)
        yield now - last
        last, due = now, PERIOD * (np.floor(now / PERIOD) + 1.0)


class Drives:
    """Drives that follow the last velocity until the next one, beside a robot in motion."""

    def __init__(self, robot, motors, intervals):
        self.robot, self.motors, self.intervals = robot, motors, intervals
        q = robot.model.q_start
        self.at = np.array([robot.value(motor, q) for motor in motors])
        self.velocity = np.zeros(len(motors))
        self.seconds, self.commands = 0.0, []

    @property
    def moving(self):
        """Return time, velocities and place of each command from the first that moves."""
        first = next(n for n, (_, velocity, _) in enumerate(self.commands) if velocity.any())
        return self.commands[first:]

    def run(self, send):
        for n, interval in enumerate(self.intervals):
            self.at = self.at + interval * self.velocity
            self.seconds += interval
            if n % 3 == 0:
                send()
            self.robot.measure(**dict(zip(self.motors, self.at.tolist(), strict=True)))
            report, command = self.robot.tick(interval)
            assert not report.notes
            self.velocity = command.velocities
            self.commands.append((self.seconds, command.velocities, self.at))
            if self.seconds > SECONDS:
                return


class Controller(Drives):
    """A joint_trajectory_controller of positions, whose motors follow at once."""

    def run(self, send, from_desired=True):
        """Send again and again; tick, and update the controller every millisecond."""
        controller = TrajectoryController(self.at, from_desired)
        for n, interval in enumerate(self.intervals):
            if n % 3 == 0:
                send()
            # A tick in the middle of an update would count as one at its end.
            interval = UPDATE * round(interval / UPDATE)
            while controller.desired.time < self.seconds + interval - 0.5 * UPDATE:
                before = controller.desired
                after = controller.update(before.time, before)
                velocity = (after.position - before.position) / UPDATE
                self.commands.append((after.time, velocity, after.position))
            self.seconds += interval
            positions = controller.desired.position.tolist()
            self.robot.measure(**dict(zip(self.motors, positions, strict=True)))
            report, command = self.robot.tick(interval)
            assert not report.notes
            assert not self.robot.motion.hardware.note
            controller.take(trajectory(command))
            if self.seconds > SECONDS:
                self.at = controller.desired.position
                return


@pytest.fixture(params=[late_by_up_to_five_periods, late_and_soon])
def intervals(request):
    return request.param(np.random.default_rng(7))


@pytest.mark.parametrize(('horizon', 'from_desired'), [(0.0, True), (0.1, False)])
def test_trajectories_of_late_ticks_are_late_and_not_fast(
    moving, intervals, horizon, from_desired
):
    """The controller moves at the true speed all the time, once it has left its rest."""
    motors, asked = SPACES['ankle']
    robot = moving(
        'ankle',
        actuated_joints=motors,
        transmission__joints=list(asked),
        output__type='joint_trajectory',
        output__horizon=horizon,
    )
    drives = Controller(robot, motors, intervals)
    drives.run(lambda: robot.command(velocities=asked), from_desired)
    transmission = robot.watched.robot.transmission(motors, list(asked))
    wanted, q = np.array(list(asked.values())), robot.model.q_start
    (first, _, at), *commands = drives.moving[100:]
    begin = transmission.to_joints(at.tolist(), q0=q).joint_position
    for _, velocity, at in commands[::7]:
        q = transmission.to_joints(at.tolist(), q0=q).q
        true = np.linalg.pinv(transmission.jacobian(q)) @ wanted
        assert np.abs(velocity).max() < 1.05 * np.abs(true).max()
    end = transmission.to_joints(drives.at.tolist(), q0=q).joint_position
    assert (end - begin) / (commands[-1][0] - first) == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize('name', SPACES)
def test_joints_move_as_far_as_asked_and_no_command_is_too_fast(moving, name, intervals):
    """The time counts from the first velocity, two ticks after the first command."""
    motors, asked = SPACES[name]
    robot = moving(
        name,
        actuated_joints=motors,
        transmission__joints=list(asked),
        output__type='commands',
        output__interface='velocity',
    )
    drives = Drives(robot, motors, intervals)
    drives.run(lambda: robot.command(velocities=asked))
    transmission = robot.watched.robot.transmission(motors, list(asked))
    wanted, q = np.array(list(asked.values())), robot.model.q_start
    (first, _, at), *commands = drives.moving
    begin = transmission.to_joints(at.tolist(), q0=q).joint_position
    for n, (_, velocity, at) in enumerate(commands):
        if n % 10 == 0:
            q = transmission.to_joints(at.tolist(), q0=q).q
            true = np.linalg.pinv(transmission.jacobian(q)) @ wanted
        assert velocity == pytest.approx(true, abs=0.05 * np.abs(true).max())
    end = transmission.to_joints(drives.at.tolist(), q0=q).joint_position
    assert (end - begin) / (drives.seconds - first) == pytest.approx(wanted, rel=0.01)
