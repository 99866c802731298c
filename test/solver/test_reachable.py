"""Reachable goals are reached on every mechanism, with the requested precision."""

from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
from support.building import split
from support.mechanisms import MECHANISMS


def reachable(mechanism, solver, rng, spread=0.4):
    """Draw values, close the loops from there, and return goal poses of that configuration."""
    q = mechanism.random_q(solver.joint_names, rng, spread)
    for _ in range(20):
        closed = solver.solve_pose({}, q)
        if closed.status is Status.CONVERGED:
            break
        q = mechanism.random_q(solver.joint_names, rng, spread)
    there = mechanism.naive(solver.joint_names, closed.q, follow=True)
    assert there.limit_excess() <= 0.0
    poses = {}
    for name, goal in mechanism.goals.items():
        a, _ = there.ends(goal)
        above = np.eye(4) if goal.parent is None else there.world(goal.parent)
        poses[name] = split(np.linalg.inv(above) @ a)
    return poses


def judge(mechanism, solver, solution, goals, asked):
    """Verify loops, goals, limits and couplings of an answer by the oracle."""
    assert solution.status is Status.CONVERGED, solution.message
    there = mechanism.naive(solver.joint_names, solution.q)
    for name, closer in there.closers.items():
        moved, turned = there.error(closer, goals.get(name))
        assert moved <= asked + 1e-12, name
        assert turned <= asked + 1e-12, name
    assert there.limit_excess() <= 0.0
    assert there.coupling_gap() <= 1e-12


def test_reachable_goals_are_reached():
    """Ten poses of valid configurations, from home, to 1e-6."""
    for name in MECHANISMS:
        m = MECHANISMS[name]()
        solver, rng = m.solver(), np.random.default_rng(21)
        for _ in range(10):
            goals = reachable(m, solver, rng)
            judge(m, solver, solver.solve_pose(goals), goals, 1e-6)


def test_thresholds_of_1e_12_are_met_by_arm():
    """Even 1e-12 is met on an arm of a metre."""
    m = MECHANISMS['arm6']()
    finest = SolverOptions(translation_converge_threshold=1e-12, rotation_converge_threshold=1e-12)
    solver = m.solver(finest)
    goals = reachable(m, solver, np.random.default_rng(3))
    judge(m, solver, solver.solve_pose(goals), goals, 1e-12)


def test_solve_writes_values_to_joints():
    """There is one result per chain, and goals do not change."""
    m = MECHANISMS['two_arms']()
    solver = m.solver()
    goals = reachable(m, solver, np.random.default_rng(6))
    for name, (position, quaternion) in goals.items():
        m.goals[name].set_position(*position)
        m.goals[name].set_quaternion(*quaternion)
    results = solver.solve()
    assert [result.status for result in results] == [Status.CONVERGED] * 2
    there = m.naive()
    assert all(max(there.error(goal)) <= 1e-6 for goal in m.goals.values())
    np.testing.assert_array_equal(solver.q, [j.dof_values[5] for j in m.joints.values() if j.dof])
    assert [result.iterations for result in solver.solve()] == [0, 0]
