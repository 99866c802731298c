"""The solver that runs in a thread of its own while the caller continues."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import current_thread, Lock, RLock, Thread
from typing import Any, NoReturn
import weakref

from ik_node.display import public_names
from ik_node.errors import IkError, OptionError, UnknownFrameError
from ik_node.model.frame import Frame
from ik_node.model.tree import Tree
from ik_node.solver.graph_reader import RobotLike
from ik_node.solver.options import SolverOptions
from ik_node.solver.result import Solution, SolveResult
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Least share by which a round must reduce the squared residual of the chains that timed out, to be
# followed by another round.
LEAST_GAIN = 1e-6


class AsyncSolver:
    """
    A solver of closures and goals in a worker thread, while the caller continues.

    Parameters
    ----------
    source : Robot, Frame or iterable of Frame
        As for `Solver`.
    options : SolverOptions, optional
        Change them with `update_solver_settings`.

    Notes
    -----
    The worker does not access the objects. They are read in the calling thread, within `solve`,
    `update_frame_state` and `update_structure`. The newest values are written to the joints, all
    at once, in the thread that reads results by `results_ready`, `results`, `future.result()` or
    `await`. Therefore the joints do not change while the caller draws them. Other threads may
    read only `q` and `running`. Commands may come from any thread; they are executed one after
    the other.

    A new `solve` replaces a running one, which ends at its next slice, and whose future is
    cancelled. While a goal is dragged, prefer `update_frame_state`, which continues from the
    values found so far. Callbacks of futures run in the worker and do not write to the joints.

    A `solve` starts the thread if there is none. It ends with the solve, with `dispose`, at the
    end of a `with` block, or when the solver and its futures are garbage collected.

    Examples
    --------
    An arm of one link that points at a goal:

    >>> import ik_node as ik
    >>> base, joint, tip = ik.Link('base'), ik.Joint('shoulder'), ik.Link('tip')
    >>> joint.set_dof('EZ')
    >>> tip.set_position(1, 0, 0)
    >>> base.add_child(joint)
    >>> joint.add_child(tip)
    >>> goal = ik.Goal('hand')
    >>> goal.set_goal_dof('X', 'Y')
    >>> goal.make_closure(tip)
    >>> goal.set_position(0.6, 0.8, 0)
    >>> solver = ik.AsyncSolver([base, goal])
    >>> future = solver.solve()  # in asyncio: results = await solver.solve()
    >>> results = future.result(timeout=60.0)
    >>> results[0].status.name, round(joint.get_dof_value('EZ'), 6)
    ('CONVERGED', 0.927295)

    In each frame of a window, or in a timer, without waiting:

    >>> def each_frame(x, y):
    ...     goal.set_position(x, y, 0)
    ...     if not solver.update_frame_state():  # no solve is running
    ...         solver.solve()
    ...     if solver.results_ready:  # the joints have moved
    ...         print(solver.results[0].status.name)
    >>> each_frame(0.8, 0.6)  # prints the result from above and starts the next solve
    CONVERGED
    >>> solver.dispose()

    """

    def __init__(
        self, source: RobotLike | Frame | Iterable[Frame], options: SolverOptions | None = None
    ) -> None:
        # An iterator would be exhausted after one solver has read it.
        self._source = list(source) if isinstance(source, Iterator) else source
        self._options = SolverOptions() if options is None else options
        self._solvers = self._new_solvers()
        self._future: SolveFuture | None = None
        self._disposed = False
        self._commands = RLock()
        self._worker = SolveWorker()
        self._close = weakref.finalize(self, self._worker.close)

    __dir__ = public_names

    def __repr__(self) -> str:
        if self._disposed:
            return 'AsyncSolver(disposed)'
        state = 'running' if self.running else 'idle'
        return f'AsyncSolver({state}; {self._idle.describe()})'

    # -- commands

    def solve(self, until_done: bool = True) -> SolveFuture:
        """
        Read the objects and start a solve; a running solve is cancelled.

        Parameters
        ----------
        until_done : bool
            True: after a TIMEOUT the solve continues with another round from its last result,
            which is available meanwhile, until it converges, stalls or is stopped, or a round
            does not reduce the residual. With `time_budget` or `max_joint_step` there is only one
            round. False: one round, as in `Solver.solve`.

        Returns
        -------
        SolveFuture
            Future of the results, one per independent chain; also in `future`.

        Raises
        ------
        OptionError
            If `until_done` is not a bool.
        IkError
            As `Solver.solve`, if the objects cannot be read; the running solve is cancelled
            nevertheless.

        Examples
        --------
        >>> import ik_node as ik
        >>> with ik.AsyncSolver(ik.load_robot('hexapod')) as solver:
        ...     print(solver.solve().result(timeout=60.0)[0].converged)
        True

        """
        if until_done not in (True, False):
            allowed = 'True or False; poses are given to goals: goal.set_position(x, y, z)'
            raise OptionError('until_done', until_done, allowed)
        with self._commands:
            self._check()
            if self._future is not None:
                self._future.cancel()
            future = SolveFuture(self._take, self._worker.drop)
            job = self._read(until_done, weakref.ref(future))
            self._future = future
            self._worker.post(job)
            return future

    def stop(self) -> None:
        """
        End the running solve at its next slice.

        Its future gets the best result so far, with closed loops, its status and its residuals.
        """
        with self._commands:
            self._check()
            self._worker.stop()

    def update_frame_state(self, *frames: Frame) -> bool:
        """
        Continue the running solve with the present limits, locks, targets, rest poses and goals.

        The solve continues from the values that it has found; only locked joints take the values
        of the objects. Its future stays the same. Changed options take effect, too.

        Parameters
        ----------
        *frames : Frame
            Frames that have changed. All frames are read in any case; the arguments are only
            checked to be part of the graph.

        Returns
        -------
        bool
            True if a running solve continues with the new values; False if none is running.

        Raises
        ------
        UnknownFrameError
            If a frame is not part of the graph; call `update_structure` if it was added.
        IkError
            As `solve`; the running solve is cancelled then.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> goal = robot.add_goal('tool_link', dof='X Y Z')
        >>> with ik.AsyncSolver(robot) as solver:
        ...     print(solver.update_frame_state(goal), solver.running, solver.future)
        ...     print(solver.update_structure(), solver.q.shape, solver.joint_names[0])
        ...     solver.stop()  # no solve is running
        False False None
        False (6,) j1

        """
        with self._commands:
            self._check()
            taken = self._take_over(keep=True)
            carriers = self._idle.tree.carrier
            for frame in frames:
                if frame not in carriers:
                    raise UnknownFrameError(frame.name, [known.name for known in carriers])
            return taken

    def update_structure(self) -> bool:
        """
        Read the graph again.

        A running solve begins again from the joints' values; its future stays the same. A result
        that has not been written to the joints yet is discarded.

        Returns
        -------
        bool
            True if a solve was running.

        Raises
        ------
        TopologyError
            If the graph cannot be solved; nothing is changed then.
        IkError
            As `solve`; the running solve is cancelled then.

        """
        with self._commands:
            self._check()
            self._solvers = self._new_solvers()
            return self._take_over(keep=False)

    def update_solver_settings(self, **options: Any) -> None:
        """
        Change options by name, as of the next `solve`.

        Raises
        ------
        OptionError
            If an option does not exist or its value is not allowed; no option is changed then.

        Examples
        --------
        >>> import ik_node as ik
        >>> with ik.AsyncSolver(ik.load_robot('arm6')) as solver:
        ...     solver.update_solver_settings(max_iterations=50)
        ...     print(solver.options)
        SolverOptions(max_iterations=50)

        """
        with self._commands:
            self._check()
            self._options = replace(self._options, **options)

    def dispose(self) -> None:
        """Cancel the running solve and end the thread; all other calls then raise an IkError."""
        with self._commands:
            self._disposed = True
            future, self._future = self._future, None
            if future is not None:
                future.cancel()
            self._close()
        self._worker.join()

    def __enter__(self) -> AsyncSolver:
        self._check()
        return self

    def __exit__(self, *_: object) -> None:
        self.dispose()

    # -- state and results

    @property
    def options(self) -> SolverOptions:
        """Return the options of the next solve."""
        self._check()
        return self._options

    @property
    def joint_names(self) -> list[str]:
        """Return the name of each value of q."""
        self._check()
        return self._idle.joint_names

    @property
    def future(self) -> SolveFuture | None:
        """Return the future of the latest `solve`; None before the first."""
        self._check()
        return self._future

    @property
    def running(self) -> bool:
        """Return True until the worker has finished all solves and the future is done."""
        self._check()
        future = self._future
        return self._worker.busy or not (future is None or future.done())

    @property
    def results_ready(self) -> bool:
        """Return True if `results` are new since they were last read; write them to the joints."""
        self._check()
        self._take()
        return self._worker.unseen

    @property
    def results(self) -> list[SolveResult]:
        """Return the newest results, one per chain; write their values to the joints."""
        self._check()
        with self._commands, self._worker.lock:
            self._take()
            self._worker.unseen = False
            job = self._worker.latest
            return [] if job is None or job.answer is None else list(job.answer.chains)

    @property
    def q(self) -> Array:
        """
        Return the newest values, shape (nq,) [rad or m], in the order of `joint_names`.

        Before the first result, and after `update_structure`, they are the joints' values.
        """
        self._check()
        with self._worker.lock:
            job = self._worker.latest
            if job is not None and job.answer is not None and self._is_of_now(job):
                return job.answer.q.copy()
        return self._idle.q

    # -- internals

    def _check(self) -> None:
        if self._disposed:
            raise IkError('this AsyncSolver has been disposed of: make a new one')

    def _new_solvers(self) -> tuple[Solver, Solver]:
        """Return two solvers: while one is solving, the other one can read the objects."""
        options = self._options
        return Solver(self._source, options), Solver(self._source, options)

    @property
    def _idle(self) -> Solver:
        """Return the solver that is not solving, which may read the objects."""
        current = self._worker.current
        busy = None if current is None else current.solver
        return next(solver for solver in self._solvers if solver is not busy)

    def __reduce__(self) -> NoReturn:
        raise IkError('an AsyncSolver has a thread: make a new one for a copy of its robot')

    def _read(self, until_done: bool, future: weakref.ReferenceType[SolveFuture]) -> SolveJob:
        """Read the objects with the idle solver; no job may be waiting for it."""
        solver = self._idle
        solver.options = self._options
        task, tree = solver.task(), solver.tree
        locked = np.array([joint._locked[dof] for joint, dof in tree.owner], dtype=bool)
        return SolveJob(solver, task, tree, solver.q, locked, until_done, future)

    def _take_over(self, keep: bool) -> bool:
        """Replace the running job by one with the present objects, for the same future."""
        running = self._worker.hand_on(keep)
        if running is None:
            return False
        try:
            job = self._read(running.until_done, running.future)
        except BaseException:
            future = running.future()
            if future is not None:
                future.cancel()
            raise
        if keep and job.tree.owner == running.tree.owner:
            job.before = running
        self._worker.post(job)
        return True

    def _take(self) -> None:
        """Write the newest result to the joints if that has not been done yet."""
        if self._worker.is_here:
            return
        with self._commands, self._worker.lock:
            job = self._worker.latest
            if self._worker.unwritten and job is not None and job.answer is not None:
                self._worker.unwritten = False
                if self._is_of_now(job):
                    self._idle.accept(job.answer)
                    for solver in self._solvers:  # either may do the next solve
                        solver.go_on_from(job.answer)

    def _is_of_now(self, job: SolveJob) -> bool:
        """Return True if a job has the same values of q as the present graph."""
        return job.solver in self._solvers and job.tree.owner == self._idle.tree.owner


class SolveFuture(Future[list[SolveResult]]):
    """
    The future results of one solve of an `AsyncSolver`, one per independent chain.

    `result(timeout)` waits for them in threads, `await` in asyncio; both write the values to the
    joints, in the thread that waits. `cancel()` ends the solve and discards its result.

    Parameters
    ----------
    take : callable
        Function without arguments that writes the newest result to the joints.
    drop : callable
        Function of this future that ends its solve.

    Examples
    --------
    >>> import ik_node as ik
    >>> with ik.AsyncSolver(ik.load_robot('hexapod')) as solver:
    ...     future = solver.solve()
    ...     results = future.result(timeout=60.0)
    >>> future.done(), future.cancel(), results[0].converged
    (True, False, True)

    """

    def __init__(self, take: Callable[[], None], drop: Callable[[SolveFuture], None]) -> None:
        super().__init__()
        # These bound methods keep the AsyncSolver alive as long as its future is referenced.
        self._take = take
        self._drop = drop
        self._notify_once = Lock()

    __dir__ = public_names

    def __repr__(self) -> str:
        state = 'cancelled' if self.cancelled() else 'done' if self.done() else 'running'
        return f'SolveFuture({state})'

    def result(self, timeout: float | None = None) -> list[SolveResult]:
        """
        Wait for the results, and write the values to the joints.

        Parameters
        ----------
        timeout : float, optional
            Longest time to wait [s]; None = no limit.

        Returns
        -------
        list of SolveResult
            One per independent chain.

        Raises
        ------
        TimeoutError
            If there is no result in time (`concurrent.futures.TimeoutError`); the solve continues.
        CancelledError
            If the solve was replaced or cancelled (`concurrent.futures.CancelledError`).
        Exception
            The exception that the solve raised.

        Examples
        --------
        >>> import ik_node as ik
        >>> with ik.AsyncSolver(ik.load_robot('fivebar')) as solver:
        ...     print(solver.solve().result(timeout=60.0)[0].status.name)
        CONVERGED

        """
        results = super().result(timeout)
        self._take()
        return results

    def cancel(self) -> bool:
        """
        End the solve at its next slice and discard its result.

        Return False if it has already ended.
        """
        if not super().cancel():
            return False
        self._drop(self)
        if self._notify_once.acquire(blocking=False):
            # `concurrent.futures.wait` does not notice a cancelled future before this call.
            self.set_running_or_notify_cancel()
        return True

    def __await__(self) -> Generator[Any, None, list[SolveResult]]:
        # Imported here, because only asyncio programs need asyncio, and they have imported it.
        from asyncio import wrap_future

        wrapped = wrap_future(self)
        results: list[SolveResult] = yield from wrapped.__await__()
        return results


@dataclass(eq=False)
class SolveJob:
    """
    A solve of the objects as they were read at one time, and its progress.

    `solver`: the solver that has read the objects; it is in use until the job has ended. `task`:
    the function that `Solver.task` returned. `tree`: the graph at that time. `read` (nq,): the
    joints' values at that time [rad or m]. `locked` (nq,): True for each locked value.
    `until_done`: True if another round follows a TIMEOUT, see `AsyncSolver.solve`. `future`: the
    future of the result; jobs that replace each other share one. `before`: the job that this one
    replaces and continues. `stop`: True if the job must end at its next slice. `stopped`: True if
    the user stopped the job. `handed_on`: True if another job has replaced this one. `dropped`:
    True if its result is discarded. `start` (nq,): start of its next round [rad or m]; None = the
    joints' values. `answer`: its last result.
    """

    solver: Solver
    task: Callable[..., Solution]
    tree: Tree
    read: Array
    locked: NDArray[np.bool_]
    until_done: bool
    future: weakref.ReferenceType[SolveFuture]
    before: SolveJob | None = None
    stop: list[bool] = field(default_factory=lambda: [False])
    stopped: bool = False
    handed_on: bool = False
    dropped: bool = False
    start: Array | None = None
    answer: Solution | None = None

    @property
    def found(self) -> Array | None:
        """Return the last values of this job, or of the one it continues [rad or m], or None."""
        if self.answer is not None:
            return self.answer.q
        return None if self.before is None else self.before.found

    def run(self) -> Solution:
        """
        Do one round from the last values; nothing else may use its solver meanwhile.

        The first round starts from the last values of the job that this one replaces, except for
        locked joints, which start from the values that were read.
        """
        found = None if self.before is None else self.before.found
        if found is not None:
            # New limits of a joint clamp its value; that of the job before is to agree with it.
            found = np.clip(found, *self.solver.limits())
            self.start = np.where(self.locked, self.read, found)
        self.before = None
        solution = self.task(self.stop, self.start)
        _ = solution.chains  # computed here, so that the thread that reads them need not do it
        self.start = solution.q
        return solution

    def goes_on(self, solution: Solution) -> bool:
        """Return True if another round must follow this result."""
        options = self.solver.options
        limited = options.time_budget > 0.0 or options.limits_steps
        if limited or self.stop[0] or not self.until_done:
            return False
        if solution.status is not Status.TIMEOUT:
            return False
        before = np.inf if self.answer is None else _open_residual(self.answer)
        return _open_residual(solution) < (1.0 - LEAST_GAIN) * before


def _open_residual(solution: Solution) -> float:
    """Return the sum of the squared residuals of the chains that timed out."""
    late = (chain for chain in solution.chains if chain.status is Status.TIMEOUT)
    return float(sum((chain.errors**2).sum() for chain in late))


class SolveWorker:
    """
    A thread that runs one job after another and ends without one; only the newest job waits.

    It has no reference to its `AsyncSolver`, so that the latter can be garbage collected.

    `current`: the running job; `latest`: the job with the newest result; `unwritten`, `unseen`:
    True if that result has not been written to the joints, has not been read by the user; `lock`:
    lock of all attributes.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.latest: SolveJob | None = None
        self.unwritten = self.unseen = False
        self.current: SolveJob | None = None
        self._waiting: SolveJob | None = None
        self._closed = False
        self._thread: Thread | None = None

    # -- for the thread that owns the objects

    @property
    def busy(self) -> bool:
        """Return True if a job is running or waiting."""
        with self.lock:
            return self.current is not None or self._waiting is not None

    @property
    def is_here(self) -> bool:
        """Return True if the worker itself is the calling thread."""
        return current_thread() is self._thread

    def post(self, job: SolveJob) -> None:
        """Run a job next, unless its future is cancelled or garbage collected."""
        with self.lock:
            future = job.future()
            if future is None or future.cancelled():
                return
            self._waiting = job
            if self._thread is None:
                self._thread = Thread(target=self._work, name='ik_node solver', daemon=True)
                self._thread.start()

    def hand_on(self, keep: bool) -> SolveJob | None:
        """
        End the running or waiting job and return it; None = there is none, or it is ending.

        A newer one replaces it, and continues from its result if that is to `keep`.
        """
        with self.lock:
            job = self._waiting or self.current
            if job is None or job.stopped or job.dropped:
                return None
            self._waiting = None
            if job is self.current:
                job.handed_on, job.dropped, job.stop[0] = True, not keep, True
            return job

    def stop(self) -> None:
        """End all jobs at their next slice, and keep their results."""
        with self.lock:
            for job in (self.current, self._waiting):
                if job is not None:
                    job.stopped = job.stop[0] = True

    def drop(self, future: SolveFuture) -> None:
        """End the jobs of a future and discard their results."""
        with self.lock:
            if self._waiting is not None and self._waiting.future() is future:
                self._waiting = None
            if self.current is not None and self.current.future() is future:
                self.current.dropped = self.current.stop[0] = True

    def close(self) -> None:
        """End the thread, without acquiring a lock, because finalisers call this too."""
        self._closed = True
        job = self.current
        if job is not None:
            job.dropped = job.stop[0] = True

    def join(self) -> None:
        """Wait until the thread has ended."""
        thread = self._thread
        if thread is not None and not self.is_here:
            thread.join()

    # -- in the thread

    def _work(self) -> None:
        while True:
            with self.lock:
                job, self._waiting = self._waiting, None
                self.current = job
                # Checked after the job was taken, because `close` has no lock.
                if job is None or self._closed:
                    self.current = self._thread = None
                    return
            self._solve(job)

    def _solve(self, job: SolveJob) -> None:
        going_on = True
        while going_on:
            outcome: Solution | BaseException
            try:
                outcome = job.run()
            except BaseException as error:  # noqa: BLE001
                # As in concurrent.futures, the future gets the exception, and the thread goes on.
                outcome = error
            with self.lock:
                target = not job.dropped
                going_on = False
                if target and isinstance(outcome, Solution):
                    going_on = job.goes_on(outcome)
                    job.answer = outcome
                    self.latest, self.unwritten, self.unseen = job, True, True
                if not going_on:
                    self.current = None
        future = job.future() if target and not job.handed_on else None
        if future is not None:
            # Without the lock, because callbacks run in it.
            with suppress(InvalidStateError):  # cancelled just now
                if isinstance(outcome, Solution):
                    future.set_result(list(outcome.chains))
                else:
                    future.set_exception(outcome)
