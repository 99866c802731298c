"""Copies and pickles of graphs, solvers, robots, prepared calls and answers."""

from copy import deepcopy
import pickle

from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS


def unpickled(things):
    """Return a copy made by pickling."""
    return pickle.loads(pickle.dumps(things))


@pytest.fixture(params=[deepcopy, unpickled])
def copy(request):
    """Return a copy function."""
    return request.param


def reached(name='arm6'):
    """Return a mechanism with reachable, unmet goals, and a solver."""
    m = MECHANISMS[name]().go_home()
    solver = m.solver()
    rng = np.random.default_rng(3)
    q = solver.solve_pose({}, m.random_q(solver.joint_names, rng, 0.1)).q
    for goal in m.goals.values():
        position, quat_xyzw = m.pose_of(goal.child.name, solver.joint_names, q)
        goal.set_position(*position)
        goal.set_quaternion(*quat_xyzw)
    return m, solver


@pytest.mark.parametrize('name', ['hexapod', 'coupled'])
def test_copied_solver_solves_for_copied_goals(copy, name):
    """It answers like the original and moves the copied joints."""
    m, solver = reached(name)
    before = solver.q
    solver.solve_pose({})
    copied_mechanism, copied = copy((m, solver))
    results = copied.solve()
    np.testing.assert_array_equal(solver.q, before)
    assert [r.goal_errors for r in results] == [r.goal_errors for r in solver.solve()]
    np.testing.assert_array_equal(copied.q, solver.q)
    assert {r.status for r in results} == {Status.CONVERGED}
    for goal in copied_mechanism.goals.values():
        goal.set_position(*(goal.position + 1e-3))
    copied.solve()
    assert (
        max(max(copied_mechanism.naive().error(goal)) for goal in copied_mechanism.goals.values())
        < 2e-6
    )


def test_copied_answer_is_equal(copy):
    """Names, reasons and numbers of a solve, a batch and its chains."""
    m, solver = reached()
    goals = {n: (goal.position, goal.quaternion + 0.0) for n, goal in m.goals.items()}
    far = {n: (position + 5.0, quat) for n, (position, quat) in goals.items()}
    for wanted in (goals, far):
        answer = solver.solve_pose(wanted)
        copied = copy(answer)
        assert (copied.message, copied.worst, copied.goal_errors) == (
            answer.message,
            answer.worst,
            answer.goal_errors,
        )
        assert copied.condition_number == answer.condition_number
        assert repr(copy(answer.chains)) == repr(answer.chains)
        many = {n: (position[None], quat[None]) for n, (position, quat) in wanted.items()}
        batch = solver.solve_batch(many)
        assert copy(batch)[0].message == batch[0].message


def test_copied_prepared_call_answers_like_the_original(copy):
    m, solver = reached()
    call = solver.prepare(list(m.goals))
    poses = [part for goal in m.goals.values() for part in (goal.position, goal.quaternion)]
    np.testing.assert_array_equal(copy(call)(*poses).q, call(*poses).q)
