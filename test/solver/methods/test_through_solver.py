"""Methods called by `Solver` and traced: values are written, loops closed, steps recorded."""

from ik_node.solver.methods import trace
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


def parts(name='arm6'):
    """Return a mechanism's tree and start, and a reachable goal."""
    m = MECHANISMS[name]()
    solver = m.solver()
    goals = {'hand_goal': m.pose_of('hand', solver.joint_names, solver.q + 0.1)}
    return m, solver.tree, solver.q, goals


def test_trace_begins_at_start_and_is_ordered():
    """Residuals belong to the q of each point."""
    for method in METHODS:
        m, tree, q, goals = parts()
        found = trace(tree, q, SolverOptions(method=method, max_iterations=12), goals)
        assert [point.iteration for point in found.points] == list(range(len(found.points)))
        assert found.points[0].q.tolist() == q.tolist()
        position, quat = goals['hand_goal']
        m.goals['hand_goal'].set_position(*position)
        m.goals['hand_goal'].set_quaternion(*quat)
        for point in found.points:
            there = m.naive(tree.names, point.q)
            moved, turned = there.residual(m.goals['hand_goal'])
            assert point.position == pytest.approx(np.linalg.norm(moved), abs=1e-9)
            assert point.orientation == pytest.approx(np.linalg.norm(turned), abs=1e-9)


def test_traced_answer_equals_solve_pose():
    """The traced answer is that of `Solver.solve_pose`."""
    m, tree, q, goals = parts()
    for method in METHODS:
        options = SolverOptions(method=method, restarts=0)
        watched = trace(tree, q, options, goals)
        solution = m.solver(options).solve_pose(goals, q)
        assert solution.q.tolist() == watched.solution.q.tolist()
        assert solution.iterations == watched.solution.iterations
