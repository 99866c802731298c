"""With the option `compromise`, goals that conflict end at the least residual near the start."""

from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.gallery_mechanisms import GALLERY
from support.mechanisms import MECHANISMS
from support.other_optimiser import OtherOptimiser

UNIT = (0, 0, 0, 1)
CONFLICTING = SolverOptions(compromise=True)
OUT_OF_REACH = {
    'gallery_hexapod': {'goal': ((0.03, 0.0, 0.16), (0.1, 0.05, 0.0, 0.99))},
    'fivebar': {'tool': ((0.2, 1.5, 0), UNIT)},
    'fourbar': {'pen_goal': ((1.2, 1.4, 0), UNIT)},
    'hexapod': {'pose': ((0.1, 0.0, 1.1), (0.1, 0.05, 0.0, 0.99))},
    'two_arm_box': {'box_goal': ((1.3, 0.2, 0.5), (0.1, 0.0, 0.2, 0.97))},
    'universal_and_distance': {'plate_goal': ((0.3, 0.1, 0), UNIT)},
}


def conflicting(name):
    """Return a mechanism whose goals cannot be met, and the goals."""
    m = {**MECHANISMS, **GALLERY}[name]()
    goals = OUT_OF_REACH[name]
    for goal, (position, quaternion) in goals.items():
        m.goals[goal].set_position(*position)
        m.goals[goal].set_quaternion(*quaternion)
    return m, goals


def settled(solver, goals, count=8):
    """Return the answer after a few frames with the same goals, each from the one before."""
    solution = solver.solve_pose(goals)
    for _ in range(count):
        solution = solver.solve_pose(goals, solution.q)
    return solution


@pytest.mark.parametrize('name', ['fivebar', 'hexapod', 'universal_and_distance'])
def test_slsqp_from_the_compromise_finds_nothing_better_nearby(name):
    """Half the weighted square of all rows, with loops as equations and limits as bounds."""
    m, goals = conflicting(name)
    solver = m.solver(CONFLICTING)
    solution = settled(solver, goals)
    assert solution.status is Status.STALLED
    assert solution.starts == 1
    there = m.naive(solver.joint_names, solution.q)
    assert max(max(there.error(c)) for c in m.closures.values()) <= 1e-6
    assert there.limit_excess() <= 0.0
    other = OtherOptimiser(m, solution.chains[0].characteristic_length)
    q, gap = other.improved(solution.q)
    assert gap <= 1e-6
    assert other.cost(q) >= 0.99 * other.cost(solution.q)


def test_weights_share_what_is_left():
    """Two goals at both sides of an end: the end is nearer to the heavier one, by its weight."""
    m = MECHANISMS['arm7']()
    (name,) = m.goals
    m.goals[name].set_goal_dof('X', 'Y', 'Z')
    link = m.goals[name].child.name
    other = m.goal('other', link, 'X Y Z')
    here = np.array(m.pose_of(link)[0])
    aside = np.array((0.02, 0.0, 0.0))
    asked = {name: (here + aside, UNIT), 'other': (here - aside, UNIT)}
    other.weight = 2.0
    solver = m.solver(CONFLICTING)
    solution = settled(solver, asked)
    near, far = solution.goal_errors['other'].position, solution.goal_errors[name].position
    assert near == pytest.approx(0.04 / 5.0, rel=1e-3)
    assert far == pytest.approx(4.0 * near, rel=1e-3)


@pytest.mark.parametrize('name', ['arm7', 'fivebar', 'hexapod'])
def test_goals_that_agree_are_met(name):
    """To every tolerance, and the status says so."""
    m = MECHANISMS[name]()
    solver, rng = m.solver(CONFLICTING), np.random.default_rng(3)
    start = solver.solve_pose({}).q if m.closures else solver.q
    goals = {}
    for goal, closer in m.goals.items():
        position, quat = m.pose_of(closer.child.name)
        goals[goal] = (np.array(position) + rng.uniform(-0.01, 0.0, 3) * (name != 'fivebar'), quat)
    solution = solver.solve_pose(goals, start)
    for _ in range(4):
        solution = solver.solve_pose(goals, solution.q)
    assert solution.status is Status.CONVERGED


def test_start_with_open_loops_is_closed_first():
    """Also where it needs another start."""
    m, goals = conflicting('hexapod')
    solver, rng = m.solver(CONFLICTING), np.random.default_rng(8)
    low, high = (np.clip(limit, -2.0, 2.0) for limit in solver.limits())
    for _ in range(5):
        solution = solver.solve_pose(goals, rng.uniform(low, high))
        there = m.naive(solver.joint_names, solution.q)
        assert max(max(there.error(c)) for c in m.closures.values()) <= 1e-6


def test_smoothed_answer_minimises_the_stated_cost():
    """Half the squares of the residuals, and of the way from the start times the smoothing."""
    m = MECHANISMS['arm7']()
    (name,) = m.goals
    link = m.goals[name].child.name
    position, quat = m.pose_of(link)
    m.goals[name].set_position(*np.add(position, (0.03, -0.02, 0.04)))
    m.goals[name].set_quaternion(*quat)
    weight = 0.05
    solver = m.solver(SolverOptions(compromise=True, smoothing=weight))
    solution = solver.solve_pose({name: (m.goals[name].position, quat)})
    other = OtherOptimiser(m, solution.chains[0].characteristic_length)
    start = np.array(solver.q)

    def cost(q):
        return other.cost(q) + 0.5 * weight * np.sum((q - start) ** 2)

    rng = np.random.default_rng(0)
    least = cost(solution.q)
    for size in (1e-3, 1e-2):
        for _ in range(200):
            assert cost(solution.q + size * rng.normal(size=7)) >= least * (1.0 - 1e-3)
