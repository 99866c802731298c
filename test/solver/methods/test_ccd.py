"""Cyclic coordinate descent: each joint minimises the cost alone, in 2D and 3D."""

from math import cos

from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from support.mechanisms import AXES, held, MECHANISMS
from support.source_arms import path_of_a_pointer, pygame_arm, traced, UNIT


def solve(mechanism, goals, q0=None, **options):
    """Trace a solve by ccd."""
    return traced(mechanism, goals, q0, method='ccd', **options)


def test_planar_arm_follows_pointer_within_limits_and_step_limit():
    """Picture by picture, within limits, no section turning by more than the step limit."""
    m = pygame_arm()
    q, limit = m.solver().q, 0.15
    for pointer in path_of_a_pointer(40):
        options = {'ccd_step_limit': limit, 'translation_converge_threshold': 0.01}
        found = solve(m, {'pointer': (pointer, UNIT)}, q, max_iterations=200, **options)
        assert found.solution.status is Status.CONVERGED
        sweeps = np.diff([point.q for point in found.points], axis=0)
        assert np.abs(sweeps).max(initial=0.0) <= limit + 1e-12
        q = found.solution.q
        assert np.abs(q).max() <= 2.2
        ahead = np.cumsum(q)
        lengths = np.array([1.0, 0.8, 0.6, 0.4])
        hand = (lengths @ np.cos(ahead), lengths @ np.sin(ahead))
        assert np.hypot(*np.subtract(hand, pointer[:2])) <= 0.01


def least_cost(mechanism, names, q, at, cost, low, high):
    """Return the least cost of one value, by the oracle: on a grid, then near its best point."""

    def cost_at(value):
        trial = q.copy()
        trial[at] = value
        return cost(mechanism.naive(names, trial))

    grid = np.linspace(low, high, 145)
    costs = [cost_at(value) for value in grid]
    best = int(np.argmin(costs))
    near = grid[[max(best - 1, 0), min(best + 1, len(grid) - 1)]]
    return min(costs[best], minimize_scalar(cost_at, bounds=near, method='bounded').fun)


@pytest.mark.parametrize('axes', AXES)
@pytest.mark.parametrize('dof', ['X Y Z', 'Y', 'X Y Z EX EY EZ', 'Z EY EZ'])
def test_turn_has_least_cost_of_all_turns(dof, axes):
    """No turn of the joint makes the weighted sum of its goal's errors smaller."""
    m = held(axes, dof.split())
    m.goals['goal'].weight = 1.0
    options = {'translation_factor': 1.5, 'rotation_factor': 0.7, 'characteristic_length': 1.0}
    names = m.solver().joint_names
    goal = m.goals['goal']
    for joint, at in (('l', 'l.EZ'), ('r', 'r.EY'), ('trunk', 'trunk.EX')):
        for name in ('trunk', 'l', 'r'):
            m.joints[name].lock()
        m.joints[joint].unlock()
        for other in names:
            owner, _, axis = other.partition('.')
            if owner == joint and other != at:
                m.joints[owner].lock(axis)

        def cost(there):
            moved, turned = there.residual(goal)
            angle = np.linalg.norm(turned)
            part = 0.5 * 1.5**2 * moved @ moved
            return part + 0.7**2 * (1.0 - cos(angle)) * (len(turned) > 1)

        q = m.random_q(names, np.random.default_rng(4))
        found = solve(m, {}, q, max_iterations=1, **options)
        place = names.index(at)
        least = least_cost(m, names, q, place, cost, -1.0, 1.0)
        after = cost(m.naive(names, found.points[1].q))
        assert after <= least + 1e-9, at
        others = np.delete(found.points[1].q - q, place)
        assert np.abs(others).max() == 0.0


def test_spatial_arms_approach_their_goals():
    """Sliders, balls, couplings, two goals, and a goal on the other hand."""
    for name in ['mixed', 'ball', 'arm7', 'free_body', 'coupled', 'relative']:
        m = MECHANISMS[name]()
        solver = m.solver()
        names, start = solver.joint_names, solver.q
        q = start + 0.2 * (m.random_q(names, np.random.default_rng(2)) - start)
        goals = {
            n: m.pose_of(g.child.name, names, q) for n, g in m.goals.items() if g.parent is None
        }
        found = solve(m, goals, max_iterations=600)
        first, last = found.points[0], found.points[-1]
        assert first.position + first.orientation > 0.01
        assert last.position + last.orientation < 0.01 * (first.position + first.orientation)


@pytest.mark.parametrize('method', ['ccd'])
def test_answer_has_no_full_turn_more_than_needed(method):
    """Of equivalent angles within the limits, each is the nearest one to the start."""
    m = pygame_arm(limit=7.0)
    rng, most = np.random.default_rng(3), 0.0
    for _ in range(20):
        q0 = rng.uniform(-3.0, 3.0, 4)
        pose = ((*rng.uniform(-2.0, 2.0, 2), 0.0), UNIT)
        found = solve(m, {'pointer': pose}, q0, max_iterations=200).solution
        most = max(most, np.abs(found.q - q0).max())
    assert most <= np.pi + 1e-9
