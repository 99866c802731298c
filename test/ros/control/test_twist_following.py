"""Goals by velocity: they move on while the twist is fresh, and never run ahead of the robot."""

from ik_node.kernels.layout import LARGEST
from ik_node.ros.inputs.goal_inputs import Twist
import numpy as np
import pytest

LEGS = [f'leg{number}' for number in range(6)]


@pytest.fixture
def hexapod(moving):
    """Provide the hexapod, its platform a goal."""
    return moving('hexapod', goal_names=('platform',), goals__platform__link='platform_link')


def send(robot, linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)):
    """Send a twist of the platform now."""
    robot.goals.put_twist('platform', Twist(np.array(linear), np.array(angular)), robot.now)


def place(robot, q=None):
    """Return where the platform is."""
    return robot.model.reached('platform', robot.tracker.q if q is None else q)


def test_goal_moves_with_its_twist_and_halts_when_it_is_stale(hexapod):
    """Without goal_timeout a twist is stale after half a second."""
    begin = place(hexapod)
    send(hexapod, (0.01, 0.0, -0.004), (0.0, 0.0, 0.1))
    hexapod.ticks(41)
    way = place(hexapod)[:3, 3] - begin[:3, 3]
    assert way == pytest.approx(np.array([0.01, 0.0, -0.004]) * 0.4, abs=2e-4)
    assert place(hexapod)[1, 0] - begin[1, 0] == pytest.approx(0.1 * 0.4, abs=2e-3)
    hexapod.ticks(30)
    halted = place(hexapod)
    assert (halted - begin)[0, 3] == pytest.approx(0.01 * 0.5, abs=3e-4)
    report, _ = hexapod.ticks(10)
    assert place(hexapod) == pytest.approx(halted, abs=1e-9)
    assert report.velocity == pytest.approx(0.0, abs=1e-9)


def test_pose_ends_the_twist(hexapod):
    """The goal does not move on from the pose."""
    send(hexapod, (0.01, 0.0, 0.0))
    hexapod.ticks(10)
    wanted = hexapod.goal('platform', (0.0, 0.002, 0.0))
    hexapod.ticks(20)
    assert place(hexapod)[:3, 3] == pytest.approx(wanted, abs=1e-5)


def test_goal_does_not_run_ahead_of_the_robot(hexapod):
    """Where limits end the motion, the opposite twist moves the platform at once."""
    hexapod.configure(goal_timeout=100.0)
    send(hexapod, (0.0, 0.0, 0.2))
    hexapod.ticks(200)
    end = place(hexapod)[2, 3]
    send(hexapod, (0.0, 0.0, -0.02))
    hexapod.ticks(30)
    assert end - place(hexapod)[2, 3] == pytest.approx(0.02 * 0.3, abs=0.0035)


def test_twist_never_moves_goal_beyond_the_limit_of_the_solver(hexapod):
    """The platform cannot follow the fastest twist, and the node says so."""
    begin = place(hexapod)
    hexapod.configure(rate=0.5, goal_timeout=100.0)
    send(hexapod, (LARGEST, 0.0, -LARGEST), (LARGEST, 0.0, 0.0))
    for _ in range(9):
        report, _ = hexapod.tick(2.0)
        assert 'goal platform cannot follow its twist' in report.notes[0]
        assert place(hexapod) == pytest.approx(begin, abs=1e-9)
    wanted = hexapod.goal('platform', (0.0, 0.002, 0.0))
    hexapod.ticks(3)
    assert place(hexapod)[:3, 3] == pytest.approx(wanted, abs=1e-5)


def test_commands_of_a_twist_begin_at_the_measured_configuration(moving):
    """The pose of the description is not approached."""
    robot = moving(
        'hexapod',
        goal_names=('platform',),
        goals__platform__link='platform_link',
        output__type='both',
    )
    measured = robot.model.solver.drive(dict.fromkeys(LEGS, 0.004), robot.model.q_start).q
    robot.measure(**{leg: robot.value(leg, measured) for leg in LEGS})
    send(robot, (0.004, 0.0, 0.0))
    robot.ticks(31)
    way = place(robot, robot.motion.hardware.q)[:3, 3] - place(robot, measured)[:3, 3]
    assert way == pytest.approx([0.004 * 0.3, 0.0, 0.0], abs=2e-4)


def test_note_names_the_twist_that_is_too_old(moving):
    """Its sender's clock is behind, or the message was long on its way; nothing is commanded."""
    robot = moving(
        'hexapod',
        goal_names=('platform',),
        goals__platform__link='platform_link',
        output__type='commands',
    )
    robot.measure(**dict.fromkeys(LEGS, 0.0))
    assert robot.tick()[1] is None
    assert robot.motion.hardware.note == 'no goal yet'
    for age in (3.0, 2.5):
        robot.goals.put_twist(
            'platform', Twist(np.array([0.01, 0, 0]), np.zeros(3)), robot.now - age
        )
        assert robot.tick()[1] is None
        words = (
            f'no goal yet: the last twist of platform is {age + 0.01:.3g} s old, more than 0.5 s'
        )
        assert robot.motion.hardware.note == words
    send(robot, (0.01, 0.0, 0.0))
    assert robot.tick()[1] is not None
