"""The execution of a batch: threads that solve one chunk of problems after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import index
import os
from threading import Lock
from time import perf_counter

from ik_node.errors import OptionError
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

    `goals`: shapes (N, 3) [m] and (N, 4). `q0` (nq,): starts [rad or m]. `threads`: number of
    threads; None = one per core that this process may use. `progress`: function of the number of
    solved problems and of their total number.
    """
    started = perf_counter()
    count = thread_count(threads)
    poses = many_poses(goals, work.problem)
    many = next((len(positions) for positions, _ in poses.values()), None)
    q, one_start = many_starts(q0, many, work.names)
    chains = batch_chains(work.problem, poses, len(q))
    run = BatchRun(work, chains, q, one_start=one_start)
    run.run(count, progress)
    spent = perf_counter() - started
    if progress is not None:
        progress(len(q), len(q))
    return BatchSolution(q, chains, spent, run.rows, work.packed, work.names)


def thread_count(threads: int | None, name: str = 'threads') -> int:
    """
    Return a number of threads or workers; None = one per core. Errors use `name`.

    Raises OptionError if it is not an integer from 1.
    """
    if threads is None:
        return cores()
    try:
        count = index(threads)
    except TypeError:
        count = 0
    if count < 1:
        raise OptionError(name, threads, 'a whole number from 1, or None for all cores')
    return count


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


Progress = Callable[[int, int], object]

# Most problems per chunk, and least number of chunks per thread: with several small chunks the
# threads finish at about the same time, even if some problems take much longer than others.
MOST, CHUNKS = 256, 8
# Least time between two calls of `progress` [s].
PERIOD = 0.05


class ThreadedRun:
    """
    Threads that take pieces of the problems one after the other, with workspaces of their own.

    Parameters
    ----------
    work : BatchWork
        Problem and options.
    chains : sequence of BatchChain
        The chains with their poses; their records are written.
    q : ndarray, shape (N, nq)
        Starts; overwritten with the results [rad or m].

    """

    def __init__(self, work: BatchWork, chains: Sequence[BatchChain], q: Array) -> None:
        self._work, self._chains, self._q = work, chains, q
        self._lock = Lock()
        self._taken, self._done = 0, 0
        self._stop = False

    def _run_pieces(
        self, pieces: Sequence[slice], threads: int, progress: Progress | None
    ) -> None:
        """
        Solve all pieces.

        `progress`: called by the calling thread with the number of solved problems and their total
        number. An exception that it raises ends the run, as Ctrl-C does.
        """
        helpers = min(threads, len(pieces)) - 1
        if helpers < 1:
            self._take_pieces(pieces, progress)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(helpers, 'ik-batch') as pool:
            try:
                others = [pool.submit(self._take_pieces, pieces, None) for _ in range(helpers)]
                self._take_pieces(pieces, progress)
                for other in others:
                    other.result()
            finally:
                self._stop = True

    def _take_pieces(self, pieces: Sequence[slice], progress: Progress | None) -> None:
        """Solve one piece after the other until none is left."""
        workspaces = [chain.workspace() for chain in self._chains]
        reported = perf_counter()

        def tell(solved: int) -> None:
            """Count problems of a chain that are solved, and report them now and then."""
            nonlocal reported
            with self._lock:
                self._done += solved
            if progress is not None and perf_counter() - reported >= PERIOD:
                progress(self._done // len(self._chains), len(self._q))
                reported = perf_counter()

        try:
            while not self._stop:
                with self._lock:
                    piece, self._taken = self._taken, self._taken + 1
                if piece >= len(pieces):
                    return
                self._solve(pieces[piece], workspaces, tell)
        except BaseException:
            self._stop = True
            raise

    def _solve(
        self, rows: slice, workspaces: Sequence[Workspace], tell: Callable[[int], None]
    ) -> None:
        """Solve the problems of a piece."""
        raise NotImplementedError

    def _advance(
        self,
        part: BatchChain,
        workspace: Workspace,
        q: Array,
        advance: Callable[[int, int], int],
        tell: Callable[[int], None],
    ) -> None:
        """
        Solve one chain for the rows of q; check time budget and stop flag between slices.

        `advance` takes the first row and a number of steps, and returns the row that it reached.
        """
        budget = self._work.options.time_budget
        steps = SLICE if budget > 0.0 else part.chain.slice_steps
        at, watched, ends = 0, -1, 0.0
        while at < len(q) and not self._stop:
            began = perf_counter()
            reached = advance(at, steps)
            if reached < 0:
                part.refuse(-1 - reached, q)
            tell(reached - at)
            at = reached
            if at != watched:
                watched, ends = at, began + budget
            if budget > 0.0 and perf_counter() >= ends:
                workspace.ints[INTERRUPTED] = 1


class BatchRun(ThreadedRun):
    """
    One execution of a batch.

    Parameters
    ----------
    work, chains, q : BatchWork, sequence of BatchChain, ndarray
        As for `ThreadedRun`.
    one_start : bool
        True if all rows of q are equal.

    """

    def __init__(
        self, work: BatchWork, chains: Sequence[BatchChain], q: Array, *, one_start: bool
    ) -> None:
        super().__init__(work, chains, q)
        self._by_row = work.by_start and not one_start
        self._rows = work.rows(q[0])[None] if len(q) else np.zeros((1, JOINT_ROWS, q.shape[1]))

    @property
    def rows(self) -> Array:
        """Return the table of joints, shape (8, nq), of the first problem."""
        table: Array = self._rows[0]
        return table

    def run(self, threads: int, progress: Progress | None) -> None:
        """Solve all problems, see `ThreadedRun`."""
        size = max(1, min(MOST, len(self._q) // (CHUNKS * threads)))
        chunks = [slice(at, at + size) for at in range(0, len(self._q), size)]
        self._run_pieces(chunks, threads, progress)

    def _solve(
        self, rows: slice, workspaces: Sequence[Workspace], tell: Callable[[int], None]
    ) -> None:
        """Solve the problems of a chunk."""
        q, work = self._q[rows], self._work
        joints = np.stack([work.rows(start) for start in q]) if self._by_row else self._rows
        work.clamp_starts(q, joints)
        for chain, workspace in zip(self._chains, workspaces, strict=True):
            part = chain.part(rows)
            arrays = (q, joints, work.packed, part.positions, part.quats_xyzw, part.records)
            advance = partial(workspace.kernels.advance_batch, *arrays)
            self._advance(part, workspace, q, advance, tell)
        work.follow(q)
