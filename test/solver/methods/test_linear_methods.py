"""pseudo_inverse, sdls and jacobian_transpose have the properties of their sources."""

from math import pi, radians
from types import SimpleNamespace

from ik_node.solver.methods.linear import Rows, step_within_bounds
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS
from support.source_arms import dh_arm, planar_rows, traced, UNIT

GOALS_OF_THE_DH_ARM = [(15, 10, 0), (5, 20, 5), (-10, 5, 20), (10, 10, 10)]


def test_pseudo_inverse_step_is_least_squares_step():
    """Of all steps that the linear model takes to the goal, the least-squares one."""
    m = MECHANISMS['planar']()
    goal = (1.3, 1.6, 0)
    found = traced(m, {'end_goal': (goal, UNIT)}, method='pseudo_inverse', max_iterations=1)
    e, jacobian = planar_rows(m.solver().q, goal)
    np.testing.assert_allclose(
        found.points[1].q - found.points[0].q, np.linalg.lstsq(jacobian, e)[0], atol=1e-9
    )


def test_sdls_step_is_bounded_near_singularity():
    """The pseudo-inverse makes more than a turn, sdls pi/4."""
    m = MECHANISMS['planar']()
    m.joints['p1'].set_dof_values(0.0)
    m.joints['p2'].set_dof_values(0.01)
    m.joints['p3'].set_dof_values(0.0)
    goals = {'end_goal': ((2.5, 0.0, 0), UNIT)}
    largest = {}
    for method in ('pseudo_inverse', 'sdls'):
        first, second = traced(m, goals, method=method, max_iterations=1).points
        largest[method] = np.abs(second.q - first.q).max()
    assert largest['pseudo_inverse'] > 2 * pi
    assert largest['sdls'] <= pi / 4 + 1e-12


def sdls_step(jacobian, e, most=pi / 4):
    """Return the step of Buss & Kim for one end effector, with explicit loops."""
    u, sigma, vt = np.linalg.svd(jacobian)
    total = np.zeros(jacobian.shape[1])
    for i, value in enumerate(sigma):
        lengths = [np.linalg.norm(jacobian[:, k]) for k in range(jacobian.shape[1])]
        possible = sum(abs(vt[i, k]) * lengths[k] for k in range(len(lengths))) / value
        bound = min(1.0, np.linalg.norm(u[:, i]) / possible) * most
        part = (u[:, i] @ e) / value * vt[i]
        if np.abs(part).max() > bound:
            part *= bound / np.abs(part).max()
        total += part
    return total * min(1.0, most / np.abs(total).max())


def test_sdls_step_equals_formula_of_paper():
    """The step of one iteration is that of the paper's formulas."""
    for goal in [(1.3, 1.6, 0), (-2.0, 0.5, 0), (2.9, 0.9, 0)]:
        m = MECHANISMS['planar']()
        found = traced(m, {'end_goal': (goal, UNIT)}, method='sdls', max_iterations=1)
        e, jacobian = planar_rows(m.solver().q, goal)
        np.testing.assert_allclose(
            found.points[1].q - found.points[0].q, sdls_step(jacobian, e), atol=1e-9
        )


def test_sdls_comes_to_rest_at_unreachable_goal():
    """The arm is stretched towards it."""
    m = MECHANISMS['planar']()
    goals = {'end_goal': ((0, 4.0, 0), UNIT)}
    found = traced(m, goals, method='sdls', max_iterations=300)
    assert found.solution.goal_errors['end_goal'].position == pytest.approx(1.0, abs=1e-3)
    ends = np.array([point.position for point in found.points[-50:]])
    restless = np.array(
        [point.position for point in traced(m, goals, method='pseudo_inverse').points[-50:]]
    )
    assert np.ptp(ends) < 0.1 * np.ptp(restless)


def test_transpose_step_has_optimal_length():
    """With alpha = 0 no other multiple of J^T e is better."""
    m = MECHANISMS['planar']()
    goal = (1.3, 1.6, 0)
    found = traced(m, {'end_goal': (goal, UNIT)}, method='jacobian_transpose', max_iterations=1)
    e, jacobian = planar_rows(m.solver().q, goal)
    pulled = jacobian.T @ e
    step = found.points[1].q - found.points[0].q
    best = min(np.linspace(0, 1, 10001), key=lambda a: np.linalg.norm(e - a * jacobian @ pulled))
    np.testing.assert_allclose(step, best * pulled, atol=2e-4)


def test_fixed_alpha_scales_transpose_step():
    """Below the optimal length."""
    m = MECHANISMS['planar']()
    goal = (1.3, 1.6, 0)
    found = traced(
        m, {'end_goal': (goal, UNIT)}, method='jacobian_transpose', alpha=0.05, max_iterations=1
    )
    e, jacobian = planar_rows(m.solver().q, goal)
    np.testing.assert_allclose(
        found.points[1].q - found.points[0].q, 0.05 * jacobian.T @ e, atol=1e-12
    )


@pytest.mark.parametrize('goal', GOALS_OF_THE_DH_ARM)
@pytest.mark.parametrize('alpha', [0.05, radians(0.05), 0.0])
def test_dh_arm_reaches_goal_with_alpha_of_source(goal, alpha):
    """
    The position is met on an arm of thirty units, in [rad], in the source's degrees, by itself.

    The source adds 0.05 J^T e to angles in degrees, which is radians(0.05) here.
    """
    options = {'method': 'jacobian_transpose', 'alpha': alpha, 'max_iterations': 600}
    found = traced(dh_arm(), {'hand_goal': (goal, UNIT)}, **options)
    assert found.solution.status is Status.CONVERGED
    errors = np.array([point.position for point in found.points])
    assert errors[0] > 5.0
    assert errors[min(60, len(errors) - 1)] < 1.0


def test_dh_arm_distance_decreases_at_every_step():
    """In the source's degrees the distance falls at every step, and no joint jumps."""
    for goal in GOALS_OF_THE_DH_ARM:
        options = {'method': 'jacobian_transpose', 'alpha': radians(0.05), 'max_iterations': 600}
        found = traced(dh_arm(), {'hand_goal': (goal, UNIT)}, **options)
        errors = np.array([point.position for point in found.points])
        assert (np.diff(errors) < 0.0).all()
        steps = np.diff([point.q for point in found.points], axis=0)
        assert np.abs(steps).max() < 0.6


def test_transpose_meets_position_before_orientation():
    """For a whole pose, as the source notes."""
    m = dh_arm()
    m.goals['hand_goal'].set_goal_dof('X', 'Y', 'Z', 'EX', 'EY', 'EZ')
    q = m.solver().q + 0.1
    goals = {'hand_goal': m.pose_of('j5_link', m.solver().joint_names, q)}
    options = {'method': 'jacobian_transpose', 'alpha': 0.05, 'max_iterations': 200}
    options['characteristic_length'] = 1.0
    end = traced(m, goals, **options).points[-1]
    start = traced(m, goals, **options).points[0]
    assert end.position < 0.1 * start.position
    assert end.orientation / start.orientation > 2 * end.position / start.position


def test_joint_at_bound_is_fixed_and_the_other_does_its_part():
    """Of two joints with the same effect, the first is between its bounds or at one of them."""
    for at, wanted, step in [
        (0.0, 1.0, (0.5, 0.5)),
        (1.0, 1.0, (0.0, 1.0)),
        (1.0, -1.0, (-0.5, -0.5)),
        (-1.0, -1.0, (0.0, -1.0)),
        (-1.0, 1.0, (0.5, 0.5)),
    ]:
        here = SimpleNamespace(
            x=np.array([at, 0.0]),
            lower=np.array([-1.0, -1.0]),
            upper=np.array([1.0, 1.0]),
            locked=np.zeros(2, dtype=bool),
            free_ball=np.zeros(2, dtype=int),
            variable_count=2,
        )

        def shortest(rows, _):
            return np.linalg.pinv(rows.jacobian) @ rows.shortfall

        rows = Rows(np.array([wanted]), np.array([[1.0, 1.0]]), ())
        found = step_within_bounds(here, rows, shortest)
        np.testing.assert_allclose(found, step, atol=1e-15)
