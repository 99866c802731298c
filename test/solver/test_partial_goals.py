"""Goals on some axes of the world, goal or link, with offsets, and on links."""

from itertools import combinations

from ik_node.model.rotation import quat_from_euler
from ik_node.solver.status import Status
import numpy as np
from support.mechanisms import MECHANISMS

ALL = ('X', 'Y', 'Z', 'EX', 'EY', 'EZ')
MASKS = [mask for count in (1, 2, 3, 4, 5, 6) for mask in combinations(ALL, count)]
AXES = ('world', 'goal', 'link')


def test_every_axis_subset_is_reached():
    """All 63 subsets, each from its own start, to 1e-6 by the oracle."""
    for axes in AXES:
        m = MECHANISMS['arm7']()
        goal, rng = m.goals['hand_goal'], np.random.default_rng(13)
        goal.axes = axes
        for mask in MASKS:
            goal.set_goal_dof(*mask)
            solver = m.solver()
            wanted = m.pose_of('hand', solver.joint_names, m.random_q(solver.joint_names, rng, 9))
            solution = solver.solve_pose(
                {'hand_goal': wanted}, m.random_q(solver.joint_names, rng, 9)
            )
            assert solution.status is Status.CONVERGED, mask
            there = m.naive(solver.joint_names, solution.q)
            assert max(there.error(goal, wanted)) <= 1e-6, mask
            assert there.limit_excess() <= 0.0


def test_free_axis_is_that_of_named_frame():
    """Only the component along x of this frame differs from zero."""
    for axes in AXES:
        m = MECHANISMS['arm7']()
        goal = m.goals['hand_goal']
        goal.axes = axes
        goal.set_goal_dof('Y', 'Z', 'EX', 'EY', 'EZ')
        wanted = (np.array((0.45, 0.2, 0.5)), quat_from_euler(0.3, 1.9, 0.4))
        solver = m.solver()
        solution = solver.solve_pose({'hand_goal': wanted})
        assert solution.status is Status.CONVERGED
        a, b = m.naive(solver.joint_names, solution.q).ends(goal, wanted)
        counting = {'world': np.eye(3), 'goal': b[:3, :3], 'link': a[:3, :3]}[axes]
        gap = counting.T @ (a[:3, 3] - b[:3, 3])
        assert np.abs(gap[1:]).max() <= 1e-6
        assert abs(gap[0]) > 1e-3


def test_goal_in_frame_of_moving_hand_is_met():
    """A third goal moves that hand."""
    for axes in AXES:
        m = MECHANISMS['relative']()
        m.goals['hold'].axes = axes
        m.goal('left', 'l_hand', 'X Y Z')
        solver = m.solver()
        hold = (m.goals['hold'].position, m.goals['hold'].quaternion)
        holding = solver.solve_pose({'hold': hold}, np.linspace(-0.3, 0.3, 11)).q
        goals = {'left': m.pose_of('l_hand', solver.joint_names, holding), 'hold': hold}
        solution = solver.solve_pose(goals)
        assert solution.status is Status.CONVERGED, solution.message
        there = m.naive(solver.joint_names, solution.q)
        for name, wanted in goals.items():
            assert max(there.error(m.goals[name], wanted)) <= 1e-6


def test_closure_joint_with_free_axis_equals_pin_link():
    """A weld to a pin link, and a pin on the closure joint, have the same answers."""
    welded, pinned = MECHANISMS['fourbar'](), MECHANISMS['fourbar_pinned']()
    for crank in np.linspace(0.4, 2.6, 9):
        closed = pinned.solver()
        q0 = closed.q + np.array((crank - 1.5, 0.05, -0.05, 0.1))
        pen = pinned.pose_of('pen', closed.joint_names, closed.solve_pose({}, q0).q)
        answers = [m.solver().solve_pose({'pen_goal': pen}) for m in (welded, pinned)]
        assert all(answer.status is Status.CONVERGED for answer in answers)
        np.testing.assert_allclose(answers[0].q, answers[1].q, atol=1e-5)
