"""Execution of a batch: threads, progress, Ctrl-C, memory, and refused input."""

import re
import signal
import threading
import time

from ik_node.errors import OptionError, ShapeError, UnknownFrameError
from ik_node.native import is_compiled
from ik_node.solver.batch import batch_run
from ik_node.solver.options import SolverOptions
import numpy as np
import pytest
from support.batch_cases import batch_of
from support.waiting import PATIENCE

# Plain Python is a thousand times slower.
COUNT = 120 if is_compiled() else 18
ONE = ((0.3, 0.1, 0.5), (0.0, 0.0, 0.0, 1.0))


def helpers():
    """Return the running threads of a batch."""
    return [thread for thread in threading.enumerate() if thread.name.startswith('ik-batch')]


@pytest.fixture
def arm():
    """Provide a solver with some problems."""
    _, solver, goals, starts = batch_of('arm6', COUNT)
    return solver, goals, starts


def test_progress_is_reported_by_calling_thread(arm, monkeypatch):
    """Counts increase up to the total."""
    monkeypatch.setattr(batch_run, 'PERIOD', 0.0)
    solver, goals, starts = arm
    told, threads = [], set()

    def progress(done, total):
        told.append((done, total))
        threads.add(threading.current_thread())

    solver.solve_batch(goals, starts, threads=1, progress=progress)
    assert len(told) > 2
    told.clear()
    solver.solve_batch(goals, starts, threads=3, progress=progress)
    assert threads == {threading.current_thread()}
    assert {total for _, total in told} == {COUNT}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (COUNT, COUNT)


def test_batch_threads_run_concurrently(arm, monkeypatch):
    """Two are inside the batch at once: each waits for the other."""
    solver, goals, starts = arm
    meeting, met = threading.Barrier(2, timeout=PATIENCE), []
    inside = batch_run.BatchRun._solve

    def solve(self, *args):
        if len(met) < 2:
            met.append(threading.current_thread().name)
            meeting.wait()
        inside(self, *args)

    monkeypatch.setattr(batch_run.BatchRun, '_solve', solve)
    solver.solve_batch(goals, starts, threads=2)
    assert len(set(met)) == 2
    assert helpers() == []


def test_signal_during_compiled_code_ends_batch_soon(arm, monkeypatch):
    """The signal arrives while compiled code runs."""
    solver, goals, starts = arm
    many = {name: (np.tile(p, (3000, 1)), np.tile(r, (3000, 1))) for name, (p, r) in goals.items()}
    monkeypatch.setattr(batch_run.BatchRun, 'MOST', 8)
    begun = threading.Event()
    main = threading.main_thread().ident

    def interrupt():
        begun.wait(PATIENCE)
        time.sleep(0.2)
        signal.pthread_kill(main, signal.SIGINT)

    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        solver.solve_batch(
            many, np.tile(starts, (3000, 1)), threads=2, progress=lambda *_: begun.set()
        )
    other.join()
    assert helpers() == []


@pytest.mark.parametrize('where', ['progress', 'helper'])
def test_error_in_any_thread_is_raised_and_ends_batch(arm, monkeypatch, where):
    """The call raises the error, and no thread remains."""
    monkeypatch.setattr(batch_run, 'PERIOD', 0.0)
    solver, goals, starts = arm
    inside, raised = batch_run.BatchRun._solve, threading.Event()

    def solve(self, *args):
        if where == 'helper' and threading.current_thread() is not threading.main_thread():
            raised.set()
            raise MemoryError('as it may be')
        inside(self, *args)
        if where == 'helper':
            assert raised.wait(PATIENCE)

    def progress(done, total):
        if where == 'progress':
            raise MemoryError('as it may be')

    monkeypatch.setattr(batch_run.BatchRun, '_solve', solve)
    with pytest.raises(MemoryError, match='as it may be'):
        solver.solve_batch(goals, starts, threads=2, progress=progress)
    assert helpers() == []


def changed(array, row, column, value):
    """Return a copy with one number changed."""
    copy = np.array(array, dtype=float)
    copy[row, column] = value
    return copy


def test_error_names_bad_row(arm):
    """The message says which row it is."""
    for change, message in [
        (lambda p, r, q: ((changed(p, 17, 1, np.nan), r), q), 'in row 17: .*finite'),
        (
            lambda p, r, q: ((p, changed(r, COUNT - 1, 0, np.inf)), q),
            f'in row {COUNT - 1}: .*finite',
        ),
        (lambda p, r, q: ((p, changed(r, 5, slice(None), 0.0)), q), 'in row 5: .*zero'),
        (lambda p, r, q: ((p, changed(r, 5, slice(None), 1e300)), q), 'in row 5: .*finite'),
        (lambda p, r, q: ((p, r), changed(q, 11, 2, np.nan)), "q0 in row 11: .*'?j3"),
        (lambda p, r, q: ((p, r), np.full(6, np.nan)), 'q0: .*NaN'),
        (lambda p, r, q: ((p, r[:-1]), q), rf'\({COUNT}, 3\) and \({COUNT - 1}, 4\)'),
        (lambda p, r, q: ((p[0], r[0]), q), r'\(3,\) and \(4,\)'),
        (lambda p, r, q: ((p, r[:, :3]), q), rf'\({COUNT}, 3\) and \({COUNT}, 3\)'),
        (lambda p, r, q: (p, q), 'quaternions'),
        (lambda p, r, q: ((p, 'somewhere'), q), 'positions \\(N, 3\\) and quaternions'),
        (lambda p, r, q: ((p, r), q[:10]), rf'\({COUNT}, 6\).*\(10, 6\)'),
        (lambda p, r, q: ((p, r), q[:, :5]), rf'\({COUNT}, 6\).*\({COUNT}, 5\)'),
        (lambda p, r, q: ((p, r), 'home'), 'q0: expected an array of numbers'),
    ]:
        solver, goals, starts = arm
        ((name, (positions, quats)),) = goals.items()
        poses, q0 = change(positions, quats, starts)
        with pytest.raises(ShapeError, match=message):
            solver.solve_batch({name: poses}, q0)


def test_goals_must_have_equal_number_of_poses():
    """Both goals' poses must be as many; without goals the starts say how many."""
    _, solver, goals, starts = batch_of('two_arms', 12)
    first, second = goals
    short = {first: goals[first], second: tuple(array[:5] for array in goals[second])}
    with pytest.raises(ShapeError, match=f"12 for '{first}', 5 for '{second}'"):
        solver.solve_batch(short, starts)
    assert len(solver.solve_batch({}, starts)) == 12
    assert len(solver.solve_batch({})) == 1


@pytest.mark.parametrize('threads', [0, -1, 1.5, 'two'])
def test_bad_thread_count_is_refused(arm, threads):
    """A number from 1, or None."""
    solver, goals, starts = arm
    with pytest.raises(OptionError, match=r'threads: .*whole number, 1 or more'):
        solver.solve_batch(goals, starts, threads=threads)


def test_batch_refuses_unknown_names_windows_and_methods(arm):
    """Unknown names, windows and methods are refused as in single solves."""
    solver, goals, starts = arm
    with pytest.raises(UnknownFrameError, match=re.escape("'elsewhere'")):
        solver.solve_batch({'elsewhere': ([ONE[0]], [ONE[1]])})
    with pytest.raises(ShapeError, match='max_step'):
        solver.solve_batch(goals, starts, max_step=[-1.0] * 6)
    with pytest.raises(UnknownFrameError, match='knee'):
        solver.solve_batch(goals, starts, joints=['knee'])
    solver.options = SolverOptions(method='ccd')
    with pytest.raises(OptionError, match='solve_pose for each'):
        solver.solve_batch(goals, starts)
