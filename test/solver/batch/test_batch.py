"""`solve_batch` returns the answers of single solves for any number of threads."""

from dataclasses import replace

from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.batch_cases import batch_of, one_by_one, same
from support.mechanisms import MECHANISMS

QUICK = SolverOptions(restarts=2, max_iterations=40)


@pytest.mark.parametrize('name', MECHANISMS)
def test_batch_equals_single_solves(name):
    """Reachable and unreachable goals, on one and three threads."""
    _, solver, goals, starts = batch_of(name)
    solver.options = QUICK
    singles = one_by_one(solver, goals, starts)
    for threads in (1, 3):
        same(solver.solve_batch(goals, starts, threads=threads), singles)


def test_batch_without_goals_closes_loops_from_every_start():
    """Without goals the loops are closed from every start."""
    _, solver, _, starts = batch_of('fivebar')
    batch = solver.solve_batch({}, starts)
    assert len(batch) == len(starts)
    for n, start in enumerate(starts):
        np.testing.assert_array_equal(batch.q[n], solver.solve_pose({}, start).q)
    assert max(np.max(error.position) for error in batch.closure_errors.values()) < 1e-6


def test_batch_window_applies_to_each_start_and_followers():
    """The window lies around each start, and binds joints that others follow."""
    for name, what in [('coupled', 'window'), ('walker', 'option'), ('ball_limited', 'joints')]:
        _, solver, goals, starts = batch_of(name)
        solver.options = QUICK
        chosen = {}
        if what == 'window':
            chosen['max_step'] = np.linspace(0.0, 0.2, starts.shape[1])
        elif what == 'joints':
            chosen['joints'] = solver.joint_names[::2]
        else:
            solver.options = replace(QUICK, max_joint_step=0.1)
        same(
            solver.solve_batch(goals, starts, **chosen),
            one_by_one(solver, goals, starts, **chosen),
        )


def test_batch_uses_targets_rest_poses_and_locks():
    """Targets, rest poses and locked joints count, of joints that nothing else moves, too."""
    for name in ['arm7', 'coupled', 'ball_limited', 'two_arms', 'hexapod']:
        m, solver, goals, starts = batch_of(name)
        for k, joint in enumerate(m.joints.values()):
            wished = [0.1 * k - 0.3] * len(joint.dof)
            if k % 4 == 0:
                joint.set_target_values(*wished)
            elif k % 4 == 1:
                joint.lock()
            else:
                joint.set_rest_pose_values(*wished)
        solver.options = QUICK
        same(solver.solve_batch(goals, starts), one_by_one(solver, goals, starts))


def test_batch_moves_joints_outside_chains_to_targets():
    """From every start, within the window, and from starts beyond a limit."""
    m, solver, goals, starts = batch_of('two_arms')
    name = list(m.goals)[1]
    m.goals[name].enabled = False
    other = {key: poses for key, poses in goals.items() if key != name}
    joint = list(m.joints.values())[-2]
    joint.set_target_values(0.7)
    for most in (9.0, 0.1):  # with the smaller limit some starts are beyond it
        joint.set_max_limits(most)
        for chosen in ({}, {'max_step': np.full(starts.shape[1], 0.05)}):
            batch = solver.solve_batch(other, starts, **chosen)
            same(batch, one_by_one(solver, other, starts, **chosen))


def test_batch_without_problems_or_joints_is_no_error():
    """A goal that nothing moves, or no problem at all, is no error."""
    m, solver, goals, starts = batch_of('arm6')
    none = {name: (p[:0], r[:0]) for name, (p, r) in goals.items()}
    empty = solver.solve_batch(none, progress=lambda done, total: None)
    assert (len(empty), empty.q.shape) == (0, (0, starts.shape[1]))
    assert list(empty) == []
    assert empty.message == 'CONVERGED: all 0'
    for joint in m.joints.values():
        joint.lock()
    same(solver.solve_batch(goals, starts), one_by_one(solver, goals, starts))


def test_time_budget_applies_to_each_problem():
    """Unreachable problems end as TIMEOUT with closed loops."""
    _, solver, goals, starts = batch_of('hexapod', far=3.0)
    solver.options = SolverOptions(time_budget=1e-7, restarts=1000)
    batch = solver.solve_batch(goals, starts)
    assert (batch.status[2::3] == Status.TIMEOUT).all()
    assert (batch.iterations < 1000).all()
    assert max(np.max(error.position) for error in batch.closure_errors.values()) < 1e-6
