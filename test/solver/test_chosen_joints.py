"""Solves with selected joints only: all other joints keep their exact values."""

from ik_node.errors import UnknownFrameError
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

FAR = ((3.0, 3.0, 3.0), (0, 0, 0, 1))
CASES = {
    'arm7': ('j2', 'j4', 'j6', 'j7'),
    'ball_limited': ('wrist', 'shoulder.EY'),
    'free_body': ('float.X', 'float.EZ', 'a2'),
    'coupled': ('k1',),
    'snake': ('s3', 's8', 's9', 's20', 's21'),
}


def moving(solver, chosen):
    """Return which values of q are selected."""
    picked = [name in chosen or name.partition('.')[0] in chosen for name in solver.joint_names]
    return np.array(picked)


def following(m, solver):
    """Return which values of q follow others."""
    return np.array([bool(m.joints[n.partition('.')[0]].couplings) for n in solver.joint_names])


def test_selected_joints_reach_pose_by_themselves():
    """A pose that the chosen joints alone can reach is reached by them alone."""
    for name in CASES:
        m = MECHANISMS[name]()
        solver, rng = m.solver(), np.random.default_rng(1)
        chosen = CASES[name]
        free, q0 = moving(solver, chosen), solver.q
        held = ~(free | following(m, solver))
        for _ in range(10):
            q = np.where(free, m.random_q(solver.joint_names, rng, 0.5), q0)
            goals = {
                key: m.pose_of(goal.child.name, solver.joint_names, q)
                for key, goal in m.goals.items()
            }
            solution = solver.solve_pose(goals, q0, joints=chosen)
            assert solution.status is Status.CONVERGED, solution.message
            np.testing.assert_array_equal(solution.q[held], q0[held])
            there = m.naive(solver.joint_names, solution.q)
            for key, goal in m.goals.items():
                assert max(there.error(goal, goals[key])) <= 1e-6
            assert there.limit_excess() <= 0.0
            assert there.coupling_gap() <= 1e-12


def test_selected_joints_approach_unreachable_goal():
    """No other joint moves, also when values are written to objects."""
    for name in CASES:
        m = MECHANISMS[name]()
        solver = m.solver(SolverOptions(restarts=3))
        chosen = CASES[name]
        for joint in m.joints.values():
            for dof in joint.dof:
                joint.set_rest_pose_value(dof, 0.3)
        free, q0 = moving(solver, chosen), solver.q
        held = ~(free | following(m, solver))
        solution = solver.solve_pose(dict.fromkeys(m.goals, FAR), q0, joints=iter(chosen))
        assert solution.status is not Status.CONVERGED
        np.testing.assert_array_equal(solution.q[held], q0[held])
        assert (solution.q != q0).any()
        for goal in m.goals.values():
            goal.set_position(*FAR[0])
        results = solver.solve(joints=chosen)
        assert max(result.status for result in results) is not Status.CONVERGED
        np.testing.assert_array_equal(solver.q[held], q0[held])


def test_loops_stay_closed_with_unselected_joints_fixed():
    """A distant goal pulls; fixed joints do not move."""
    for name, held in [('hexapod', ['p0']), ('fivebar', ['r1', 'r2']), ('two_arm_box', ['l2'])]:
        m = MECHANISMS[name]()
        solver = m.solver(SolverOptions(restarts=3))
        q0 = solver.solve_pose({}).q
        chosen = [joint for joint in m.joints if joint not in held and m.joints[joint].dof]
        solution = solver.solve_pose(dict.fromkeys(m.goals, FAR), q0, joints=chosen)
        assert solution.status is Status.STALLED
        there = m.naive(solver.joint_names, solution.q)
        assert max(max(there.error(closure)) for closure in m.closures.values()) <= 1e-6
        stands = ~moving(solver, chosen)
        np.testing.assert_array_equal(solution.q[stands], q0[stands])


def test_unknown_selected_joint_is_named_and_nothing_moves():
    """The error names the joint."""
    for names in [['j1', 'nobody'], ['hand']]:
        m = MECHANISMS['arm6']()
        solver = m.solver()
        q0 = solver.q
        with pytest.raises(UnknownFrameError, match=rf"no joint named '{names[-1]}'; known: .*j1"):
            solver.solve(joints=names)
        with pytest.raises(UnknownFrameError, match=names[-1]):
            solver.solve_pose({'hand_goal': FAR}, joints=names)
        np.testing.assert_array_equal(solver.q, q0)
