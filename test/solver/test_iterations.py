"""`max_iterations` counts steps towards goals; steps that only close loops are extra."""

from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS


def far_away(mechanism, rng):
    """Return mostly unreachable poses of all goals."""
    return {name: (rng.uniform(-2.0, 2.0, 3), rng.normal(size=4)) for name in mechanism.goals}


def test_solve_keeps_max_iterations_per_start():
    """Including random pushes and best efforts."""
    for most, restarts in [(1, 0), (5, 2), (40, 2)]:
        for name in ['arm7', 'ball_limited', 'coupled', 'hexapod', 'two_arm_box']:
            m = MECHANISMS[name]()
            solver = m.solver(SolverOptions(max_iterations=most, restarts=restarts))
            rng = np.random.default_rng(3)
            for _ in range(4):
                solution = solver.solve_pose(far_away(m, rng))
                assert solution.iterations <= most * (1 + restarts)
                assert solution.starts <= 1 + restarts or m.closures
                if not m.closures:
                    assert solution.closing_iterations == 0


@pytest.mark.parametrize('name', ['fivebar', 'hexapod', 'two_arm_box'])
def test_closing_iterations_are_counted_separately(name):
    """With one iteration allowed, widely open loops still close."""
    m = MECHANISMS[name]()
    solver, rng = m.solver(SolverOptions(max_iterations=1, restarts=0)), np.random.default_rng(4)
    start = m.solver().solve_pose({}).q
    torn = start + rng.uniform(-0.05, 0.05, start.size)
    solution = solver.solve_pose(far_away(m, rng), torn)
    there = m.naive(solver.joint_names, solution.q)
    assert max(max(there.error(c)) for c in m.closures.values()) <= 1e-6
    assert solution.status is Status.TIMEOUT
    assert solution.iterations == 1
    assert 0 < solution.closing_iterations <= 50
    assert [chain.closing_iterations for chain in solution.chains] == [solution.closing_iterations]
