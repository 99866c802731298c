"""Background solver: same answers, immediate stop, and the newest request applies."""

from concurrent.futures import CancelledError, Future, wait
import threading

from ik_node.description.files import description_path
from ik_node.gallery import gallery_item
from ik_node.native import is_compiled
from ik_node.robot import load_robot
from ik_node.solver.options import METHODS, SolverOptions
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.async_cases import ENDLESS, FAR, FAR_OF, out_of_reach, reachable, values, workers
from support.mechanisms import MECHANISMS
from support.waiting import PATIENCE, wait_until

# -- the answer


@pytest.mark.parametrize('name', ['arm6', 'arm7', 'hexapod', 'two_arms', 'coupled', 'ball'])
@pytest.mark.parametrize('far', [False, True])
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


def test_background_solver_follows_hexapod_motion_like_solver(make_async):
    """A robot with its goals, followed through its motion by both solvers."""
    item = gallery_item('hexapod')
    robots = [load_robot(description_path(item.description)) for _ in range(2)]
    goals = [robot.add_goal(item.goals['platform'], name='platform') for robot in robots]
    home = goals[0].position.copy()
    beside, plain = make_async(robots[0]), Solver(robots[1])
    for moment in np.arange(0.0, 4.0, 0.25):
        position, quat = item.motion(float(moment))['platform']
        for goal in goals:
            goal.set_position(*(home + position))
            goal.set_quaternion(*quat)
        (result,) = beside.solve().result(PATIENCE)
        (wanted,) = plain.solve()
        assert result.status is wanted.status is Status.CONVERGED
        np.testing.assert_array_equal(robots[0].q, robots[1].q)
        np.testing.assert_array_equal(beside.q, robots[1].q)


def test_roots_from_iterator_are_kept(make_async, gate):
    """An iterator can be read once only; every update uses its roots."""
    m = MECHANISMS['arm6']()
    solver = make_async(iter(m.roots))
    solver.solve()
    gate.wait()
    future = solver.solve()
    gate.let(2)
    assert len(future.result(PATIENCE)) == 1
    solver.update_structure()
    gate.let()
    assert len(solver.solve().result(PATIENCE)) == 1


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


def test_loops_follow_locked_crank_in_their_branch(make_async, gate):
    """As with `Solver`."""
    robots = [MECHANISMS['fivebar']() for _ in range(2)]
    solver, plain = make_async(robots[0].roots), Solver(robots[1].roots)
    for k in range(6):
        for m in robots:
            m.goals['tool'].enabled = False
            crank = next(joint for joint in m.joints.values() if joint.dof)
            crank.lock()
            crank.set_dof_values(crank.dof_values[crank.dof[0]] + 0.5)
        future = solver.solve()
        gate.wait()
        if k % 2:  # read once more, while that one is at work
            future = solver.solve()
        gate.let(1 + k % 2)
        if k % 2:
            gate.wait()
        (result,) = future.result(PATIENCE)
        (wanted,) = plain.solve()
        assert result.status is wanted.status
        np.testing.assert_array_equal(values(robots[0]), values(robots[1]))


# -- stopping


@pytest.mark.parametrize('name', FAR_OF)
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


@pytest.mark.parametrize('method', METHODS)
def test_stop_ends_every_method(make_async, method):
    """Methods in Python check the stop flag as well."""
    m = out_of_reach('arm7')
    m.solver(SolverOptions(method=method, max_iterations=1)).warm()
    endless = {'restarts': 10**6, 'max_iterations': 10**6, 'stall_threshold': 0.0}
    solver = make_async(m.roots, SolverOptions(method=method, **endless))
    future = solver.solve()
    solver.stop()
    assert future.result(PATIENCE)[0].status in (Status.TIMEOUT, Status.STALLED)
    assert not solver.running


def test_stop_of_waiting_solve_gives_result(at_work, gate):
    """A solve that still waits for the thread is stopped as well, and has a result."""
    m = out_of_reach('fivebar')
    solver, first = at_work(m.roots)
    second = solver.solve()
    solver.stop()
    assert first.cancelled()
    gate.let(2)
    (result,) = second.result(PATIENCE)
    assert max(max(e) for e in result.closure_errors.values()) <= 1e-6
    assert not solver.running


def test_stop_without_solve_does_not_stop_next_one(make_async):
    """Nothing happens, and the next solve is not stopped by it."""
    m = MECHANISMS['arm6']()
    reachable(m, 3)
    solver = make_async(m.roots)
    solver.stop()
    assert solver.solve().result(PATIENCE)[0].status is Status.CONVERGED
    solver.stop()
    assert not solver.running


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


def test_cancelled_waiting_solve_never_runs(at_work, gate):
    """It never runs."""
    m = out_of_reach('fivebar')
    solver, _ = at_work(m.roots)
    waiting = solver.solve()
    assert waiting.cancel()
    gate.let(2)
    wait_until(lambda: not solver.running, 'the solver to rest')
    assert len(gate.runs) == 1
    assert solver.results == []


def test_cancel_during_update_discards_read_state(at_work, gate, monkeypatch):
    """Another thread cancels while the update reads the graph."""
    m = out_of_reach('fivebar')
    solver, future = at_work(m.roots)
    task = Solver.task

    def cancelled_meanwhile(reader):
        assert future.cancel()
        return task(reader)

    monkeypatch.setattr(Solver, 'task', cancelled_meanwhile)
    solver.update_frame_state()
    gate.let(2)
    wait_until(lambda: not solver.running, 'the solver to rest')
    assert len(gate.runs) == 1


def test_cancel_just_before_result_stays_cancelled(make_async, gate):
    """The thread continues."""
    m = MECHANISMS['planar']()
    solver = make_async(m.roots)
    future = solver.solve()
    gate.wait()
    assert Future.cancel(future)  # and nothing else yet
    gate.let(2)
    wait_until(lambda: not solver.running, 'the solver to rest')
    assert future.cancelled()
    assert len(solver.solve().result(PATIENCE)) == 1
    assert len(workers()) == 1


def test_cancel_after_end_keeps_results(make_async):
    """The solve has already ended."""
    m = MECHANISMS['planar']()
    future = make_async(m.roots).solve()
    results = future.result(PATIENCE)
    assert not future.cancel()
    assert future.result() == results


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


def test_new_solve_stops_running_one(make_async):
    """A hundred endless solves in sequence."""
    m = out_of_reach('hexapod')
    solver = make_async(m.roots, ENDLESS)
    futures = [solver.solve() for _ in range(100)]
    m.goals['pose'].set_position(0, 0, 0.6)
    last = solver.solve()
    (result,) = last.result(PATIENCE)
    assert all(future.cancelled() for future in futures)
    assert result.status is Status.CONVERGED
    assert solver.future is last
    for future in futures:
        with pytest.raises(CancelledError):
            future.result()


def test_rapid_solves_end_or_are_cancelled(make_async):
    """The answer belongs to the last state."""
    m = MECHANISMS['arm6']()
    solver, futures = make_async(m.roots), []
    for seed in range(100):
        reachable(m, seed)
        futures.append(solver.solve())
    (result,) = futures[-1].result(PATIENCE)
    assert result.status is Status.CONVERGED
    assert all(future.done() for future in futures)
    found = m.naive().error(m.goals['hand_goal'])
    np.testing.assert_allclose(result.goal_errors['hand_goal'], found, atol=1e-10)
