"""Methods called by `Solver`: values are written, loops closed, steps made."""

from ik_node.errors import OptionError
from ik_node.solver.options import METHODS, SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

CLOSED_METHODS = [name for name in METHODS if name != 'ccd']


@pytest.mark.parametrize('method', CLOSED_METHODS)
@pytest.mark.parametrize('name', ['fivebar', 'two_arm_box'])
def test_solver_closes_loops_after_every_method(name, method):
    """Within limits, for any outcome."""
    m = MECHANISMS[name]()
    solver = m.solver(SolverOptions(method=method, max_iterations=40))
    goals = {
        goal: (position + np.array([0.9, -0.4, 0.7]), quat)
        for goal, (position, quat) in ((n, m.pose_of(g.child.name)) for n, g in m.goals.items())
    }
    solution = solver.solve_pose(goals)
    assert solution.status is not Status.CONVERGED
    there = m.naive(solver.joint_names, solution.q)
    assert there.limit_excess() <= 0.0
    for closure in m.closures.values():
        assert max(np.linalg.norm(part) for part in there.residual(closure)) <= 1e-6
    for errors in solution.closure_errors.values():
        assert max(errors) <= 1e-6


def test_solve_by_method_writes_values_to_joints():
    """`solve` leaves the arm where the result says."""
    for method in METHODS:
        m = MECHANISMS['arm7']()
        m.goals['hand_goal'].set_goal_dof('X', 'Y', 'Z')
        m.goals['hand_goal'].set_position(0.3, 0.4, 0.6)
        (result,) = m.solver(SolverOptions(method=method, max_iterations=400)).solve()
        assert result.status is Status.CONVERGED
        assert result.starts == 1
        np.testing.assert_allclose(m.pose_of('hand')[0], (0.3, 0.4, 0.6), atol=1.1e-6)


def test_refused_method_moves_nothing():
    """On a closed chain ccd raises before anything has moved."""
    m = MECHANISMS['fourbar']()
    q = m.solver().q
    with pytest.raises(OptionError, match='would not stay closed'):
        m.solver(SolverOptions(method='ccd')).solve()
    assert m.solver().q.tolist() == q.tolist()


def test_changed_method_applies_to_next_solve():
    """Every solve reads the options."""
    m = MECHANISMS['arm7']()
    solver = m.solver()
    goals = {'hand_goal': m.pose_of('hand', solver.joint_names, solver.q + 0.1)}
    counted = []
    for method in ('dls', 'jacobian_transpose', 'dls'):
        solver.options = SolverOptions(method=method)
        counted.append(solver.solve_pose(goals).iterations)
    assert counted[0] == counted[2] < counted[1]


def test_methods_keep_couplings():
    """Followers have the values of their polynomials."""
    for method in METHODS:
        m = MECHANISMS['coupled']()
        solver = m.solver(SolverOptions(method=method))
        target = m.random_q(solver.joint_names, np.random.default_rng(5), 0.5)
        pose = m.pose_of('tool', solver.joint_names, target)
        solution = solver.solve_pose({'tool_goal': pose})
        there = m.naive(solver.joint_names, solution.q, follow=False)
        assert there.coupling_gap() <= 1e-12
