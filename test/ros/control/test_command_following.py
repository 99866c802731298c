"""Joint-space commands become commands of motors, with the limits and loops of all others."""

from ik_node.ros.messages import JointValues, RefusedInputError
import numpy as np
import pytest

MOTORS = ('motor_left', 'motor_right')
JOINTS = ('ankle_pitch', 'ankle_roll')


@pytest.fixture
def ankle(moving):
    return make(moving)


def make(moving, text='ankle', **values):
    values = {'output__type': 'both', **values}
    robot = moving(text, actuated_joints=MOTORS, transmission__joints=JOINTS, **values)
    for name in MOTORS:
        robot.model.robot.joints[name].max_effort.fill(45.0)
    robot.measure(motor_left=0.0, motor_right=0.0)
    return robot


def follow(robot, ticks):
    for _ in range(ticks):
        _, command = robot.tick()
        robot.watched.check_q(robot.motion.hardware.q)
        robot.measure(**dict(zip(command.names, command.positions.tolist(), strict=True)))
    return command


def commanded(robot):
    return [robot.value(name, robot.motion.hardware.q) for name in JOINTS]


@pytest.mark.parametrize('source', ['solution', 'measured', 'actuated'])
def test_positions_are_reached_by_the_motors(moving, source):
    """Beside measured motors as well, which lead the published configuration."""
    robot = make(moving, state_source=source)
    robot.command(positions={'ankle_pitch': 0.3, 'ankle_roll': -0.1})
    _, command = robot.tick()
    assert command.positions.tolist() == [0.0, 0.0]
    command = follow(robot, 60)
    assert commanded(robot) == pytest.approx([0.3, -0.1], abs=1e-6)
    wanted = robot.model.robot.transmission(MOTORS, JOINTS).to_actuators([0.3, -0.1])
    assert command.positions == pytest.approx(wanted.actuator_position, abs=1e-6)
    assert command.velocities.tolist() == [0.0, 0.0]
    robot.tick()
    assert robot.value('ankle_pitch') == pytest.approx(0.3, abs=1e-6)


def test_velocity_moves_the_joint_until_it_is_stale(ankle):
    """Without goal_timeout that is half a second; the last command is then repeated."""
    ankle.command(positions={'ankle_roll': 0.0}, velocities={'ankle_pitch': 0.4})
    follow(ankle, 40)
    assert commanded(ankle)[0] == pytest.approx(0.4 * 0.39, abs=0.005)
    follow(ankle, 20)
    assert commanded(ankle)[0] == pytest.approx(0.4 * 0.49, abs=0.005)
    assert ankle.motion.hardware.note == 'joint_command is stale'
    command = follow(ankle, 1)
    assert command.velocities.tolist() == [0.0, 0.0]


def test_velocity_is_scaled_to_the_limits_of_the_motors(moving):
    robot = make(moving, transmission__max_effort_scale=0.05, goal_timeout=10.0)
    robot.command(velocities={'ankle_pitch': 30.0, 'ankle_roll': 3.0})
    follow(robot, 5)
    fastest = np.abs(follow(robot, 1).velocities).max()
    assert fastest == pytest.approx(0.05 * 20.0, rel=0.02)
    pitch, roll = commanded(robot)
    assert pitch / roll == pytest.approx(10.0, rel=0.02)


def test_joint_at_its_limit_turns_round_at_once(moving):
    robot = make(moving, goal_timeout=10.0)
    robot.command(velocities={'ankle_roll': 2.0})
    follow(robot, 60)
    limit = commanded(robot)[1]
    assert limit == pytest.approx(0.4, abs=0.05)
    robot.command(velocities={'ankle_roll': -1.0})
    follow(robot, 10)
    assert commanded(robot)[1] == pytest.approx(limit - 0.1, abs=0.02)


def test_efforts_do_the_work_of_those_of_the_joints(moving):
    robot = make(moving, output__interface='effort')
    robot.command(efforts={'ankle_pitch': 10.0, 'ankle_roll': 2.0})
    transmission = robot.model.robot.transmission(MOTORS, JOINTS)
    wanted = transmission.jacobian(robot.model.q_start).T @ [10.0, 2.0]
    assert follow(robot, 5).efforts == pytest.approx(wanted, rel=1e-6)
    robot.configure(transmission__max_effort_scale=0.1)
    bounded = follow(robot, 1).efforts
    assert np.abs(bounded).max() == pytest.approx(4.5)
    assert bounded / bounded[0] == pytest.approx(wanted / wanted[0], rel=1e-6)


def test_command_of_efforts_keeps_to_the_measured_position(moving):
    """The load moves the robot; the position that is commanded beside the effort follows."""
    robot = make(moving, output__interface='effort')
    robot.command(efforts={'ankle_pitch': 1.0})
    follow(robot, 2)
    robot.measure(motor_left=0.02, motor_right=0.02)
    for _ in range(5):
        _, command = robot.tick()
    assert command.positions == pytest.approx([0.02, 0.02], abs=1e-9)


def test_efforts_need_limits_in_the_description(moving):
    """Near a singularity nothing else would bound them."""
    robot = make(moving, output__interface='effort')
    robot.model.robot.joints['motor_left'].max_effort.fill(np.inf)
    robot.command(efforts={'ankle_pitch': 1.0})
    assert follow(robot, 3).efforts is None
    assert 'motor_left has no effort limit' in robot.motion.hardware.note


def test_newer_goal_ends_the_command(moving):
    robot = make(
        moving, goal_names=('foot',), goals__foot__link='foot_link', goals__foot__dof='EX EY'
    )
    robot.command(positions={'ankle_pitch': 0.3})
    follow(robot, 50)
    robot.goal('foot', (0.0, 0.0, 0.0))
    follow(robot, 50)
    assert commanded(robot) == pytest.approx([0.0, 0.0], abs=1e-5)
    robot.command(positions={'ankle_pitch': 0.3})
    follow(robot, 50)
    assert commanded(robot)[0] == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize(
    ('position', 'words'),
    [
        ({'ankle_pitch': 0.9}, r'position of ankle_pitch = 0\.9 refused: its limits are -0\.8'),
        ({'motor_left': 0.1}, "'motor_left' refused: it is not among transmission.joints"),
    ],
)
def test_impossible_command_is_refused(ankle, position, words):
    with pytest.raises(RefusedInputError, match=words):
        ankle.command(positions=position)
    assert ankle.tick()[1] is None


@pytest.mark.parametrize(
    ('joints', 'velocities', 'kind'),
    [
        # Both distal links come into one line, and the robot passes on.
        (('left_elbow', 'right_elbow'), (1.0, -1.0), 'type_2'),
        # The left elbow reaches the end of its range, and the robot stands there.
        (('left_shoulder', 'left_elbow'), (0.0, 1.0), 'type_1'),
    ],
)
def test_singularities_are_named_before_and_bound_all_commands(
    moving, urdf, joints, velocities, kind
):
    """A five-bar passes one and stands in the other: no NaN, no jump, no large effort."""
    text = urdf('fivebar').replace('lower="-1.2" upper="1.2"', 'lower="-3" upper="3"')
    robot = moving(
        text,
        transmission__joints=joints,
        transmission__max_effort_scale=0.5,
        output__type='both',
        output__interface='effort',
        goal_timeout=100.0,
    )
    robot.measure(left_shoulder=0.0, right_shoulder=0.0)
    velocity = dict(zip(joints, velocities, strict=True))
    robot.command(velocities=velocity, efforts=dict.fromkeys(joints, 3.0))
    space, model = robot.motion.joint_space, robot.model
    nearness, warnings = [], []
    before = None
    for _ in range(300):
        command = follow(robot, 1)
        q = robot.motion.hardware.q
        assert np.isfinite([*q, *command.velocities, *command.efforts]).all()
        assert np.abs(command.efforts).max() <= 0.5 * 5.0 * (1.0 + 1e-9)
        if before is not None:
            assert (np.abs(q - before) <= model.max_velocity * 0.01 * (1.0 + 1e-6)).all()
        before = q
        singularity = space.singularity(q)
        nearness.append(singularity.nearness)
        warnings.append(singularity.warning(0.2, model.joint_names, space.names))
    least = int(np.argmin(nearness))
    assert nearness[least] < 0.1
    type_name = {'type_1': 'type I ', 'type_2': 'type II '}[kind]
    assert f'singularity of {type_name}' in warnings[least]
    assert warnings[0] == ''
    assert warnings[least - 1] != ''


@pytest.mark.parametrize('source', ['solution', 'actuated'])
def test_velocity_goes_on_without_a_jump_when_the_motors_are_measured_again(moving, source):
    """What a sender asked for while nobody knew where the robot was is not made up for."""
    robot = make(moving, state_source=source, joint_state_timeout=0.1, goal_timeout=100.0)
    robot.command(velocities={'ankle_pitch': 0.06})
    follow(robot, 50)
    for _ in range(400):
        _, command = robot.tick()
    before = last = commanded(robot)[0]
    assert before == pytest.approx(0.06 * 0.59, abs=0.003)
    robot.measure(**dict(zip(command.names, command.positions.tolist(), strict=True)))
    for _ in range(20):
        follow(robot, 1)
        assert abs(commanded(robot)[0] - last) <= 1.2 * 0.06 * 0.01
        last = commanded(robot)[0]
    assert last > before


# -- velocities, efforts and singularities of the whole robot by its measured motors


def part(robot, names, values):
    return np.array([robot.value(name, values) for name in names])


def test_ticks_report_measured_efforts(moving):
    robot = moving(
        'ankle', actuated_joints=MOTORS, transmission__joints=JOINTS, joint_state_timeout=0.5
    )
    rest, pushed = dict.fromkeys(MOTORS, 0.0), dict.fromkeys(MOTORS, 1.0)
    robot.measured.update(JointValues(rest, {}, pushed), robot.now)
    report, _ = robot.tick()
    assert part(robot, JOINTS, report.effort) == pytest.approx([1.75, 0.0], abs=1e-3)
    assert robot.tick(1.0)[0].effort is None
