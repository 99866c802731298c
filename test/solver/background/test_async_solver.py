"""Background solver: same answers, immediate stop, newest request, changed options, errors."""

from concurrent.futures import CancelledError, wait
import threading

from ik_node.errors import OptionError, TopologyError
from ik_node.native import is_compiled
from ik_node.solver.background import SolveJob
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.async_cases import ENDLESS, FAR, FAR_OF, out_of_reach, reachable, values, workers
from support.mechanisms import MECHANISMS
from support.waiting import PATIENCE, wait_until

# -- the answer


@pytest.mark.parametrize(
    ('name', 'far'), [('arm6', False), ('hexapod', True), ('two_arms', True), ('coupled', False)]
)
def test_background_answer_equals_solver(make_async, name, far):
    """Status, steps, residuals, q and joints, to the last bit."""
    here, there = MECHANISMS[name](), MECHANISMS[name]()
    options = SolverOptions(restarts=2)
    for m in (here, there):
        for goal in m.goals.values():
            position, quat = m.pose_of(goal.child.name)
            goal.set_position(*(position + ((2, 1, -3) if far else (0.02, -0.03, 0.01))))
            goal.set_quaternion(*quat)
    wanted = there.solver(options).solve()
    solver = make_async(here.roots, options)
    results = solver.solve(until_done=False).result(PATIENCE)
    same = ('status', 'iterations', 'starts', 'goal_errors', 'closure_errors', 'active_limits')
    assert len(results) == len(wanted)
    for one, other in zip(results, wanted, strict=True):
        assert [getattr(one, n) for n in same] == [getattr(other, n) for n in same]
    np.testing.assert_array_equal(solver.q, values(there))
    np.testing.assert_array_equal(values(here), values(there))
    assert solver.joint_names == there.solver().joint_names
    assert solver.results == results
    assert not solver.running


def test_results_write_joints_in_calling_thread_once(make_async):
    """The thread that reads `results` writes all joints, once."""
    m = MECHANISMS['hexapod']()
    m.goals['pose'].set_position(0.05, -0.03, 0.58)
    solver, before = make_async(m.roots), values(m)
    assert not solver.results_ready
    assert solver.results == []
    np.testing.assert_array_equal(solver.q, before)
    future = solver.solve()
    assert wait([future], PATIENCE).done == {future}
    assert not solver.running
    np.testing.assert_array_equal(values(m), before)
    assert np.abs(solver.q - before).max() > 0.01
    assert solver.results_ready
    np.testing.assert_array_equal(values(m), solver.q)
    assert solver.results_ready  # until they are looked at
    assert solver.results[0].status is Status.CONVERGED
    assert not solver.results_ready
    np.testing.assert_array_equal(values(m), solver.q)
    joint = next(joint for joint in m.joints.values() if joint.dof)
    joint.set_dof_values(*np.zeros(len(joint.dof)))
    here = values(m)
    future.result()
    _ = solver.results
    np.testing.assert_array_equal(values(m), here)


def test_callback_gets_results_without_writing_joints(make_async):
    """A callback runs in the worker: it gets the results, and the joints stay."""
    m = MECHANISMS['arm6']()
    reachable(m, 2)
    solver, before, seen = make_async(m.roots), values(m), []
    called = threading.Event()

    def callback(done):
        seen.extend([done.result(), threading.current_thread() in workers(), values(m)])
        called.set()

    solver.update_solver_settings(restarts=10**6, agreeing_starts=10**6)
    m.goals['hand_goal'].set_position(*FAR)
    future = solver.solve()
    future.add_done_callback(callback)
    solver.stop()
    assert called.wait(PATIENCE)
    assert seen[0] == solver.results
    assert seen[1]
    np.testing.assert_array_equal(seen[2], before)
    assert np.abs(values(m) - before).max() > 0.01


def test_concurrent_reads_of_q_are_consistent(make_async):
    """Another thread that reads q continuously never gets parts of two answers."""
    m = MECHANISMS['hexapod']()
    poses = [(0.0, 0.0, 0.62), (0.05, -0.03, 0.58)]
    solver = make_async(m.roots)
    goal = m.goals['pose']
    goal.set_position(*poses[0])
    answers = {tuple(solver.solve().result(PATIENCE) and solver.q)}
    seen, done = set(), threading.Event()

    def look():
        while not done.is_set():
            seen.add(tuple(solver.q))

    looker = threading.Thread(target=look)
    looker.start()

    def solve(k):
        goal.set_position(*poses[k % 2])
        solver.solve().result(PATIENCE)
        answers.add(tuple(solver.q))

    for k in range(100 if is_compiled() else 10):
        solve(k)
    wait_until(
        lambda: len(seen),
        'the looker to see more',
        ready=lambda count: count > 1,
        meanwhile=lambda: (solve(0), solve(1)),
    )
    done.set()
    looker.join(PATIENCE)
    assert len(answers) > 1
    assert len(seen) > 1
    assert seen <= answers


# -- stopping


@pytest.mark.parametrize('name', ['arm7', 'hexapod'])
def test_stop_ends_endless_solve_with_closed_loops(make_async, name):
    """The result is available at once, with its true status."""
    m = out_of_reach(name)
    m.solver().warm()
    solver = make_async(m.roots, ENDLESS)
    future = solver.solve()
    assert solver.running
    assert not future.done()
    solver.stop()
    (result,) = future.result(PATIENCE)
    assert not solver.running
    assert result.status in (Status.TIMEOUT, Status.STALLED)
    there = m.naive()  # at the joints' values, which `result` has written
    for error_name, error in {**result.goal_errors, **result.closure_errors}.items():
        np.testing.assert_allclose(
            error, there.error(there.closers[error_name]), atol=1e-10, err_msg=error_name
        )
    assert max((max(e) for e in result.closure_errors.values()), default=0.0) <= 1e-6
    assert result.goal_errors[FAR_OF[name]].position > 0.5
    assert there.limit_excess() <= 0.0


def test_cancelled_solve_keeps_earlier_results(at_work, gate):
    """Waiters are notified."""
    m = out_of_reach('fivebar')
    before = values(m)
    solver, future = at_work(m.roots)
    assert future.cancel()
    assert future.cancel()  # as often as one likes
    assert wait([future], PATIENCE).done == {future}
    assert solver.running  # not yet really ended
    assert not solver.update_frame_state()
    gate.let()
    wait_until(lambda: not solver.running, 'the solver to rest')
    assert len(gate.runs) == 1
    assert not solver.results_ready
    with pytest.raises(CancelledError):
        future.result(0)
    np.testing.assert_array_equal(values(m), before)


# -- the latest wins


def test_only_newest_waiting_solve_runs(make_async, gate):
    """Of a hundred requests 99 are cancelled before they begin."""
    m = MECHANISMS['arm6']()
    solver = make_async(m.roots, SolverOptions(restarts=0))
    futures = [solver.solve()]
    gate.wait()
    for seed in range(100):
        reachable(m, seed)
        futures.append(solver.solve())
    assert [f.cancelled() for f in futures] == [True] * 100 + [False]
    gate.let(2)
    results = futures[-1].result(PATIENCE)
    assert len(gate.runs) == 2
    assert solver.results == results
    there = MECHANISMS['arm6']()
    reachable(there, 99)
    wanted = there.solver(SolverOptions(restarts=0)).solve()
    assert results[0].goal_errors == wanted[0].goal_errors
    np.testing.assert_array_equal(values(m), values(there))


def test_changed_settings_apply_to_next_solve(make_async, gate):
    """A running solve keeps its options."""
    m = out_of_reach('planar')
    solver = make_async(m.roots, SolverOptions(restarts=3))
    first = solver.solve()
    gate.wait()
    solver.update_solver_settings(restarts=0, seed=7)
    assert solver.options == SolverOptions(restarts=0, seed=7)
    gate.let(2)
    assert first.result(PATIENCE)[0].starts == 4
    assert solver.solve().result(PATIENCE)[0].starts == 1


def test_worker_exception_is_set_on_future(make_async, monkeypatch, capfd):
    """Nothing is printed, results stay, and the thread continues."""
    m = MECHANISMS['arm6']()
    reachable(m, 7)
    solver = make_async(m.roots)
    good = solver.solve().result(PATIENCE)
    with monkeypatch.context() as patch:

        def fail(job):
            raise TopologyError('on purpose')

        patch.setattr(SolveJob, 'run', fail)
        future = solver.solve()
        with pytest.raises(TopologyError, match='on purpose'):
            future.result(PATIENCE)
        assert isinstance(future.exception(), TopologyError)
    assert solver.results == good
    assert not solver.running
    reachable(m, 8)
    assert solver.solve().result(PATIENCE)[0].status is Status.CONVERGED
    assert capfd.readouterr() == ('', '')


def test_read_error_is_raised_and_cancels_running_solve(make_async, gate):
    """The reading call raises the error, and the solve of the old state is cancelled."""
    m = MECHANISMS['coupled']()
    solver = make_async(m.roots, ENDLESS)
    name = next(name for name, joint in m.joints.items() if any(joint.couplings))
    joint = m.joints[name]
    (dof,) = joint.dof
    keep = joint.min_dof_limit[dof], joint.max_dof_limit[dof]
    for command in (solver.solve, solver.update_frame_state):
        future = solver.solve()
        gate.wait()
        joint.set_limits(dof, 50.0, 51.0)
        with pytest.raises(OptionError, match=f"limits of '{name}'"):
            command()
        assert future.cancelled()
        joint.set_limits(dof, *keep)
        gate.let()
        wait_until(lambda: not solver.running, 'the solver to rest')
