"""A traced solve: every iteration in order, and the untraced answer."""

from ik_node.errors import ShapeError, UnknownFrameError
from ik_node.solver.options import METHODS, SolverOptions
from ik_node.solver.stepping import trace
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)


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
    """The answer is the same unwatched, and that of `Solver.solve_pose`."""
    m, tree, q, goals = parts()
    for method in METHODS:
        options = SolverOptions(method=method, restarts=0)
        watched = trace(tree, q, options, goals)
        unwatched = trace(tree, q, options, goals, watched=False)
        assert unwatched.points == ()
        assert watched.solution.q.tolist() == unwatched.solution.q.tolist()
        assert watched.solution.status is unwatched.solution.status
        solution = m.solver(options).solve_pose(goals, q)
        assert solution.q.tolist() == watched.solution.q.tolist()
        assert solution.iterations == watched.solution.iterations


def test_trace_refuses_unknown_goal_and_invalid_pose():
    """A pose for no goal, and one that is none, are refused."""
    _, tree, q, _ = parts()
    with pytest.raises(UnknownFrameError, match=r"'foot'.*hand_goal"):
        trace(tree, q, SolverOptions(), {'foot': ((0, 0, 0), UNIT)})
    with pytest.raises(ShapeError, match='hand_goal'):
        trace(tree, q, SolverOptions(), {'hand_goal': ((0, 0), UNIT)})


def test_trace_ignores_disabled_goals():
    """As in a solve."""
    m, _, q, _ = parts()
    m.goals['hand_goal'].set_position(9, 9, 9)
    m.goals['hand_goal'].enabled = False
    found = trace(m.solver().tree, q, SolverOptions(method='sdls'))
    assert found.solution.chains == ()
    assert found.solution.q.tolist() == q.tolist()
