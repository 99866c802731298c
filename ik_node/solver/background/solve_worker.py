"""The thread that solves, with room for one more job."""

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

# A round that takes less than this share off the squared residuals of what timed out was no help.
LEAST_HELP = 1e-6


@dataclass(eq=False)
class SolveJob:
    """
    One reading of the objects, and how far its solve has come.

    Attributes
    ----------
    solver : Solver
        Which read the objects; it is in use until the job has ended.
    task : callable
        What `Solver.task` returned.
    tree : Tree
        The graph as it was then.
    read : ndarray, shape (nq,)
        The joints' values when it read them [rad or m].
    locked : ndarray, shape (nq,), bool
        Which of them no solve moves.
    until_done : bool
        Whether it goes on after a TIMEOUT, where no option says how far one solve may go.
    future : weak reference to SolveFuture
        Who waits for it; several jobs, one after another, may be due to one.
    before : SolveJob or None
        The job that it supersedes and goes on from.
    stop : list of one bool
        Whether it is to end at its next slice.
    stopped : bool
        ... because the user said so.
    handed_on : bool
        ... because another job goes on from its answer.
    dropped : bool
        ... and its answer is not wanted.
    start : ndarray, shape (nq,), or None
        Where its next round begins [rad or m]; None = where the joints were.
    answer : Solution or None
        The last one found.

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
        """Where it, or the one it goes on from, has come to [rad or m]; None = nowhere yet."""
        if self.answer is not None:
            return self.answer.q
        return None if self.before is None else self.before.found

    def run(self) -> Solution:
        """
        Do a round from where it has come to; nothing else may use its solver meanwhile.

        The first one begins where the job before it ended, but for locked joints.
        """
        found = None if self.before is None else self.before.found
        if found is not None:
            self.start = np.where(self.locked, self.read, found)
        self.before = None
        solution = self.task(self.stop, self.start)
        _ = solution.chains  # put into words here, not in the thread that looks at them
        self.start = solution.q
        return solution

    def goes_on(self, solution: Solution) -> bool:
        """Return whether another round is due after this answer."""
        options = self.solver.options
        limited = options.time_budget > 0.0 or options.max_joint_step < np.inf
        if limited or self.stop[0] or not self.until_done:
            return False
        if solution.status is not Status.TIMEOUT:
            return False
        before = np.inf if self.answer is None else _open_residual(self.answer)
        return _open_residual(solution) < (1.0 - LEAST_HELP) * before


def _open_residual(solution: Solution) -> float:
    """Sum the squared residuals of the chains that timed out."""
    return sum(
        error.position**2 + error.orientation**2
        for chain in solution.chains
        if chain.status is Status.TIMEOUT
        for errors in (chain.goal_errors, chain.closure_errors)
        for error in errors.values()
    )


class SolveWorker:
    """
    A thread that does one job after another; only the newest waits.

    It holds no reference to the `AsyncSolver` it works for, which can so be garbage collected.

    Attributes
    ----------
    latest : SolveJob or None
        The job that the newest answer is of.
    unwritten, unseen : bool
        Whether that answer is not in the joints yet, has not been looked at yet.
    lock : RLock
        Held while any of these changes.

    """

    def __init__(self) -> None:
        self.lock = RLock()
        self.latest: SolveJob | None = None
        self.unwritten = self.unseen = False
        self._current: SolveJob | None = None
        self._waiting: SolveJob | None = None
        self._closed = False
        # Unlike a condition it may be used in a finaliser, which comes at any time.
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._thread: Thread | None = None

    # -- for the thread that owns the objects

    @property
    def busy(self) -> bool:
        """Whether a job runs or waits."""
        with self.lock:
            return self._current is not None or self._waiting is not None

    @property
    def current(self) -> SolveJob | None:
        """Return the job that runs."""
        return self._current

    @property
    def is_here(self) -> bool:
        """Whether the caller is this thread."""
        return current_thread() is self._thread

    def post(self, job: SolveJob) -> None:
        """Have a job done next, unless nobody waits for it any more."""
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
        End what runs because a newer reading of the objects takes over.

        Parameters
        ----------
        keep : bool
            Whether the newer one goes on from its answer; else the answer is not wanted.

        Returns
        -------
        SolveJob or None
            What is to be taken over; None = nothing runs, or it has been told to end.

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
        """End what runs at its next slice; its answer counts."""
        with self.lock:
            for job in (self._current, self._waiting):
                if job is not None:
                    job.stopped = job.stop[0] = True

    def drop(self, future: SolveFuture) -> None:
        """End what runs for this future; its answer is not wanted."""
        with self.lock:
            if self._waiting is not None and self._waiting.future() is future:
                self._waiting = None
            if self._current is not None and self._current.future() is future:
                self._current.dropped = self._current.stop[0] = True

    def close(self) -> None:
        """End the thread; takes no lock, for it is called in finalisers, too."""
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
            if self._closed:  # looked at only now, see `close`
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
                # As in concurrent.futures: whoever waits gets it, the thread goes on.
                outcome = error
            with self.lock:
                wanted = not job.dropped
                going_on = False
                if wanted and isinstance(outcome, Solution):
                    going_on = job.goes_on(outcome)
                    job.answer = outcome
                    self.latest, self.unwritten, self.unseen = job, True, True
                if not going_on:
                    self._current = None
        if wanted and not job.handed_on:
            _tell(job, outcome)


def _tell(job: SolveJob, outcome: Solution | BaseException) -> None:
    """Resolve the future; no lock is held, for it may call back."""
    future = job.future()
    if future is not None:
        with suppress(InvalidStateError):  # cancelled just now
            if isinstance(outcome, Solution):
                future.set_result(list(outcome.chains))
            else:
                future.set_exception(outcome)
