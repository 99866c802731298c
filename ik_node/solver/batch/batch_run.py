"""A batch on threads of this process, or in parts on the workers of an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from threading import Lock
from time import perf_counter
from typing import Any

from ik_node.kernels.layout import RESULT
from ik_node.kernels.solve_state import INTERRUPTED
from ik_node.model.collisions import Near
from ik_node.solver.batch.batch_solution import BatchSolution
from ik_node.solver.batch.batch_work import (
    batch_chains,
    BatchChain,
    BatchWork,
    many_poses,
    many_starts,
    ManyPoses,
    Poses,
    Workspace,
)
from ik_node.solver.batch.engines import Chunk, part_size, run_chunks, thread_count
from ik_node.solver.problem.problem import Avoidance, SLICE
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

Progress = Callable[[int, int], object]

# Most problems per chunk, and least number of chunks per thread: with several small chunks the
# threads finish at about the same time, even if some problems take much longer than others.
MOST, CHUNKS = 256, 8
# Least time between two calls of `progress` [s].
PERIOD = 0.05


class ManySolves:
    """
    Many solves, on threads that take pieces of them one after the other, or on an executor.

    `chains`: the chains with the `poses` of all solves; their records are written. `q` (N, nq):
    starts; overwritten with the results [rad or m]. `near` (N, 1 + RESULT): index of the nearest
    pair of bodies of each result, -1 = none, and its row of distances. Each thread has workspaces
    of its own.
    """

    def __init__(self, work: BatchWork, poses: Poses, q: Array) -> None:
        self._work, self.q = work, q
        self.chains = batch_chains(work.problem, poses, len(q))
        self.near = np.full((len(q) if work.problem.avoidance else 0, 1 + RESULT), -1.0)
        self._lock = Lock()
        self._taken, self._done = 0, 0
        self._stop = False

    @property
    def results(self) -> list[Array]:
        """Return all arrays with results, each with one row for each solve."""
        return [self.q, self.near, *(chain.records for chain in self.chains)]

    def pieces(self, threads: int) -> list[slice]:
        """Return the rows of each piece."""
        raise NotImplementedError

    def run(
        self,
        threads: int | None,
        progress: Progress | None = None,
        executor: Executor | None = None,
        parts: Callable[[int], Iterable[tuple[range, Sequence[Any]]]] = lambda size: (),
    ) -> None:
        """
        Solve all pieces.

        `progress`: called by the calling thread with the number of solves that are done and their
        total number. An exception that it raises ends the run, as Ctrl-C does. On an executor, the
        `parts` of a size are their rows, and the arguments of this class for them; workers use
        some threads each.
        """
        count = 1 if threads is None and executor is not None else thread_count(threads)
        if executor is None:
            self._run_pieces(self.pieces(count), count, progress)
        else:
            ranges: list[range] = []

            def chunks() -> Iterator[Chunk]:
                for rows, arguments in parts(part_size(len(self.q), executor, count)):
                    ranges.append(rows)
                    yield Chunk(rows, (arguments, count))

            def tell(solved: int) -> None:
                if progress is not None:
                    progress(solved, len(self.q))

            shared = (type(self), self._work)
            for k, found in enumerate(run_chunks(executor, _solve_part, shared, chunks(), tell)):
                rows = slice(ranges[k].start, ranges[k].stop)
                for own, part in zip(self.results, found, strict=True):
                    own[rows] = part
        if progress is not None:
            progress(len(self.q), len(self.q))

    def _run_pieces(
        self, pieces: Sequence[slice], threads: int, progress: Progress | None
    ) -> None:
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
        workspaces = [chain.workspace() for chain in self.chains]
        reported = perf_counter()

        def tell(solved: int) -> None:
            """Count problems of a chain that are solved, and report them now and then."""
            nonlocal reported
            with self._lock:
                self._done += solved
            if progress is not None and perf_counter() - reported >= PERIOD:
                progress(self._done // len(self.chains), len(self.q))
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


class BatchRun(ManySolves):
    """
    One execution of a batch.

    `starts`: one start for all `count` problems, shape (1, nq), or one for each [rad or m].
    `rows` (8, nq): the table of joints of the first problem.
    """

    def __init__(self, work: BatchWork, poses: Poses, starts: Array, count: int) -> None:
        q = np.array(np.broadcast_to(starts, (count, starts.shape[1])), order='C')
        super().__init__(work, poses, q)
        self._by_row = work.by_start and len(starts) > 1
        self.rows = work.rows(starts[0] if len(starts) else np.zeros(q.shape[1]))

    def pieces(self, threads: int) -> list[slice]:
        """Return the rows of each chunk."""
        size = max(1, min(MOST, len(self.q) // (CHUNKS * threads)))
        return [slice(at, at + size) for at in range(0, len(self.q), size)]

    def _solve(
        self, rows: slice, workspaces: Sequence[Workspace], tell: Callable[[int], None]
    ) -> None:
        """Solve the problems of a chunk."""
        q, work = self.q[rows], self._work
        joints = np.stack([work.rows(start) for start in q]) if self._by_row else self.rows[None]
        work.clamp_starts(q, joints)
        avoidance = work.problem.avoidance
        starts = q.copy() if avoidance is not None else q
        for chain, workspace in zip(self.chains, workspaces, strict=True):
            part = chain.part(rows)
            arrays = (q, joints, work.packed, part.positions, part.quats_xyzw, part.records)
            advance = partial(workspace.kernels.advance_batch, *arrays)
            self._advance(part, workspace, q, advance, tell)
        if avoidance is not None:
            nearest = self._nearest(avoidance, q)
            if work.problem.chains:
                again = [at for at, near in enumerate(nearest) if avoidance.is_contact(near)]
                self._lead_out(avoidance, rows, again, starts, joints)
                for at, near in zip(again, self._nearest(avoidance, q[again]), strict=True):
                    nearest[at] = near
            for at, near in zip(range(*rows.indices(len(self.q))), nearest, strict=True):
                if near is not None:
                    self.near[at] = near.at, *near.row
        work.table.follow_all(q)

    def _nearest(self, avoidance: Avoidance, q: Array) -> list[Near | None]:
        """Return the nearest pair of bodies of each row; all threads measure in one workspace."""
        with self._lock:
            return [avoidance.nearest(row) for row in q]

    def _lead_out(
        self, avoidance: Avoidance, rows: slice, again: list[int], starts: Array, joints: Array
    ) -> None:
        """Solve again what is in contact: the problems `again` of a chunk."""
        if not again:
            return
        work, q, parts = self._work, self.q[rows], [chain.part(rows) for chain in self.chains]
        poses = {
            name: (part.positions[again, k], part.quats_xyzw[again, k])
            for part in parts
            for k, (_, name) in enumerate(part.chain.names.goals)
        }
        own, tables = q[again], joints[again] if len(joints) > 1 else joints
        for k, at in enumerate(again):
            records = [part.records[at] for part in parts]
            avoidance.begin(records, starts[at], own[k], tables[min(k, len(tables) - 1)])
        with self._lock:
            (whole,) = batch_chains(avoidance.whole, poses, len(again))
            workspace = whole.workspace()
        arrays = (own, tables, work.packed, whole.positions, whole.quats_xyzw, whole.records)
        advance = partial(workspace.kernels.advance_batch, *arrays)
        self._advance(whole, workspace, own, advance, lambda solved: None)
        q[again] = own
        for k, at in enumerate(again):
            for index, part in enumerate(parts):
                part.records[at] = avoidance.record(index, part.records[at], whole.records[k])


def _solve_part(shared: tuple[type[ManySolves], BatchWork], part: Any) -> list[Array]:
    """Solve some of the problems in a worker of an executor, and return their results."""
    (kind, work), (arguments, threads) = shared, part
    run: ManySolves = kind(work, *arguments)
    run.run(threads)
    return run.results


def solve_batch(
    work: BatchWork,
    goals: ManyPoses,
    q0: ArrayLike,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> BatchSolution:
    """Solve every problem as `Solver.solve_pose` does, see `Solver.solve_batch`."""
    began = perf_counter()
    poses = many_poses(goals, work.problem)
    many = next((len(positions) for positions, _ in poses.values()), None)
    starts, count = many_starts(q0, many, work.names)
    run = BatchRun(work, poses, starts, count)

    def parts(size: int) -> Iterator[tuple[range, Sequence[Any]]]:
        for rows in (range(count)[at : at + size] for at in range(0, count, size)):
            cut = slice(rows.start, rows.stop)
            own = {name: (p[cut], r[cut]) for name, (p, r) in poses.items()}
            yield rows, (own, starts if len(starts) == 1 else starts[cut], len(rows))

    run.run(threads, progress, executor, parts)
    spent = perf_counter() - began
    return BatchSolution(
        *(run.q, run.chains, spent, run.rows, work.packed, work.names), work.collisions, run.near
    )
