"""SLSQP: goals as a cost, closures and limits as constraints."""

from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS
from support.source_arms import traced

UNIT = (0, 0, 0, 1)


def solve(mechanism, goals, q0=None, **options):
    """Solve by slsqp and return the trace."""
    return traced(mechanism, goals, q0, method='slsqp', **options)


@pytest.mark.parametrize('name', ['fourbar', 'fourbar_pinned', 'fivebar', 'hexapod_single'])
def test_slsqp_solves_with_redundant_closure_rows(name):
    """A planar loop welded in space has three of them."""
    m = MECHANISMS[name]()
    names, q = m.solver().joint_names, m.solver().q
    q = m.solver().solve_pose({}, q + 0.1 * (m.random_q(names, np.random.default_rng(1)) - q)).q
    goals = {n: m.pose_of(g.child.name, names, q) for n, g in m.goals.items()}
    found = solve(m, goals)
    assert found.solution.status is Status.CONVERGED
    assert found.solution.iterations < 60


def test_slsqp_reaches_answer_of_compiled_solver_at_bounds():
    """The end is where the compiled solver's is: a least cost with joints on their bounds."""
    m = MECHANISMS['planar']()
    for joint in ('p1', 'p2', 'p3'):
        m.joints[joint].set_limits('EZ', -0.5, 0.5)
    goals = {'end_goal': ((0.0, 3.0, 0), UNIT)}
    found = solve(m, goals, max_iterations=300).solution
    best = m.solver().solve_pose(goals)
    assert found.status is Status.STALLED
    assert found.goal_errors['end_goal'].position == pytest.approx(
        best.goal_errors['end_goal'].position, abs=1e-6
    )
    assert found.q.max() <= 0.5
