"""Lengths of legs in, the pose of the platform out: forward kinematics over the middleware."""

from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped
import numpy as np
import pytest

PLATFORM = 'platform_link'
LEGS = [f'leg{number}' for number in range(6)]


@pytest.fixture(scope='module')
def hexapod(lasting_graph, urdf):
    graph = lasting_graph
    graph.hexapod = graph.knows(urdf('hexapod'))
    graph.start_node(
        *('-p', 'state_source:=actuated', '-p', 'rate:=100.0'),
        *('-p', 'goal_names:=[platform]', '-p', f'goals.platform.link:={PLATFORM}'),
    )
    graph.describe(urdf('hexapod'))
    graph.wait(lambda: graph.joint_states, 'the first joint state')
    graph.reached = []
    graph.client.create_subscription(
        PoseStamped, 'ik_node/reached/platform', graph.reached.append, 10
    )
    return graph


def lengths(graph, offset):
    """Return legs for the platform so far from its start, by inverse kinematics, and its place."""
    from ik_node.solver import Solver, SolverOptions

    robot = graph.hexapod.robot
    place = robot.forward(robot.q, PLATFORM)[:3, 3] + offset
    solution = Solver(robot, SolverOptions(restarts=0)).solve_pose(
        {PLATFORM: (place, (0, 0, 0, 1))}
    )
    values = dict(zip(robot.joint_names, solution.q.tolist(), strict=True))
    return {leg: values[leg] for leg in LEGS}, place


def place(graph):
    q = np.array(graph.joint_states[-1].position)
    return graph.hexapod.robot.forward(q, PLATFORM)[:3, 3]


def last_error(graph):
    """Return what /diagnostics keeps of the last answer that was not passed on."""
    row = graph.diagnostics.get('ik_node: ticks')
    values = {} if row is None else {pair.key: pair.value for pair in row.values}
    return values.get('last_error', '')


def told(graph):
    point = graph.reached[-1].pose.position if graph.reached else None
    return np.full(3, np.nan) if point is None else np.array([point.x, point.y, point.z])


def test_missing_measurements_are_reported(hexapod):
    """The node publishes the description's configuration, and the status names the legs."""
    hexapod.wait(lambda: 'not measured yet: leg0, leg1' in hexapod.last_status(), 'the status')


def test_the_platform_follows_the_legs(hexapod):
    """The platform has the pose of the lengths, and the legs equal the measurement exactly."""
    for offset in ([0.004, 0, 0], [0, 0.004, 0.003], [-0.003, -0.003, -0.002]):
        values, wanted = lengths(hexapod, offset)
        hexapod.measure(**values)
        hexapod.wait(lambda: np.linalg.norm(place(hexapod) - wanted) < 1e-6, 'the platform')  # noqa: B023
        assert {leg: hexapod.value(leg) for leg in LEGS} == values
        hexapod.wait(lambda: told(hexapod) == pytest.approx(wanted, abs=1e-6), 'reached')  # noqa: B023
    hexapod.says('CONVERGED')


def test_goals_do_not_move_the_platform(hexapod):
    values, wanted = lengths(hexapod, [0.002, 0, 0])
    hexapod.measure(**values)
    hexapod.wait(lambda: np.linalg.norm(place(hexapod) - wanted) < 1e-6, 'the platform')
    hexapod.send_goal('platform', wanted + np.array([0.003, 0, 0]))
    hexapod.spin(20)
    assert np.linalg.norm(place(hexapod) - wanted) < 1e-6


def test_legs_may_be_measured_one_at_a_time(hexapod):
    values, wanted = lengths(hexapod, [0.0, 0.003, 0.0])
    for leg, length in values.items():
        hexapod.measure(**{leg: length})
        hexapod.wait(lambda: hexapod.value(leg) == length, leg)  # noqa: B023
    hexapod.wait(lambda: np.linalg.norm(place(hexapod) - wanted) < 1e-6, 'the platform')


@pytest.mark.parametrize(('leg', 'length'), [('leg2', 0.2), ('leg3', 0.0295)])
def test_impossible_lengths_hold_the_platform(hexapod, leg, length):
    values, wanted = lengths(hexapod, [0.0, 0.0, 0.0])
    hexapod.measure(**values)
    hexapod.wait(lambda: np.linalg.norm(place(hexapod) - wanted) < 1e-6, 'the platform')
    hexapod.measure(**{leg: length})
    hexapod.wait(lambda: f'{leg} stopped at' in hexapod.last_status(), 'the reason')
    status = hexapod.statuses[-1].status[0]
    assert status.level == DiagnosticStatus.ERROR
    assert 'no configuration with closed loops has the measured values' in status.message
    assert 'CONVERGED' not in status.message
    hexapod.spin(20)
    assert np.linalg.norm(place(hexapod) - wanted) < 1e-6
    hexapod.measure(**values)
    hexapod.says('CONVERGED')
    hexapod.wait(lambda: f'{leg} stopped at' in last_error(hexapod), 'the last error')


def test_stale_lengths_are_held_and_named(hexapod):
    values, _ = lengths(hexapod, [0.001, 0.0, 0.0])
    hexapod.measure(**values)
    assert hexapod.set_parameters(joint_state_timeout=0.2) == ''
    hexapod.says('joint_states is stale: leg0')
    assert hexapod.set_parameters(on_stale='stop') == ''
    hexapod.says('stale')
    assert hexapod.is_silent(hexapod.joint_states)
    seen = len(hexapod.joint_states)
    # Measured until one is published: what is measured once may be old before it is used.
    hexapod.wait(
        lambda: hexapod.measure(**values) or len(hexapod.joint_states) > seen, 'joint states again'
    )
    assert hexapod.set_parameters(joint_state_timeout=0.0, on_stale='hold') == ''


def test_actuated_joints_follow_the_parameter(hexapod):
    assert "actuated_joints: 'nose'" in hexapod.set_parameters(actuated_joints=['nose'])
    assert hexapod.set_parameters(actuated_joints=['leg0', 'leg1']) == ''
    hexapod.measure(leg0=0.001, leg1=0.002, leg2=0.5)
    hexapod.wait(
        lambda: (hexapod.value('leg0'), hexapod.value('leg1')) == (0.001, 0.002), 'two legs'
    )
    assert hexapod.set_parameters(actuated_joints=['']) == ''
