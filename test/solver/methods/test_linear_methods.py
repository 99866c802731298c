"""pseudo_inverse, sdls and jacobian_transpose have the properties of their sources."""

from math import pi, radians

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
