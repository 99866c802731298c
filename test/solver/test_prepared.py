"""`prepare` returns calls with the answers of `solve_pose`, and detects every change."""

from dataclasses import replace

from ik_node.errors import ShapeError
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

UNIT = np.array([0.0, 0.0, 0.0, 1.0])
NAN = float('nan')


class Prepared:
    """A mechanism, its solver, goal poses at other values, and the prepared call."""

    def __init__(self, name, options=None, share=1.0):
        self.m = MECHANISMS[name]()
        self.solver = self.m.solver(options)
        q = self.m.random_q(self.solver.joint_names, np.random.default_rng(2), share)
        poses = [
            self.m.pose_of(goal.child.name, self.solver.joint_names, q)
            for goal in self.m.goals.values()
        ]
        self.names = list(self.m.goals)
        self.at = np.array([position for position, _ in poses])
        self.turned = np.array([quat for _, quat in poses])
        self.call = self.solver.prepare(self.names)
        self.q0 = self.solver.q

    def same(self):
        """Compare with `solve_pose` bit by bit, and return the answer."""
        found = self.call(self.at, self.turned, self.q0)
        goals = dict(zip(self.names, zip(self.at, self.turned, strict=True), strict=True))
        wanted = self.solver.solve_pose(goals, self.q0)
        assert found.q.tobytes() == wanted.q.tobytes()
        assert (found.status, found.iterations) == (wanted.status, wanted.iterations)
        assert (found.starts, found.goal_errors) == (wanted.starts, wanted.goal_errors)
        assert (found.closure_errors, found.message) == (wanted.closure_errors, wanted.message)
        return found


@pytest.fixture
def arm():
    """Return a prepared 7R arm."""
    return Prepared('arm7')


def test_prepared_call_equals_solve_pose():
    """For arms and loops, one and two chains, with and without couplings."""
    for name in ['hexapod', 'coupled', 'two_arms', 'walker']:
        Prepared(name, share=0.1).same()


def held(name, share=0.05):
    """Return a solver, a start with its first joint moved, and the names of all other joints."""
    m = MECHANISMS[name]()
    solver = m.solver(SolverOptions(restarts=0))
    q = m.random_q(solver.joint_names, np.random.default_rng(3), share)
    start = solver.q
    start[0] = q[0]
    return solver, start, solver.joint_names[1:]


def test_prepared_call_closes_loops_around_fixed_joints():
    """The bits equal those of `solve_pose`, and fixed joints do not move."""
    for name in ['coupled', 'fourbar', 'hexapod']:
        solver, start, free = held(name)
        found = solver.prepare([], joints=free)(q0=start)
        wanted = solver.solve_pose({}, start, joints=free)
        assert found.q.tobytes() == wanted.q.tobytes()
        assert (found.status, found.iterations) == (wanted.status, wanted.iterations)
        assert found.condition_number == wanted.condition_number
        assert found.q[0] == start[0]
        assert found.status is Status.CONVERGED


def test_solution_does_not_change_with_next_call(arm):
    """Its numbers are copies, although names are looked up on demand."""
    first = arm.call(arm.at, arm.turned, arm.q0)
    q = first.q.copy()
    last = arm.call(arm.at + 9.0, arm.turned, arm.q0)
    assert last.status is not Status.CONVERGED
    assert first.status is Status.CONVERGED
    assert first.goal_errors['hand_goal'].position < 1e-6
    np.testing.assert_array_equal(first.q, q)


def test_prepared_call_uses_changed_limits_locks_and_targets(arm):
    """Changes after `prepare` apply to the next call."""
    joint = next(iter(arm.m.joints.values()))
    (dof,) = joint.dof
    start = arm.q0[0]
    joint.set_limits(dof, start - 0.01, start + 0.01)
    assert abs(arm.same().q[0] - start) <= 0.01
    joint.set_limits(dof, -3.0, 3.0)
    joint.locked = [True] * 6
    assert arm.same().q[0] == arm.q0[0]
    joint.locked = [False] * 6
    joint.set_target_values(0.3)
    arm.same()


def test_prepared_call_uses_changed_options(arm):
    """Also options that the fast path does not support, and back."""
    for change in [
        {'max_iterations': 3, 'restarts': 0},
        {'max_joint_step': 0.01},
        {'method': 'sdls'},
        {'start_outside': 'clamp'},
    ]:
        first = arm.same()
        arm.solver.options = replace(arm.solver.options, **change)
        arm.same()
        arm.solver.options = SolverOptions()
        assert arm.same().q.tobytes() == first.q.tobytes()


def test_prepared_call_names_bad_argument(arm):
    """Shapes, NaN and zero quaternions; the next call works."""
    for at, turned, q0, words in [
        (np.zeros((0, 3)), UNIT, None, 'positions'),
        ([['x', 'y', 'z']], UNIT, None, 'positions'),
        (np.zeros(3), np.zeros((4, 1)), None, 'quats_xyzw'),
        (np.zeros(3), np.zeros(4), None, 'zero'),
        (np.array([0.0, NAN, 0.0]), UNIT, None, 'finite'),
        (np.zeros(3), UNIT, np.zeros(6), 'q'),
        (np.zeros(3), UNIT, np.full(7, NAN), 'finite'),
    ]:
        wanted = arm.same()
        with pytest.raises(ShapeError, match=words):
            arm.call(at, turned, q0)
        assert arm.same().q.tobytes() == wanted.q.tobytes()
