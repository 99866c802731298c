"""dls in Python: its formula and null-space steps, compared with the compiled solver."""

from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS
from support.source_arms import planar_rows, traced, UNIT

GOAL = (1.3, 1.6, 0)


def check_step(change, atol, **options):
    """Compare a step with fixed damping with the formula, for the rows of `change`."""
    m = MECHANISMS['planar']()
    options |= {'adaptive_damping': False, 'damping_factor': 0.3, 'max_iterations': 1}
    options['characteristic_length'] = 1.0
    found = traced(m, {'end_goal': (GOAL, UNIT)}, **options)
    e, jacobian = change(*planar_rows(m.solver().q, GOAL))
    wanted = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 0.09 * np.eye(2), e)
    np.testing.assert_allclose(found.solution.q - m.solver().q, wanted, atol=atol)


@pytest.mark.parametrize('use_svd', [True, False])
def test_step_equals_damped_least_squares_formula(use_svd):
    """J^T (J J^T + lambda^2 I)^-1 e, by both computations."""
    options = {'use_svd': use_svd, 'jacobian': 'numeric', 'rotation_step': 1e-8}
    check_step(lambda e, jacobian: (e, jacobian), 1e-7, **options)


def test_factors_and_weights_scale_rows_of_step():
    """Rows are weighted in shortfall and Jacobian alike."""
    check_step(
        lambda e, jacobian: (2.0 * e, 2.0 * jacobian), 1e-9, use_svd=True, translation_factor=2.0
    )


def test_python_dls_ends_at_answer_of_compiled_dls():
    """From nearby starts all variants reach the same residuals, and unique answers."""
    for name in ['arm6', 'planar', 'fourbar', 'hexapod', 'coupled']:
        m = MECHANISMS[name]()
        names, q = m.solver().joint_names, m.solver().q
        q = q + 0.05 * (m.random_q(names, np.random.default_rng(0)) - q)
        q = m.solver().solve_pose({}, q).q if m.closures else q
        goals = {g: m.pose_of(goal.child.name, names, q) for g, goal in m.goals.items()}
        answers = [
            traced(m, goals, restarts=0, **more).solution
            for more in ({}, {'use_svd': True}, {'jacobian': 'numeric'})
        ]
        assert {answer.status for answer in answers} == {Status.CONVERGED}
        if name != 'planar':
            for answer in answers[1:]:
                np.testing.assert_allclose(answer.q, answers[0].q, atol=1e-4)


def test_fixed_damping_overshoot_is_diverged_and_rejected():
    """The arm swings past a goal far away: the error grows, and the step is taken back."""
    m = MECHANISMS['planar']()
    goals = {'end_goal': ((-2.0, 1.0, 0), UNIT)}
    fixed = {'adaptive_damping': False, 'damping_factor': 0.1, 'characteristic_length': 1.0}
    found = traced(m, goals, use_svd=True, **fixed)
    assert found.solution.status is Status.DIVERGED
    np.testing.assert_allclose(found.points[-1].q, found.points[-2].q, atol=1e-12)
    allowed = traced(m, goals, use_svd=True, diverge_threshold=9.0, **fixed)
    assert allowed.solution.status is Status.CONVERGED
    assert traced(m, goals, use_svd=True).solution.status is Status.CONVERGED


WAYS = ({'use_svd': True}, {'jacobian': 'numeric'}, {'method': 'pseudo_inverse'})


@pytest.mark.parametrize('way', WAYS)
def test_python_dls_approaches_rest_pose_like_compiled_dls(way):
    """With the goal met."""
    m = MECHANISMS['planar']()
    goals = {'end_goal': ((1.3, 1.6, 0), UNIT)}
    rest = {'p1': 0.1, 'p2': 0.9, 'p3': 0.2}
    for name, value in rest.items():
        m.joints[name].set_rest_pose_values(value)
        m.joints[name].rest_pose_set = True
    q0 = np.array([0.0, 0.9, 0.9])
    found = traced(m, goals, q0, **way).solution
    best = m.solver(SolverOptions(restarts=0)).solve_pose(goals, q0)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.q, best.q, atol=2e-3)
    without = traced(m, goals, q0, rest_pose_factor=0.0, **way).solution
    assert np.abs(without.q - best.q).max() > 0.1


def test_rest_pose_of_free_ball_is_approached_on_so3():
    """The rest pose of a ball without limits is approached on SO(3)."""
    m = MECHANISMS['ball']()
    m.joints['shoulder'].set_rest_pose_values(0.3, 0.1, 0.2)
    m.joints['shoulder'].rest_pose_set = True
    goals = {'hand_goal': m.pose_of('hand')}
    found = traced(m, goals, use_svd=True).solution
    best = m.solver(SolverOptions(restarts=0)).solve_pose(goals)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.q, best.q, atol=5e-3)
