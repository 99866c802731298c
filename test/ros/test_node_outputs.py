"""Commands for controllers, over the middleware, with a robot that does as it is told."""

from itertools import pairwise

import numpy as np
import pytest
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

PLATFORM = 'platform_link'
LEGS = [f'leg{number}' for number in range(6)]
PERIOD = 0.02


@pytest.fixture(scope='module')
def hexapod(lasting_graph, urdf):
    graph = lasting_graph
    graph.hexapod = graph.knows(urdf('hexapod'))
    graph.trajectories, graph.numbers = [], []
    graph.client.create_subscription(
        JointTrajectory, 'ik_node/joint_trajectory', graph.trajectories.append, 5000
    )
    graph.client.create_subscription(
        Float64MultiArray, 'ik_node/commands', graph.numbers.append, 5000
    )
    graph.start_node(
        *('-p', f'rate:={1 / PERIOD}', '-p', 'output.type:=both'),
        *('-p', 'goal_names:=[platform]', '-p', f'goals.platform.link:={PLATFORM}'),
    )
    graph.describe(urdf('hexapod'))
    graph.wait(lambda: graph.joint_states, 'the first joint state')
    graph.home = graph.hexapod.robot.forward(graph.hexapod.robot.q, PLATFORM)[:3, 3]
    return graph


@pytest.fixture(autouse=True)
def silent(hexapod):
    hexapod.call(Trigger, 'ik_node/reset', Trigger.Request())
    assert hexapod.set_parameters(output__type='both', output__joints=['']) == ''
    hexapod.wait(lambda: note(hexapod) == 'silent: no goal yet', 'silence')
    for topic in ('/ik_node/joint_trajectory', '/ik_node/commands'):
        hexapod.wait(lambda topic=topic: hexapod.client.count_publishers(topic), topic)
    hexapod.catch_up()
    hexapod.trajectories.clear()
    hexapod.numbers.clear()


def note(graph):
    return graph.row('output')[0]


def legs(graph, offset):
    from ik_node.solver import Solver, SolverOptions

    robot = graph.hexapod.robot
    solution = Solver(robot, SolverOptions(restarts=0)).solve_pose(
        {PLATFORM: (graph.home + offset, (0, 0, 0, 1))}
    )
    values = dict(zip(robot.joint_names, solution.q.tolist(), strict=True))
    return {leg: values[leg] for leg in LEGS}


def positions(graph):
    """Return the positions of all trajectories so far, (n, 6)."""
    return np.array([message.points[0].positions for message in graph.trajectories])


def check(graph):
    """Assert that every command so far is one point, its steps within velocity limits."""
    limits = dict(zip(graph.hexapod.names, graph.hexapod.robot.max_velocity, strict=True))
    window = PERIOD * np.array([limits[leg] for leg in LEGS])
    for message in graph.trajectories:
        assert message.joint_names == LEGS
        assert (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 0)
        (point,) = message.points
        # It is later if ticks were.
        assert point.time_from_start.nanosec >= round(1e9 * PERIOD)
        assert np.isfinite(point.positions).all()
        assert (np.abs(point.velocities) <= window / PERIOD * (1 + 1e-6)).all()
    for before, after in pairwise(message.points[0] for message in graph.trajectories):
        step, late = np.subtract(after.positions, before.positions), after.time_from_start.nanosec
        # One or two may get lost.
        assert (np.abs(step) <= 3.0 * window * late / round(1e9 * PERIOD)).all()


def start(graph, begin, end):
    """Measure the legs of one place, send the platform to another, wait for its legs there."""
    measured, wanted = legs(graph, begin), legs(graph, end)
    graph.measure(**measured)
    graph.send_goal('platform', graph.home + end)
    graph.wait(lambda: len(graph.trajectories) and at(graph, wanted), 'the legs')
    return measured, wanted


def at(graph, wanted):
    return np.allclose(positions(graph)[-1], list(wanted.values()), atol=1e-6)


def test_commands_lead_from_the_measurement_to_the_goal(hexapod):
    """The first point is the measurement, all keep the limits, and the last meets the goal."""
    measured, wanted = start(
        hexapod, np.array([-0.004, 0.003, 0.001]), np.array([0.005, 0.002, 0.003])
    )
    assert positions(hexapod)[0].tolist() == list(measured.values())
    assert list(hexapod.trajectories[0].points[0].velocities) == [0.0] * 6
    assert len(hexapod.trajectories) > 5
    check(hexapod)
    hexapod.wait(lambda: note(hexapod) == 'commanding', 'the diagnostic')
    there = pytest.approx(list(wanted.values()), abs=1e-6)
    hexapod.wait(lambda: list(hexapod.numbers[-1].data) == there, f'numbers {there}')
    # Every command is within limits and closes the loops: forward kinematics finds the platform.
    hexapod.wait(lambda: [hexapod.value(leg) for leg in LEGS] == there, f'joint states {there}')


def test_missing_joint_state_timeout_is_logged_once(hexapod):
    assert hexapod.log().count('stop when the measured joint states become old') == 1


def test_no_command_before_a_goal(hexapod):
    hexapod.measure(**legs(hexapod, np.zeros(3)))
    assert hexapod.is_silent(hexapod.trajectories)
    assert hexapod.trajectories == []
    assert hexapod.numbers == []


def test_commands_resume_at_the_measured_configuration(hexapod):
    start(hexapod, np.zeros(3), np.array([0.003, 0.0, 0.0]))
    assert hexapod.call(SetBool, 'ik_node/enable', SetBool.Request(data=False)).success
    # The end is said several times.
    hexapod.wait(lambda: hexapod.is_silent(hexapod.trajectories), 'the end of commands')
    hexapod.trajectories.clear()
    moved = legs(hexapod, np.array([0.0, -0.003, 0.0]))
    hexapod.measure(**moved)
    assert hexapod.is_silent(hexapod.trajectories)
    assert hexapod.trajectories == []
    assert hexapod.call(SetBool, 'ik_node/enable', SetBool.Request(data=True)).success
    wanted = legs(hexapod, np.array([0.003, 0.0, 0.0]))
    hexapod.wait(lambda: len(hexapod.trajectories) and at(hexapod, wanted), 'the goal of before')
    assert positions(hexapod)[0].tolist() == list(moved.values())
    check(hexapod)


def test_stale_measurements_hold_the_last_command(hexapod):
    """The robot stops publishing: the last command is repeated at rest, with the reason."""
    assert hexapod.set_parameters(joint_state_timeout=0.4) == ''
    measured = legs(hexapod, np.array([-0.006, -0.004, 0.0]))
    hexapod.measure(**measured)
    hexapod.send_goal('platform', hexapod.home + np.array([0.006, 0.004, 0.003]))
    # Measured until there is a command: what is measured once may be old before it is used.
    hexapod.wait(lambda: hexapod.measure(**measured) or hexapod.trajectories, 'a command')
    hexapod.wait(lambda: 'joint_states is stale: leg0' in note(hexapod), 'the note')
    hexapod.catch_up()
    hexapod.trajectories.clear()
    hexapod.wait(lambda: len(hexapod.trajectories) > 5, 'commands')
    assert (positions(hexapod) == positions(hexapod)[0]).all()
    assert set(hexapod.trajectories[-1].points[0].velocities) == {0.0}
    assert hexapod.set_parameters(on_stale='stop') == ''
    assert hexapod.is_silent(hexapod.trajectories)
    assert hexapod.set_parameters(on_stale='hold', joint_state_timeout=0.0) == ''


def test_impossible_measurements_give_no_command(hexapod):
    hexapod.measure(**{**legs(hexapod, np.zeros(3)), 'leg0': 0.2})
    hexapod.send_goal('platform', hexapod.home)
    hexapod.wait(lambda: 'joint leg0 is measured at 0.2' in note(hexapod), 'the note')
    assert hexapod.trajectories == []


def test_output_type_and_joints_can_change(hexapod):
    assert hexapod.set_parameters(output__type='commands', output__joints=['leg4', 'leg1']) == ''
    hexapod.wait(
        lambda: hexapod.client.count_publishers('/ik_node/joint_trajectory') == 0, 'its end'
    )
    measured = legs(hexapod, np.array([0.001, 0.0, 0.0]))
    hexapod.measure(**measured)
    hexapod.send_goal('platform', hexapod.home)
    # What went out before the change has all six legs.
    chosen = hexapod.wait(lambda: [n for n in hexapod.numbers if len(n.data) == 2], 'two numbers')
    assert list(chosen[0].data) == [measured['leg4'], measured['leg1']]
    assert hexapod.trajectories == []


@pytest.mark.parametrize(
    ('values', 'words'),
    [
        ({'output__joints': ['nose']}, "output.joints: 'nose'"),
        ({'output__joints': ['leg0', 'leg0']}, 'every joint once'),
        ({'output__type': 'all'}, 'none or joint_trajectory or commands or both'),
    ],
)
def test_bad_parameters_are_refused(hexapod, values, words):
    assert words in hexapod.set_parameters(**values)
    start(hexapod, np.zeros(3), np.array([0.002, 0.0, 0.0]))
    check(hexapod)
