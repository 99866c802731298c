"""Goals by velocity: they move on while the twist is fresh, and never run ahead of the robot."""

from ik_node.ros.inputs.inputs import Twist
import numpy as np
import pytest

LEGS = [f'leg{number}' for number in range(6)]


@pytest.fixture
def hexapod(moving):
    return moving('hexapod', goal_names=('platform',), goals__platform__link='platform_link')


def send(robot, linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)):
    robot.goals.put_twist('platform', Twist(np.array(linear), np.array(angular)), robot.now)


def place(robot, q=None):
    return robot.model.reached('platform', robot.tracker.q if q is None else q)


def test_goal_moves_with_its_twist_and_halts_when_it_is_stale(hexapod):
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


ARM = np.array([0.2, 0.3, 0.5, 0.1, 0.6, 0.0])


@pytest.fixture
def arm(moving):
    robot = moving('arm6', goal_names=('hand',), goals__hand__link='tool_link', goal_timeout=100.0)
    robot.tracker.jump(ARM)
    robot.tick()
    return robot


def hand(robot, q=None):
    return robot.model.reached('hand', robot.tracker.q if q is None else q)


def turned(before, after):
    """Return the angle between two poses [rad]."""
    return np.arccos(np.clip((np.trace(before[:3, :3].T @ after[:3, :3]) - 1.0) / 2.0, -1.0, 1.0))


@pytest.mark.parametrize('direction', [(1, 0, 0), (0, 0, -1), (-0.3, 1, -1)])
def test_hand_keeps_to_its_line_and_halts_where_the_arm_cannot_follow(arm, direction):
    """At a joint limit or at the edge of reach; the report says so; the way back is free."""
    begin, way = hand(arm), np.array(direction) / np.linalg.norm(direction)
    arm.goals.put_twist('hand', Twist(0.2 * way, np.zeros(3)), arm.now)
    for _ in range(1200):
        report, _ = arm.tick()
        moved = hand(arm)[:3, 3] - begin[:3, 3]
        assert np.linalg.norm(moved - (moved @ way) * way) < 2e-6
        assert turned(begin, hand(arm)) < 2e-6
    assert 'goal hand cannot follow its twist: at' in report.notes[0]
    assert arm.motion.twist_note in report.notes
    end = hand(arm)
    assert (end - begin)[:3, 3] @ way > 0.05
    assert np.abs(report.velocity).max() < 1e-3
    arm.goals.put_twist('hand', Twist(-0.2 * way, np.zeros(3)), arm.now)
    arm.ticks(25)
    assert (hand(arm) - end)[:3, 3] @ way == pytest.approx(-0.2 * 0.25, abs=0.013)


@pytest.mark.parametrize('outputs', ['commands', 'joint_trajectory'])
def test_all_joints_are_slower_alike_at_velocity_limits(arm, outputs):
    """The commanded hand stays on its line, also with a late tick; the note says why."""
    arm.configure(output__type=outputs)
    names = arm.model.joint_names
    arm.measure(**dict(zip(names, ARM.tolist(), strict=True)))
    way = np.array([0.0, 0.6, 0.8])
    arm.goals.put_twist('hand', Twist(4.0 * way, np.zeros(3)), arm.now)
    begin = None
    for n in range(12):
        report, command = arm.tick(0.05 if n % 5 == 4 else 0.01)
        arm.measure(**dict(zip(command.names, command.positions.tolist(), strict=True)))
        q = arm.motion.hardware.q
        begin = hand(arm, q) if begin is None else begin
        moved = hand(arm, q)[:3, 3] - begin[:3, 3]
        assert np.linalg.norm(moved - (moved @ way) * way) < 2e-6
        assert turned(begin, hand(arm, q)) < 2e-6
        assert (np.abs(command.velocities) <= arm.model.max_velocity * (1.0 + 1e-6)).all()
    assert 'velocity limits' in report.notes[0]
    assert 'velocity limits' in arm.motion.hardware.note
    assert moved @ way > 0.02


def test_goals_of_other_chains_move_on(moving):
    two = """<robot name="two"><link name="base"/>""" + ''.join(
        f"""<link name="{side}"/><joint name="{side}_x" type="prismatic"><parent link="base"/>
          <child link="{side}"/><axis xyz="1 0 0"/>
          <limit lower="-1" upper="{upper}" effort="1" velocity="9"/></joint>"""
        for side, upper in (('left', 0.1), ('right', 1.0))
    )
    robot = moving(
        two + '</robot>',
        goal_names=('left', 'right'),
        goals__left__link='left',
        goals__right__link='right',
        goals__left__dof='X',
        goals__right__dof='X',
        goal_timeout=100.0,
    )
    for name in ('left', 'right'):
        robot.goals.put_twist(name, Twist(np.array([0.2, 0, 0]), np.zeros(3)), robot.now)
    report, _ = robot.ticks(200)
    assert robot.value('left_x') == pytest.approx(0.1, abs=1e-3)
    assert robot.value('right_x') == pytest.approx(0.2 * 2.0, abs=3e-3)
    assert len(report.notes) == 1
    assert 'goal left cannot follow its twist: at limits: left_x' in report.notes[0]
