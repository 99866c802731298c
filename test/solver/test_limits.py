"""Answers keep the limits for every status and start."""

from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)


def random_goals(mechanism, rng, size):
    """Draw poses of every goal, reachable or not."""
    return {n: (rng.uniform(-size, size, 3), rng.normal(size=4)) for n in mechanism.goals}


def test_limits_hold_after_every_number_of_steps():
    """After 1, 2, 3, ... allowed iterations."""
    for name in ['mixed', 'ball_limited', 'coupled', 'walker', 'two_arm_box']:
        m = MECHANISMS[name]()
        rng = np.random.default_rng(7)
        statuses = set()
        for steps in (1, 2, 3, 5, 8, 13, 40):
            solver = m.solver(SolverOptions(max_iterations=steps, restarts=steps % 2))
            for size in (0.5, 3.0):
                solution = solver.solve_pose(random_goals(m, rng, size))
                there = m.naive(solver.joint_names, solution.q)
                assert there.limit_excess() <= 0.0
                assert there.coupling_gap() <= 1e-12
                statuses.add(solution.status)
        if m.goals:
            assert statuses & {Status.TIMEOUT, Status.STALLED}


def test_limits_hold_after_timeout():
    """The same for an interrupted solve."""
    m = MECHANISMS['hexapod_single']()
    solver = m.solver(SolverOptions(time_budget=1e-9, restarts=1000))
    rng = np.random.default_rng(9)
    for _ in range(5):
        solution = solver.solve_pose(random_goals(m, rng, 2.0))
        assert solution.status is Status.TIMEOUT
        there = m.naive(solver.joint_names, solution.q)
        assert there.limit_excess() <= 0.0
        assert max(max(there.error(c)) for c in m.closures.values()) <= 1e-6


def test_equal_limits_fix_joint():
    """Lower == upper is a fixed joint."""
    m = MECHANISMS['planar']()
    m.joints['p2'].set_limits('EZ', 0.7, 0.7)
    solver = m.solver()
    solution = solver.solve_pose({'end_goal': ((0.8, 1.3, 0), UNIT)})
    assert solution.status is Status.CONVERGED
    assert solution.q[1] == 0.7
    assert solution.active_limits == ()


def test_minimum_on_bounds_equals_grid_search():
    """The other joints reach the constrained minimum."""
    m = MECHANISMS['planar']()
    for name, bound in (('p1', 0.4), ('p2', 0.5), ('p3', 0.6)):
        m.joints[name].set_limits('EZ', -bound, bound)
    solver = m.solver()
    target = np.array((-0.5, 2.0, 0.0))
    solution = solver.solve_pose({'end_goal': (target, UNIT)})
    grid = np.stack(np.meshgrid(*[np.linspace(-b, b, 41) for b in (0.4, 0.5, 0.6)]), -1)
    angles = np.cumsum(grid.reshape(-1, 3), axis=1)
    ends = np.stack((np.cos(angles).sum(1), np.sin(angles).sum(1)), -1)
    best = np.linalg.norm(ends - target[:2], axis=1).min()
    assert solution.goal_errors['end_goal'].position <= best + 1e-9
    assert solution.active_limits == ('p1', 'p2', 'p3')


@pytest.mark.parametrize('name', ['arm6', 'mixed', 'ball'])
def test_answer_is_never_worse_than_start(name):
    """For any status and number of steps."""
    m = MECHANISMS[name]()
    (goal,) = m.goals.values()
    rng = np.random.default_rng(10)
    for steps in (1, 2, 3, 5, 30):
        solver = m.solver(SolverOptions(max_iterations=steps, restarts=steps % 3))
        for _ in range(5):
            goals = random_goals(m, rng, 1.5)
            start = m.random_q(solver.joint_names, rng)
            found = solver.solve_pose(goals, start).q
            before, after = (
                np.concatenate(m.naive(solver.joint_names, q).residual(goal, goals[goal.name]))
                for q in (start, found)
            )
            assert np.linalg.norm(after) <= np.linalg.norm(before) + 1e-12
