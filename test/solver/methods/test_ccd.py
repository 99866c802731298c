"""Cyclic coordinate descent: each joint minimises the cost alone, in 2D and 3D."""

from math import cos

from ik_node.solver.methods.run import ANGLES, best_turn
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from support.mechanisms import AXES, heavy_arm, held, MECHANISMS
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


def test_only_last_joint_turns_if_sufficient():
    """The last section alone reaches the goal."""
    m = pygame_arm()
    start = m.solver().q
    there = start + np.array([0, 0, 0, 0.7])
    goals = {'pointer': m.pose_of('hand', m.solver().joint_names, there)}
    found = solve(m, goals, max_iterations=1)
    np.testing.assert_allclose(found.solution.q, there, atol=1e-9)
    assert found.solution.iterations == 1


def test_joint_turns_by_angle_between_hand_and_pointer():
    """The rule of the source, seen from the joint."""
    m = pygame_arm()
    for name in ('section1', 'section2', 'section3'):
        m.joints[name].lock()
    hand, pointer = m.pose_of('hand')[0], np.array([-0.4, 1.7, 0])
    found = solve(m, {'pointer': (pointer, UNIT)}, max_iterations=1)
    turn = np.arctan2(pointer[1], pointer[0]) - np.arctan2(hand[1], hand[0])
    assert found.points[1].q[0] - found.points[0].q[0] == pytest.approx(turn, abs=1e-9)


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


@pytest.mark.parametrize('kind', ['look_at', 'centre_of_mass'])
def test_each_joint_reduces_cost_of_look_at_and_mass_goals(kind):
    """Their turns are not best in closed form, but every joint's move helps."""
    m = heavy_arm(kind)
    place = (0.8, 0.5, 0.4) if kind == 'look_at' else (0.1, 0.1, 0.5)
    found = solve(m, {'hand_goal': (place, UNIT)}, max_iterations=300)
    errors = np.array([point.position + point.orientation for point in found.points])
    assert (np.diff(errors) <= 1e-12).all()
    assert errors[-1] < 0.05 * errors[0]


def test_step_limit_applies_to_slider_in_metres():
    """The limit counts in metres there."""
    m = MECHANISMS['mixed']()
    q = m.solver().q
    goals = {'tool_goal': (m.pose_of('tool')[0] + (0.3, 0.1, 0.2), UNIT)}
    found = solve(m, goals, q, ccd_step_limit=0.02, max_iterations=5)
    assert np.abs(np.diff([point.q for point in found.points], axis=0)).max() <= 0.02 + 1e-12


def test_joint_without_effect_does_not_turn():
    """A joint on whose axis the hand lies has nothing to gain from a turn."""
    m = MECHANISMS['arm6']()
    m.goals['hand_goal'].set_goal_dof('X', 'Y', 'Z')
    found = solve(m, {'hand_goal': ((0.4, 0.3, 0.6), UNIT)})
    assert found.solution.status is Status.CONVERGED
    assert found.solution.q[5] == 0.0


def test_straight_arm_folds_towards_inward_goal():
    """The angle from the hand to the goal is half a turn."""
    m = pygame_arm(limit=3.2)
    found = solve(m, {'pointer': ((1.5, 0, 0), UNIT)}, np.zeros(4))
    assert abs(found.points[1].q[3]) > 3.1
    assert found.points[1].position < found.points[0].position


def test_folded_arm_in_line_with_goal_is_stalled():
    """All sections and the goal are on one line, with the goal between two folds."""
    m = pygame_arm(limit=3.2)
    found = solve(m, {'pointer': ((-2.8, 0, 0), UNIT)}, np.zeros(4))
    assert found.solution.status is Status.STALLED
    assert found.solution.goal_errors['pointer'].position > 0.1


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


def cost(coefficients, angle):
    """Return a trigonometric polynomial of degree two."""
    a1, b1, a2, b2 = coefficients
    return (
        3.0
        + a1 * np.cos(angle)
        + b1 * np.sin(angle)
        + a2 * np.cos(2 * angle)
        + b2 * np.sin(2 * angle)
    )


@pytest.mark.parametrize('degree', [1, 2])
def test_best_turn_has_least_cost_within_bounds(degree):
    """Compared with a fine grid."""
    rng = np.random.default_rng(degree)
    for _ in range(200):
        coefficients = rng.normal(size=4) * ([1, 1, 0, 0] if degree == 1 else 1)
        low, high = -rng.uniform(0, 4), rng.uniform(0, 4)
        found = best_turn(cost(coefficients, ANGLES), low, high)
        assert max(low, -np.pi) <= found <= min(high, np.pi)
        grid = np.linspace(max(low, -np.pi), min(high, np.pi), 2001)
        assert cost(coefficients, found) <= cost(coefficients, grid).min() + 1e-12


def test_best_turn_is_exact_to_rounding():
    """A cost that is least at 0.3 rad is least there to rounding."""
    assert best_turn(1.0 - np.cos(ANGLES - 0.3), -9, 9) == pytest.approx(0.3, abs=1e-14)


def test_best_turn_is_zero_without_gain():
    """A cost that does not depend on the angle, or is least here, moves nothing."""
    assert best_turn(np.full(5, 7.0), -1, 1) == 0.0
    assert best_turn(1.0 - np.cos(ANGLES), -1, 1) == pytest.approx(0.0, abs=1e-15)


def test_best_turn_is_zero_between_equal_bounds():
    """Only one angle is allowed."""
    assert best_turn(1.0 - np.cos(ANGLES - 0.3), 0.0, 0.0) == 0.0
