"""Gradient descent: sampled gradient, early stop, and comfort."""

from math import nan

from ik_node.errors import IkError
from ik_node.solver.options import COST_METHODS
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.optimize import minimize
from support.mechanisms import MECHANISMS
from support.source_arms import desk_arm, traced, UNIT

TARGET = (0.6, 0.5, 0.7)


def solve(mechanism, goals, q0=None, **options):
    """Trace a solve by gradient descent, or by the method in the options."""
    return traced(mechanism, goals, q0, **{'method': 'gradient_descent', **options})


def test_fixed_rate_stops_below_threshold_as_stalled():
    """The distance is below the threshold but not within the tolerance."""
    options = {'learning_rate': 0.02, 'distance_threshold': 0.02, 'max_iterations': 500}
    found = solve(desk_arm(), {'target': (TARGET, UNIT)}, **options)
    assert found.solution.goal_errors['target'].position < 0.02
    assert found.solution.status is Status.STALLED
    assert 5 < found.solution.iterations < 500
    assert all(point.position >= 0.02 for point in found.points[:-1])
    assert 'the distance is below distance_threshold' in found.solution.message


def test_one_sweep_equals_rule_of_source():
    """Rate times sampled slope, from the last joint to the first, each after the other."""
    m = desk_arm()
    names, q = m.solver().joint_names, m.solver().q
    rate, sample = 0.05, 1e-6

    def distance(values):
        return np.linalg.norm(m.pose_of('hand', names, values)[0] - TARGET)

    wanted = q.copy()
    for joint in (3, 2, 1, 0):
        moved = wanted.copy()
        moved[joint] += sample
        wanted[joint] -= rate * (distance(moved) - distance(wanted)) / sample
    options = {'learning_rate': rate, 'rotation_step': sample, 'max_iterations': 1}
    found = solve(m, {'target': (TARGET, UNIT)}, **options)
    np.testing.assert_allclose(found.points[1].q, wanted, atol=1e-7)


def test_early_stop_does_not_move_base_joints():
    """The distance is checked after every joint."""
    m = desk_arm()
    names, start = m.solver().joint_names, m.solver().q
    goals = {'target': m.pose_of('hand', names, start + np.array([0, 0, 0, 0.05]))}
    options = {'learning_rate': 0.05, 'distance_threshold': 0.015, 'max_iterations': 3}
    early = solve(m, goals, **options).solution
    assert early.q[:3].tolist() == start[:3].tolist()
    assert early.q[3] != start[3]
    late = solve(m, goals, early_stop=False, **options).points[1].q
    assert late[2] != start[2]


def comfort(q):
    """Prefer a certain posture of the planar arm."""
    return 0.05 * float(np.sum((q - (0.2, 0.9, 0.3)) ** 2))


GOAL = {'end_goal': ((1.2, 1.4, 0), UNIT)}


def most_comfortable():
    """Return the least comfort cost of all configurations that meet the goal."""

    def off(q):
        ahead = np.cumsum(q)
        return np.array([np.cos(ahead).sum() - 1.2, np.sin(ahead).sum() - 1.4])

    found = [
        minimize(comfort, start, method='SLSQP', constraints=[{'type': 'eq', 'fun': off}])
        for start in ([0, 1, 0.3], [0.3, 0.5, 0.4], [0.5, -0.5, 1.0])
    ]
    return min(one.fun for one in found if one.success)


@pytest.mark.parametrize(('method', 'share'), [('gradient_descent', 0.03), ('slsqp', 1e-4)])
def test_comfort_minimises_cost_on_goal(method, share):
    """A redundant arm moves to the most comfortable configuration that meets the goal."""
    m = MECHANISMS['planar']()
    reached = solve(m, GOAL, method=method, max_iterations=3000).solution
    assert reached.status is Status.CONVERGED
    eased = solve(m, GOAL, reached.q, method=method, comfort=comfort, max_iterations=3000).solution
    assert eased.status is Status.CONVERGED
    assert comfort(reached.q) > 1.5 * comfort(eased.q)
    assert comfort(eased.q) == pytest.approx(most_comfortable(), rel=share)


def test_comfort_that_returns_no_number_is_refused():
    """At the first call, by name."""
    for method in COST_METHODS:
        m = MECHANISMS['planar']()
        for bad in (nan, float('inf'), None, 'low', (1.0, 2.0)):
            with pytest.raises(IkError, match='comfort'):
                solve(m, GOAL, method=method, comfort=lambda _, bad=bad: bad)
