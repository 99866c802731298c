"""The ros2_control plugins in a host of our own: controller, kinematics and transmission."""

from pathlib import Path

from ik_node import load_robot, Solver, SolverOptions
import numpy as np
import pytest
from support.cpp_plugins import compile_host, Host, pose_of

SOURCES = [
    f'ik_node_ros2_control/src/{name}.cpp'
    for name in ('controller', 'kinematics', 'loop_transmission')
]
EIGEN = Path('/usr/include/eigen3')
OPTIONS = SolverOptions(restarts=0)


@pytest.fixture(scope='module')
def program(tmp_path_factory):
    if not EIGEN.exists():
        pytest.skip('no Eigen')
    folder = tmp_path_factory.mktemp('ros2_control')
    return compile_host(folder, 'control_host', *SOURCES, more=('-isystem', str(EIGEN)))


@pytest.fixture
def host(program, tmp_path):
    made = Host(program, tmp_path)
    yield made
    made.end()


@pytest.fixture(scope='module')
def palletizer(repository):
    """Return the palletizer with a goal of its four axes, and its motors in order."""
    robot = load_robot(repository / 'urdf/palletizer.urdf')
    robot.add_goal('tool_link', dof='X Y Z EZ')
    return robot


@pytest.fixture
def file(host, palletizer):
    """Return the exported palletizer with the transmission of all its joints."""
    return host.export(palletizer, ['tool_link'], palletizer.transmission(), options=OPTIONS)


def moved(robot, motors):
    return Solver(robot).drive(dict(zip(robot.actuated, motors, strict=True)), robot.start).q


def update(host, count=1, motors=4):
    errors, allocations, *values = host.ask('update', count)
    numbers = np.array(values, float)
    return int(errors), int(allocations), numbers[:motors], numbers[motors:]


MEASURED = np.array([0.4, -0.2, 0.1, 0.3])


def test_controller_holds_the_measured_positions_until_a_reference_comes(host, file):
    """References are NaN at first, so that nothing jumps at the activation."""
    assert host.ask('configure', file, 0.05, 0.1) == ['1']
    assert host.ask('activate', MEASURED) == ['1']
    for words in ((), ('chain', *[np.nan] * 7)):
        if words:
            host.ask(*words)
        errors, _, commands, _ = update(host, 500)
        assert errors == 0
        np.testing.assert_array_equal(commands, MEASURED)
    assert host.ask('activate', *MEASURED[:3], np.nan) == ['0']
    assert "no position of motor 'wrist'" in host.log


def test_controller_reaches_references_within_its_step_and_without_allocation(
    host, file, palletizer
):
    """A near reference takes one update, a far one is approached; NaN keeps a value."""
    host.ask('configure', file, 0.02, 0.1)
    host.ask('activate', MEASURED)
    for wanted in (MEASURED + 0.01, MEASURED + 0.4 * np.array([1, 1, -1, 1])):
        pose = pose_of(palletizer.forward(moved(palletizer, wanted), 'tool_link'))
        host.ask('chain', *pose)
        last = update(host)[2]
        for _ in range(60):
            errors, allocations, commands, states = update(host)
            assert errors == allocations == 0
            assert np.abs(commands - last).max() <= 0.02 + 1e-12
            last = commands
        np.testing.assert_allclose(commands, wanted, atol=1e-5)
        assert states[0] == 0
        assert np.all(states[1:] < 1e-6)
    host.ask('chain', pose[0], pose[1], pose[2] + 0.01, *[np.nan] * 4)
    commands = update(host, 20)[2]
    raised = palletizer.forward(moved(palletizer, commands), 'tool_link')
    np.testing.assert_allclose(pose_of(raised), pose + 0.01 * np.eye(7)[2], atol=1e-5)


def test_controller_without_a_chain_follows_messages(host, file, palletizer):
    host.ask('configure', file, 1.0, 0.1)
    host.ask('activate', MEASURED)
    wanted = MEASURED + 0.05
    pose = pose_of(palletizer.forward(moved(palletizer, wanted), 'tool_link'))
    host.ask('message', 'tool_link', *pose)
    np.testing.assert_allclose(update(host, 3)[2], wanted, atol=1e-5)


def test_controller_reports_an_error_if_nothing_converges_for_long(host, file):
    """A pose out of reach, or a quaternion of zero: the commands stop, then come errors."""
    host.ask('configure', file, 0.05, 0.05)
    for reference in ([9.0, 0, 0, 0, 0, 0, 1], [0.7, 0, 0.7, 0, 0, 0, 0]):
        host.ask('activate', MEASURED)
        host.ask('chain', *reference)
        errors, _, commands, states = update(host, 400)
        assert errors > 100
        assert np.isfinite(commands).all()
        assert states[0] != 0
        np.testing.assert_array_equal(update(host)[2], commands)
    host.ask('activate', MEASURED)
    assert update(host, 100)[0] == 0


def test_controller_refuses_files_that_do_not_fit(host, palletizer):
    assert host.ask('configure', host.export(palletizer, ['tool_link']), 0.05, 0.1) == ['0']
    assert 'export it with --joints' in host.log
    assert host.ask('configure', '/no/file', 0.05, 0.1) == ['0']
    assert '/no/file: the file cannot be opened' in host.log


def test_kinematics_of_a_robot_with_loops_take_positions_of_motors(host, file, palletizer):
    """Transform, Jacobian and inverse, against differences of the closed robot."""
    assert host.ask('kinematics', file, '-', 'tool_link', 1e-12) == ['1']
    q = moved(palletizer, MEASURED)
    found = np.array(host.ask('transform', 'tool_link', *MEASURED), float).reshape(3, 4)
    np.testing.assert_allclose(found, palletizer.forward(q, 'tool_link')[:3], atol=1e-7)
    jacobian = np.array(host.ask('jacobian', 'tool_link', *MEASURED), float).reshape(6, 4)
    for motor in range(4):
        step = 1e-5 * np.eye(4)[motor]
        ends = [
            palletizer.forward(moved(palletizer, MEASURED + sign * step), 'tool_link')
            for sign in (-1, 1)
        ]
        velocity = (ends[1] - ends[0])[:3, 3] / 2e-5
        np.testing.assert_allclose(jacobian[:3, motor], velocity, atol=1e-4)
    inverse = np.array(host.ask('inverse', 'tool_link', *MEASURED), float).reshape(4, 6)
    np.testing.assert_allclose(inverse, np.linalg.pinv(jacobian), atol=1e-6)
    motion = jacobian @ [0.1, 0.2, -0.1, 0.3]
    rates = np.array(host.ask('rates', 'tool_link', *motion, *MEASURED), float)
    np.testing.assert_allclose(rates, [0.1, 0.2, -0.1, 0.3], atol=1e-6)
    for words in (('transform', 'nothing', *MEASURED), ('jacobian', 'tool_link', *MEASURED[:3])):
        assert host.ask(*words) == ['refused']


def test_kinematics_of_an_arm_are_those_between_base_and_tip(host, repository):
    """Only the joints between both count; the Jacobian is in axes of the base."""
    arm = load_robot(repository / 'urdf/arm6.urdf')
    file = host.export(arm, ['tool_link'])
    assert host.ask('kinematics', file, 'j2_link', 'tool_link', 1e-12) == ['1']
    q = np.array([0.4, -0.3, 0.2, 0.5, 0.6, -0.7])
    base, tip = (arm.forward(q, link) for link in ('j2_link', 'tool_link'))
    found = np.array(host.ask('transform', 'tool_link', *q[2:]), float).reshape(3, 4)
    np.testing.assert_allclose(found, (np.linalg.inv(base) @ tip)[:3], atol=1e-12)
    jacobian = np.array(host.ask('jacobian', 'tool_link', *q[2:]), float).reshape(6, 4)
    turned = np.kron(np.eye(2), base[:3, :3].T) @ arm.jacobian(q, 'tool_link')[:, 2:]
    np.testing.assert_allclose(jacobian, turned, atol=1e-12)
    assert host.ask('kinematics', file, 'nowhere', 'tool_link', 1e-6) == ['0']
    assert host.ask('kinematics', '-', 'j2_link', 'tool_link', 1e-6) == ['0']


def two_links(host, palletizer):
    """Return the file in which two motors at the base move shoulder and elbow."""
    transmission = palletizer.transmission(['shoulder', 'drive'], ['shoulder', 'elbow'])
    return host.export(palletizer, (), transmission)


def test_efforts_of_a_remote_elbow_do_the_work_of_its_motors(host, palletizer):
    """
    The second motor turns the forearm through rods: elbow = drive - shoulder.

    The torque of the second motor acts on both joints. The four-bar transmission of ros2_control
    gave (0, -1) for it, which does other work than the motors.
    """
    file = two_links(host, palletizer)
    assert host.ask('load', file, 'shoulder,elbow', 'shoulder,drive', 1, 0) == ['1']
    joints = np.array(host.ask('forward', 0.1, 0.3, 1, 0, 0, 1), float)
    np.testing.assert_allclose(joints, [0.1, 0.2, 1, -1, 1, 1], atol=1e-6)
    back = np.array(host.ask('backward', *joints), float)
    np.testing.assert_allclose(back, [0.1, 0.3, 1, 0, 0, 1], atol=1e-6)


def test_transmission_counts_reductions_offsets_and_any_order(host, palletizer):
    """A gear makes a motor faster and weaker; positions that are no numbers change nothing."""
    file = two_links(host, palletizer)
    assert host.ask('load', file, 'elbow,shoulder', 'drive,shoulder', 50, 0.5) == ['1']
    given = np.array([0.3 * 50, 0.1 * 50, 0, 50, 1 / 50, 0])
    joints = np.array(host.ask('forward', *given), float)
    np.testing.assert_allclose(joints, [0.7, 0.6, -1, 1, 1, 1], atol=1e-6)
    np.testing.assert_allclose(np.array(host.ask('backward', *joints), float), given, atol=1e-5)
    again = host.ask('forward', np.nan, *given[1:])
    np.testing.assert_array_equal(np.array(again, float), joints)


def test_transmission_refuses_names_that_do_not_fit(host, palletizer):
    file = two_links(host, palletizer)
    for words, said in (
        (('-', 'shoulder,elbow', 'shoulder,drive', 1), 'ikr_file'),
        ((file, 'shoulder', 'shoulder,drive', 1), '<joint name="elbow">'),
        ((file, 'shoulder,elbow', 'shoulder,drive,wrist', 1), 'has 2 names'),
        ((file, 'shoulder,elbow', 'shoulder,drive', 0), 'other than zero'),
    ):
        assert host.ask('load', *words, 0) == ['0']
        assert said in host.log
