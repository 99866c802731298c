"""Lengths of legs in, the pose of the platform out: forward kinematics over the middleware."""

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
import pytest

PLATFORM = 'platform_link'
LEGS = [f'leg{number}' for number in range(6)]


@pytest.fixture(scope='module')
def hexapod(lasting_graph, urdf):
    graph = lasting_graph
    goals = {'platform': PLATFORM}
    graph.start_robot(urdf('hexapod'), state_source='actuated', rate=100.0, goals=goals)
    graph.wait(lambda: 'not measured yet: leg0, leg1' in graph.last_status(), 'the status')
    return graph


def measure(graph, *offset):
    """Measure legs, one after the other, for the platform so far from its start; wait for it."""
    values = graph.robots[0].motors(LEGS, PLATFORM, offset)
    place = graph.robots[0].place(PLATFORM, offset)
    for leg, length in values.items():
        graph.measure(**{leg: length})
    graph.wait(lambda: graph.is_at(PLATFORM, place, 1e-6), 'the platform')
    assert {leg: graph.value(leg) for leg in LEGS} == values
    return values, place


def last_error(graph):
    """Return what /diagnostics keeps of the last answer that was not passed on."""
    row = graph.diagnostics.get('ik_node: ticks')
    values = {} if row is None else {pair.key: pair.value for pair in row.values}
    return values.get('last_error', '')


def test_platform_follows_the_legs_and_no_goals(hexapod):
    for offset in ([0.004, 0, 0], [0, 0.004, 0.003], [-0.003, -0.003, -0.002]):
        _, place = measure(hexapod, *offset)
    hexapod.says('CONVERGED')
    hexapod.send_goal('platform', place + np.array([0.003, 0, 0]))
    hexapod.spin(20)
    assert hexapod.is_at(PLATFORM, place, 1e-6)


@pytest.mark.parametrize(('leg', 'length'), [('leg2', 0.2), ('leg3', 0.0295)])
def test_impossible_lengths_hold_the_platform(hexapod, leg, length):
    values, place = measure(hexapod, 0.0, 0.0, 0.0)
    hexapod.measure(**{leg: length})
    hexapod.wait(lambda: f'{leg} stopped at' in hexapod.last_status(), 'the reason')
    status = hexapod.statuses[-1].status[0]
    assert status.level == DiagnosticStatus.ERROR
    assert 'no configuration with closed loops has the measured values' in status.message
    assert 'CONVERGED' not in status.message
    hexapod.spin(20)
    assert hexapod.is_at(PLATFORM, place, 1e-6)
    hexapod.measure(**values)
    hexapod.says('CONVERGED')
    hexapod.wait(lambda: f'{leg} stopped at' in last_error(hexapod), 'the last error')


def test_stale_lengths_are_named_and_may_stop_joint_states(hexapod):
    values, _ = measure(hexapod, 0.001, 0.0, 0.0)
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
