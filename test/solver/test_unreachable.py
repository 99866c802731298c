"""What cannot be met: loops stay closed, goals come as near as they can, and calmly."""

from itertools import pairwise

from ik_node.kernels._jit import compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
from kernel_calls import Rows
from mechanisms import MECHANISMS
import numpy as np
import pytest
from scipy.optimize import minimize

UNIT = (0, 0, 0, 1)
OUT_OF_REACH = {
    'fivebar': {'tool': ((0.2, 1.5, 0), UNIT)},
    'fourbar': {'pen_goal': ((1.2, 1.4, 0), UNIT)},
    'hexapod': {'pose': ((0.1, 0.0, 1.1), (0.1, 0.05, 0.0, 0.99))},
    'hexapod_single': {'pose': ((0.1, 0.0, 1.1), (0.1, 0.05, 0.0, 0.99))},
    'two_arm_box': {'box_goal': ((1.3, 0.2, 0.5), (0.1, 0.0, 0.2, 0.97))},
    'universal_and_distance': {'plate_goal': ((0.3, 0.1, 0), UNIT)},
}


@pytest.fixture(params=OUT_OF_REACH)
def stretched(request):
    """Return a mechanism, its solver and the answer to a goal out of its reach."""
    m = MECHANISMS[request.param]()
    solver = m.solver()
    goals = OUT_OF_REACH[request.param]
    for name, (position, quaternion) in goals.items():
        m.goals[name].set_position(*position)
        m.goals[name].set_quaternion(*quaternion)
    return m, solver, solver.solve_pose(goals)


def test_loops_stay_closed(stretched):
    """The goal is missed by far; every loop is closed to 1e-6, limits hold."""
    m, solver, solution = stretched
    assert solution.status is Status.STALLED
    there = m.naive(solver.joint_names, solution.q)
    assert max(max(there.error(c)) for c in m.closures.values()) <= 1e-6
    assert max(max(there.error(g)) for g in m.goals.values()) > 0.05
    assert there.limit_excess() <= 0.0


@pytest.mark.parametrize('start', ['answer', 'home'])
def test_the_goal_is_missed_by_the_least(stretched, start):
    """Another optimiser (SLSQP), from our answer and from home, gains at most one per cent."""
    m, solver, solution = stretched
    rows = Rows(m)
    (goal,) = m.goals

    def cost(q):
        return 0.5 * float(np.sum(rows.at(q)[0][goal] ** 2))

    def loops(q):
        found = rows.at(q)[0]
        return np.concatenate([found[name] for name in m.closures])

    other = minimize(
        cost,
        solution.q if start == 'answer' else solver.solve_pose({}).q,
        bounds=[(j.min_dof_limit[d], j.max_dof_limit[d]) for j, d in rows.tree.owner],
        constraints={'type': 'eq', 'fun': loops},
        method='SLSQP',
        options={'maxiter': 60, 'ftol': 1e-12},
    )
    closed = np.abs(loops(other.x)).max() < 1e-6
    assert closed or start == 'home'
    if closed:
        assert np.sqrt(cost(other.x)) >= 0.99 * np.sqrt(cost(solution.q))


@pytest.mark.parametrize('name', [n for n in MECHANISMS if MECHANISMS[n]().closures])
def test_loops_stay_closed_whatever_is_asked(name):
    """Random poses of all goals, near and far: not one open loop, however few iterations."""
    m = MECHANISMS[name]()
    m.goals or m.goal('any', next(iter(m.links)))
    rng = np.random.default_rng(12)
    for steps, restarts in ((1, 0), (3, 1), (100, 3)):
        solver = m.solver(SolverOptions(max_iterations=steps, restarts=restarts))
        start = m.solver().solve_pose({}).q
        for size in (0.3, 1.0, 5.0):
            goals = {n: (rng.uniform(-size, size, 3), rng.normal(size=4)) for n in m.goals}
            there = m.naive(solver.joint_names, solver.solve_pose(goals, start).q)
            assert max(max(there.error(c)) for c in m.closures.values()) <= 1e-6
            assert there.limit_excess() <= 0.0


# A line outside: start, direction; 20 % beyond what can be reached.
LINES = {
    'planar': ('end_goal', (3.6, -1.5, 0), (0, 1, 0)),
    'arm6': ('hand_goal', (1.3, -0.4, 0.5), (0, 1, 0)),
    'arm7': ('hand_goal', (1.15, -0.4, 0.5), (0, 1, 0)),
    'fivebar': ('tool', (-0.2, 1.08, 0), (1, 0, 0)),
    'two_arm_box': ('box_goal', (1.1, -0.3, 0.4), (0, 1, 0)),
    'hexapod': ('pose', (-0.3, 0.0, 1.0), (1, 0, 0)),
}


@pytest.mark.parametrize('restarts', [0, 50])
@pytest.mark.parametrize('name', LINES)
def test_a_goal_dragged_along_outside(name, restarts):
    """The goal moves by 1 mm a step; no joint moves by more than 0.05 rad a step."""
    m = MECHANISMS[name]()
    goal, start, direction = LINES[name]
    solver = m.solver(SolverOptions(restarts=restarts))
    _, quat = m.pose_of(m.goals[goal].child.name)
    steps, q = [], None
    for k in range(200 if compiled else 20):  # plain Python is a hundred times slower
        wanted = (np.add(start, 0.001 * k * np.array(direction)), quat)
        solution = solver.solve_pose({goal: wanted}, q)
        assert solution.status is Status.STALLED
        if q is not None:
            steps.append(np.abs(solution.q - q).max())
        q = solution.q
    assert max(steps) <= 0.05


OUT_AND_BACK = {
    'planar': ('end_goal', (1.5, -1.0, 0), (3.6, -1.0, 0)),
    'arm6': ('hand_goal', (0.5, 0.2, 0.5), (1.6, 0.3, 0.6)),
    'arm7': ('hand_goal', (0.5, 0.2, 0.5), (1.4, 0.3, 0.6)),
    'fivebar': ('tool', (0.2, 0.6, 0), (0.2, 1.3, 0)),
    'hexapod': ('pose', (0, 0, 0.6), (0.1, 0.1, 1.1)),
    'coupled': ('tool_goal', (0.5, 0.2, 0), (1.2, 0.5, 0)),
}


@pytest.mark.skipif(not compiled, reason='thousands of solves')
@pytest.mark.parametrize('name', OUT_AND_BACK)
def test_a_goal_dragged_out_and_back(name):
    """Across the edge of the workspace and back in 1 mm steps: no jump to another branch."""
    m = MECHANISMS[name]()
    goal, inside, outside = OUT_AND_BACK[name]
    solver = m.solver(SolverOptions(restarts=0))
    _, quat = m.pose_of(m.goals[goal].child.name)
    way = np.subtract(outside, inside)
    count = int(np.linalg.norm(way) / 1e-3)
    q = solver.solve_pose({goal: (inside, quat)}).q
    statuses = []
    for k in [*range(count), *range(count, -1, -1)]:
        solution = solver.solve_pose({goal: (inside + way * k / count, quat)}, q)
        assert np.abs(solution.q - q).max() <= 0.15, k
        q = solution.q
        statuses.append(solution.status)
    changes = [a for a, b in pairwise([*statuses, None]) if a is not b]
    assert changes == [Status.CONVERGED, Status.STALLED, Status.CONVERGED]
