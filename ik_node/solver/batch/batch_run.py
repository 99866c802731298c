# flake8: noqa: E203
"""A batch at work: threads that take one chunk of problems after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
import os
from threading import Lock
from time import perf_counter

from ik_node.errors import OptionError
from ik_node.kernels.batch import advance_batch, code_of_advance
from ik_node.kernels.layout import JOINT_ROWS
from ik_node.kernels.solve_state import INTERRUPTED
from ik_node.solver.batch.batch_input import many_poses, many_starts, ManyPoses
from ik_node.solver.batch.batch_solution import BatchSolution
from ik_node.solver.batch.batch_work import batch_chains, BatchChain, BatchWork, Workspace
from ik_node.solver.problem.problem import SLICE
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def solve_batch(
    work: BatchWork,
    goals: ManyPoses,
    q0: ArrayLike,
    threads: int | None = None,
    progress: Progress | None = None,
) -> BatchSolution:
    """
    Solve every problem as `Solver.solve_pose` does, see `Solver.solve_batch`.

    Parameters
    ----------
    work : BatchWork
        For the goals' names.
    goals : mapping of str to (positions, quats_xyzw)
        Shapes (N, 3), (N, 4).
    q0 : array_like, shape (nq,) or (N, nq)
        Starts [rad or m].
    threads : int, optional
        None = one for every core this process may use.
    progress : callable, optional
        Called with how many are done, and how many there are.

    """
    started = perf_counter()
    count = thread_count(threads)
    poses = many_poses(goals)
    many = next((len(positions) for positions, _ in poses.values()), None)
    q, one_start = many_starts(q0, many, work.names)
    chains = batch_chains(work.problem, poses, len(q))
    run = BatchRun(work, chains, q, one_start=one_start)
    run.run(count, progress)
    spent = perf_counter() - started
    if progress is not None:
        progress(len(q), len(q))
    return BatchSolution(q, chains, spent, run.rows, work.packed)


def thread_count(threads: int | None) -> int:
    """
    Return how many threads are to work; None = one for every core.

    Raises
    ------
    OptionError
        If it is not a number from 1.

    """
    if threads is None:
        return cores()
    try:
        count = index(threads)
    except TypeError:
        count = 0
    if count < 1:
        raise OptionError('threads', threads, 'a whole number from 1, or None for all cores')
    return count


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


Progress = Callable[[int, int], object]

# Problems that a thread takes at a time, and chunks for every thread at least: the last ones
# take their time, and nobody shall wait long for another.
MOST, CHUNKS = 256, 8
# Between two reports of progress [s].
PERIOD = 0.05


class BatchRun:
    """
    Solves the rows of q, in place.

    Parameters
    ----------
    work : BatchWork
    chains : sequence of BatchChain
        Each with its part of the problems; takes the outcome.
    q : ndarray, shape (N, nq)
        Starts, and after `run` the answers [rad or m].
    one_start : bool
        Whether all rows of q are the same.

    """

    def __init__(
        self, work: BatchWork, chains: Sequence[BatchChain], q: Array, *, one_start: bool
    ) -> None:
        self._work, self._chains, self._q = work, chains, q
        self._by_row = work.by_start and not one_start
        self._rows = work.rows(q[0])[None] if len(q) else np.zeros((1, JOINT_ROWS, q.shape[1]))
        self._lock = Lock()
        self._taken, self._done, self._size = 0, 0, 1
        self._stop = False
        self._code = 0

    @property
    def rows(self) -> Array:
        """Return the table of joints (8, nq), that of the first problem if each has its own."""
        table: Array = self._rows[0]
        return table

    def run(self, threads: int, progress: Progress | None) -> None:
        """
        Solve all.

        Parameters
        ----------
        threads : int
            How many work, the calling one included.
        progress : callable, optional
            Told by the calling thread how many are done, and of how many. What it raises ends
            the batch, as Ctrl-C does.

        """
        self._load()
        if not len(self._q):
            return
        self._size = max(1, min(MOST, len(self._q) // (CHUNKS * threads)))
        chunks = -(-len(self._q) // self._size)
        helpers = min(threads, chunks) - 1
        if helpers == 0:
            self._take_chunks(progress)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(helpers, 'ik-batch') as pool:
            try:
                others = [pool.submit(self._take_chunks) for _ in range(helpers)]
                self._take_chunks(progress)
                for other in others:
                    other.result()
            finally:
                self._stop = True

    def _load(self) -> None:
        """Load the kernels, or compile them, for once and not by all threads together."""
        for chain in self._chains[:1]:
            asked = (np.zeros((1, 3)), np.zeros((1, 4)), SLICE)
            q = np.zeros(self._q.shape[1])
            self._code = code_of_advance(
                *chain.chain.arrays, q, self.rows, self._work.packed, *asked
            )
            self._solve_chain(chain.part(slice(0)), chain.workspace(), self._q[:0], self._rows)

    def _take_chunks(self, progress: Progress | None = None) -> None:
        """Work until nothing is left."""
        workspaces = [chain.workspace() for chain in self._chains]
        told = perf_counter()
        try:
            while not self._stop:
                with self._lock:
                    first, self._taken = self._taken, self._taken + self._size
                if first >= len(self._q):
                    return
                self._solve(slice(first, first + self._size), workspaces)
                with self._lock:
                    self._done += len(self._q[first : first + self._size])
                if progress is not None and perf_counter() - told >= PERIOD:
                    progress(self._done, len(self._q))
                    told = perf_counter()
        except BaseException:
            self._stop = True
            raise

    def _solve(self, chunk: slice, workspaces: Sequence[Workspace]) -> None:
        """Solve the problems of a chunk."""
        q, work = self._q[chunk], self._work
        rows = np.stack([work.rows(start) for start in q]) if self._by_row else self._rows
        work.place(q, rows)
        for chain, workspace in zip(self._chains, workspaces, strict=True):
            self._solve_chain(chain.part(chunk), workspace, q, rows)
        work.follow(q)

    def _solve_chain(self, part: BatchChain, workspace: Workspace, q: Array, rows: Array) -> None:
        """Solve one chain, with looks at the clock, and whether to stop, in between."""
        budget = self._work.options.time_budget
        steps = SLICE if budget > 0.0 else part.chain.slice_steps
        arrays = (q, rows, self._work.packed, part.positions, part.quats_xyzw, part.records)
        at, watched, ends = 0, -1, 0.0
        while True:
            began = perf_counter()
            at = advance_batch(
                self._code, *part.chain.arrays[:2], *workspace, *arrays, part.record_at, at, steps
            )
            if at < 0:
                part.refuse(-1 - at, q)
            if at == len(q) or self._stop:
                return
            if at != watched:
                watched, ends = at, began + budget
            if budget > 0.0 and perf_counter() >= ends:
                workspace[0][INTERRUPTED] = 1
