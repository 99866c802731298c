"""The worker thread of an `AsyncSolver`, with one running and one waiting job."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import current_thread, RLock, Thread
from weakref import ReferenceType

from ik_node.model.tree import Tree
from ik_node.solver.background.solve_future import SolveFuture
from ik_node.solver.result import Solution
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Least share by which a round must reduce the squared residual of the chains that timed out, to be
# followed by another round.
LEAST_GAIN = 1e-6


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
    future: ReferenceType[SolveFuture]
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
    return sum(
        error.position**2 + error.orientation**2
        for chain in solution.chains
        if chain.status is Status.TIMEOUT
        for errors in (chain.goal_errors, chain.closure_errors)
        for error in errors.values()
    )


class SolveWorker:
    """
    A thread that runs one job after another; only the newest job waits.

    It has no reference to its `AsyncSolver`, so that the latter can be garbage collected.

    `latest`: the job with the newest result; `unwritten`, `unseen`: True if that result has not
    been written to the joints, has not been read by the user; `lock`: lock of all attributes.
    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.latest: SolveJob | None = None
        self.unwritten = self.unseen = False
        self._current: SolveJob | None = None
        self._waiting: SolveJob | None = None
        self._closed = False
        # A SimpleQueue, unlike a Condition, may be used in a finaliser, which can run at any time.
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._thread: Thread | None = None

    # -- for the thread that owns the objects

    @property
    def busy(self) -> bool:
        """Return True if a job is running or waiting."""
        with self.lock:
            return self._current is not None or self._waiting is not None

    @property
    def current(self) -> SolveJob | None:
        """Return the running job; None = no job is running."""
        return self._current

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
        self._wake.put(None)

    def hand_on(self, keep: bool) -> SolveJob | None:
        """
        End the running or waiting job, because a newer one replaces it.

        `keep`: True if the newer job continues from its result, False if that is discarded.
        Returns the job that is replaced; None = there is none, or it is ending already.
        """
        with self.lock:
            job = self._waiting or self._current
            if job is None or job.stopped or job.dropped:
                return None
            self._waiting = None
            if job is self._current:
                job.handed_on, job.dropped, job.stop[0] = True, not keep, True
            return job

    def stop(self) -> None:
        """End all jobs at their next slice, and keep their results."""
        with self.lock:
            for job in (self._current, self._waiting):
                if job is not None:
                    job.stopped = job.stop[0] = True

    def drop(self, future: SolveFuture) -> None:
        """End the jobs of a future and discard their results."""
        with self.lock:
            if self._waiting is not None and self._waiting.future() is future:
                self._waiting = None
            if self._current is not None and self._current.future() is future:
                self._current.dropped = self._current.stop[0] = True

    def close(self) -> None:
        """End the thread, without acquiring a lock, because finalisers call this too."""
        self._closed = True
        job = self._current
        if job is not None:
            job.dropped = job.stop[0] = True
        self._wake.put(None)

    def join(self) -> None:
        """Wait until the thread has ended."""
        if self._thread is not None and not self.is_here:
            self._thread.join()

    # -- in the thread

    def _work(self) -> None:
        while True:
            self._wake.get()
            with self.lock:
                job, self._waiting = self._waiting, None
                self._current = job
            if self._closed:  # checked after the job was taken, because `close` has no lock
                self._current = None
                return
            if job is not None:
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
                    self._current = None
        if target and not job.handed_on:
            _resolve(job, outcome)


def _resolve(job: SolveJob, outcome: Solution | BaseException) -> None:
    """Set the result of the future, without holding a lock, because callbacks run in it."""
    future = job.future()
    if future is not None:
        with suppress(InvalidStateError):  # cancelled just now
            if isinstance(outcome, Solution):
                future.set_result(list(outcome.chains))
            else:
                future.set_exception(outcome)
