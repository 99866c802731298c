"""Batches on processes and Dask have the bits of a batch on threads."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
import os
import signal
import time

from ik_node.errors import EngineError, OptionError, ShapeError
from ik_node.native import is_compiled
from ik_node.solver.batch import engines
from ik_node.solver.batch.engines import open_engine
from ik_node.solver.options import SolverOptions
import numpy as np
import pytest
from support.batch_cases import batch_of

COUNT = 120 if is_compiled() else 18


@pytest.fixture(scope='module', params=['processes', 'dask'])
def engine(request):
    """Provide an engine with two workers; those that are not installed are skipped."""
    if request.param != 'processes':
        pytest.importorskip('distributed')
    with open_engine(request.param, 2) as executor:
        yield executor


def equal(found, wanted):
    """Compare two batches bit by bit."""
    assert len(found) == len(wanted)
    for one, other in zip(
        [found.q, found.status, found.iterations, found.starts, *found.records],
        [wanted.q, wanted.status, wanted.iterations, wanted.starts, *wanted.records],
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    assert found.message == wanted.message
    for name, errors in wanted.goal_errors.items():
        np.testing.assert_array_equal(found.goal_errors[name], errors)


@pytest.mark.parametrize('name', ['arm7', 'hexapod'])
def test_engine_gives_the_bits_of_threads(engine, name):
    """An arm and a robot with loops; a start for each; reachable and unreachable goals."""
    _, solver, goals, starts = batch_of(name, COUNT)
    solver.options = SolverOptions(restarts=2, max_iterations=40)
    wanted = solver.solve_batch(goals, starts)
    told = []
    found = solver.solve_batch(
        goals, starts, executor=engine, progress=lambda *numbers: told.append(numbers)
    )
    equal(found, wanted)
    assert found[COUNT - 1].message == wanted[COUNT - 1].message
    assert told[-1] == (COUNT, COUNT)
    assert told == sorted(told)
    assert len(told) > 3


def test_engine_honours_all_arguments_and_changes(engine):
    """Chosen joints, largest steps, one start, threads per worker, a changed robot, no goals."""
    m, solver, goals, starts = batch_of('arm7', COUNT)
    solver.options = SolverOptions(restarts=3)
    step = np.full(starts.shape[1], 0.3)
    for arguments in (
        {'joints': ['j1', 'j2', 'j4']},
        {'max_step': step},
        {'q0': starts[3]},
        {'q0': {'j2': 0.3}},
        {'q0': starts, 'threads': 2},
    ):
        wanted = solver.solve_batch(goals, **{**arguments, 'threads': 1})
        equal(solver.solve_batch(goals, **arguments, executor=engine), wanted)
    m.joints['j3'].lock()
    m.joints['j2'].set_dof_values(0.4)
    solver.options = SolverOptions(restarts=1)
    wanted = solver.solve_batch(goals)
    found = solver.solve_batch(goals, executor=engine)
    equal(found, wanted)
    assert (found['j3'] == found['j3'][0]).all(), 'locked'
    none = {name: (p[:0], r[:0]) for name, (p, r) in goals.items()}
    assert len(solver.solve_batch(none, executor=engine)) == 0
    _, loops, _, starts = batch_of('fourbar', 20)
    equal(loops.solve_batch({}, starts, executor=engine), loops.solve_batch({}, starts))


def test_dask_solves_the_chunks_of_a_killed_worker_again():
    """One worker is killed when a part of the problems is solved; the bits stay the same."""
    pytest.importorskip('distributed')
    _, solver, goals, starts = batch_of('arm7', COUNT)
    solver.options = SolverOptions(restarts=3)
    wanted = solver.solve_batch(goals, starts)
    killed = []
    with open_engine('dask', 2) as executor:

        def kill_one(done, total):
            if not killed and done > 0.3 * total:
                killed.append(next(iter(executor._client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        equal(solver.solve_batch(goals, starts, executor=executor, progress=kill_one), wanted)
    assert killed


@pytest.mark.parametrize('which', [0, 1])
def test_pool_ends_although_idle_worker_was_killed(which):
    """It may hold the lock of the queue, for which the other one then waits."""
    with open_engine('processes', 2) as executor:
        done = [executor.submit(time.sleep, 0.2) for _ in range(4)]
        for future in done:
            future.result()
        time.sleep(0.3)  # Both wait for work, one of them with the lock.
        os.kill(list(executor._processes)[which], signal.SIGKILL)


def test_executors_of_the_caller_are_used_and_stay_open():
    """A pool of threads, and one of processes."""
    _, solver, goals, starts = batch_of('arm6', 40)
    wanted = solver.solve_batch(goals, starts)
    for pool in (ThreadPoolExecutor(2), ProcessPoolExecutor(1, get_context('spawn'))):
        with pool:
            equal(solver.solve_batch(goals, starts, executor=pool), wanted)
            assert pool.submit(abs, -1).result() == 1


def test_bad_input_is_refused_before_work_begins():
    """As without an executor; the message has the row."""
    _, solver, goals, starts = batch_of('arm6', 10)
    (name,) = goals
    goals[name][0][7, 1] = np.nan
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(ShapeError, match='in row 7'):
            solver.solve_batch(goals, starts, executor=pool)
        goals[name][0][7, 1] = 1e50
        for executor in (None, pool):
            with pytest.raises(ShapeError, match='a position within'):
                solver.solve_batch(goals, starts, executor=executor)
        goals[name][0][7, 1] = 0.0
        with pytest.raises(OptionError, match='threads'):
            solver.solve_batch(goals, starts, executor=pool, threads=0)


def test_arguments_that_do_not_fit_an_engine_are_refused():
    """With the reason."""
    for arguments, message in [
        (('cloud',), "engine: 'cloud' cannot be used; use threads, processes, dask"),
        (('processes', 0), 'workers: 0'),
        (('threads', 2), 'workers: 2 cannot be used'),
        (('processes', None, 'host:1'), "address: 'host:1' cannot be used"),
        (('dask', 2, 'host:1'), 'workers: 2 cannot be used'),
    ]:
        with pytest.raises(OptionError, match=message), open_engine(*arguments):
            pass


def test_missing_engine_says_what_to_install(monkeypatch):
    """The extra of this package."""
    monkeypatch.setattr(engines, 'find_spec', lambda _: None)
    with pytest.raises(EngineError, match=r'distributed.*ik_node.dask'), open_engine('dask'):
        pass


def test_unreachable_cluster_is_an_error_within_the_time_limit(monkeypatch):
    """No cluster listens there."""
    pytest.importorskip('distributed')
    monkeypatch.setattr(engines, 'CONNECT_SECONDS', 0.5)
    with (
        pytest.raises(EngineError, match=r'127\.0\.0\.1:9: '),
        open_engine('dask', None, '127.0.0.1:9'),
    ):
        pass
