"""`Solver.step` makes one iteration of a solve."""

from ik_node.solver.methods import trace
from ik_node.solver.options import METHODS, SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

MANY = 200


def steps(solver):
    """Step until the end; return each step's result and q."""
    found = []
    for _ in range(MANY):
        results = solver.step()
        found.append((results, solver.q))
        if all(result.status is not Status.TIMEOUT for result in results):
            return found
    raise AssertionError('no end')


def test_steps_end_at_answer_of_solve():
    """With the same number of iterations."""
    for name in ['fourbar', 'two_arms', 'coupled']:
        m = MECHANISMS[name]().go_home()
        solver, rng = m.solver(SolverOptions(restarts=0)), np.random.default_rng(2)
        home = solver.q
        near = np.clip(home + rng.uniform(-0.1, 0.1, home.size), *limits(m, solver))
        solver.q = near
        solver.solve_pose({})
        place(m)
        solver.q = home
        wanted = solver.solve()
        answer = solver.q
        solver.q = home
        found = steps(solver)
        last, q = found[-1]
        assert [r.status for r in last] == [r.status for r in wanted]
        assert [r.iterations for r in last] == [r.iterations for r in wanted]
        np.testing.assert_array_equal(q, answer)
        assert max(r.iterations for r in wanted) >= len(found) - 1 > 0


def place(mechanism):
    """Place every goal at its link."""
    for goal in mechanism.goals.values():
        position, quat = mechanism.pose_of(goal.child.name)
        goal.set_position(*position)
        goal.set_quaternion(*quat)


def limits(mechanism, solver):
    """Return the limits of all values."""
    owner = solver.tree.owner
    return (
        np.array([j.min_dof_limit[d] for j, d in owner]),
        np.array([j.max_dof_limit[d] for j, d in owner]),
    )


def test_step_reports_residuals_of_its_q():
    """By the oracle, including rejected steps."""
    m = MECHANISMS['arm6']()
    (goal,) = m.goals.values()
    goal.set_position(3.0, 0.0, 0.0)  # out of reach: steps are rejected
    solver = m.solver()
    for _ in range(40):
        (result,) = solver.step()
        position, orientation = m.naive().error(goal)
        assert result.goal_errors[goal.name].position == pytest.approx(position, abs=1e-12)
        assert result.goal_errors[goal.name].orientation == pytest.approx(orientation, abs=1e-9)


def test_step_restarts_when_goal_moves():
    """Also after the solve had ended."""
    m = MECHANISMS['arm6']()
    (goal,) = m.goals.values()
    place(m)
    solver = m.solver()
    steps(solver)
    goal.set_position(*np.add(goal.position, (0.0, 0.05, 0.02)))
    found = steps(solver)
    assert found[-1][0][0].status is Status.CONVERGED
    assert m.naive().error(goal)[0] < 1e-6


def test_steps_never_jump_to_random_start():
    """For any options."""
    m = MECHANISMS['arm7']()
    (goal,) = m.goals.values()
    goal.set_position(5.0, 0.0, 0.0)
    solver = m.solver(SolverOptions(restarts=100))
    for results, _ in steps(solver):
        assert [result.starts for result in results] == [1]


@pytest.mark.parametrize('method', METHODS[1:])
def test_steps_of_method_equal_iterates_of_its_solve(method):
    """Call k leaves the joints at iterate k, and the last one at the answer."""
    m = MECHANISMS['planar']()
    (goal,) = m.goals.values()
    place(m)
    goal.set_position(*np.add(goal.position, (-0.2, 0.3, 0.0)))
    solver = m.solver(SolverOptions(method=method, max_iterations=30))
    whole, points = trace(solver.tree, solver.q, solver.options)
    assert len(points) > 3
    for point in points[1:-1]:
        (result,) = solver.step()
        assert (result.status, result.iterations) == (Status.TIMEOUT, point.iteration)
        np.testing.assert_allclose(solver.q, point.q, atol=1e-12)
    (last,) = solver.step()
    assert (last.status, last.iterations) == (whole.status, whole.iterations)
    np.testing.assert_allclose(solver.q, whole.q, atol=1e-12)
