"""A batch on threads of this process, or in parts on the workers of an executor."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from threading import Lock
from time import perf_counter
from typing import NamedTuple, TypeVar

from ik_node.kernels.layout import RESULT
from ik_node.kernels.solve_state import INTERRUPTED
from ik_node.model.collisions import Near
from ik_node.solver.batch.batch_input import many_poses, many_starts, ManyPoses
from ik_node.solver.batch.batch_solution import BatchSolution
from ik_node.solver.batch.batch_work import batch_chains, BatchChain, BatchWork, Workspace
from ik_node.solver.batch.engines import Chunk, part_size, run_chunks, thread_count
from ik_node.solver.problem.problem import Avoidance, SLICE
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Poses = Mapping[str, tuple[Array, Array]]
Result = TypeVar('Result')

Progress = Callable[[int, int], object]

# Most problems per chunk, and least number of chunks per thread: with several small chunks the
# threads finish at about the same time, even if some problems take much longer than others.
MOST, CHUNKS = 256, 8
# Least time between two calls of `progress` [s].
PERIOD = 0.05


class ThreadedRun:
    """
    Threads that take pieces of the problems one after the other, with workspaces of their own.

    `chains`: the chains with their poses; their records are written. `q` (N, nq): starts;
    overwritten with the results [rad or m]. `near` (N, 11): index of the nearest pair of bodies of
    each result, -1 = none, and its row of distances.
    """

    def __init__(self, work: BatchWork, chains: Sequence[BatchChain], q: Array) -> None:
        self._work, self._chains, self._q = work, chains, q
        self.near = np.full((len(q) if work.problem.avoidance else 0, 1 + RESULT), -1.0)
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

    `work`, `chains`, `q`: as for `ThreadedRun`; `one_start`: True if all rows of q are equal.
    """

    def __init__(
        self, work: BatchWork, chains: Sequence[BatchChain], q: Array, *, one_start: bool
    ) -> None:
        super().__init__(work, chains, q)
        self._by_row = work.by_start and not one_start
        self._rows = work.rows(q[0] if len(q) else np.zeros(q.shape[1]))[None]

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
        avoidance = work.problem.avoidance
        starts = q.copy() if avoidance is not None else q
        for chain, workspace in zip(self._chains, workspaces, strict=True):
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
            for at, near in zip(range(*rows.indices(len(self._q))), nearest, strict=True):
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
        work, q, parts = self._work, self._q[rows], [chain.part(rows) for chain in self._chains]
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


def solve_batch(
    work: BatchWork,
    goals: ManyPoses,
    q0: ArrayLike,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> BatchSolution:
    """Solve every problem as `Solver.solve_pose` does, see `Solver.solve_batch`."""
    started = perf_counter()
    count = 1 if threads is None and executor is not None else thread_count(threads)
    poses = many_poses(goals, work.problem)
    many = next((len(positions) for positions, _ in poses.values()), None)
    q, one_start = many_starts(q0, many, work.names)
    chains = batch_chains(work.problem, poses, len(q))
    run = BatchRun(work, chains, q, one_start=one_start)
    if executor is None:
        run.run(count, progress)
    else:
        # The answers overwrite the starts, also the one that all problems share.
        starts, at = q[:1].copy() if one_start else q, 0
        shared = (work, poses, starts, range(len(q)), _arrays, executor)
        for part, records, near in run_parts(*shared, threads=count, progress=progress):
            rows = slice(at, at + len(part))
            q[rows] = part
            run.near[rows] = near
            for chain, record in zip(chains, records, strict=True):
                chain.records[rows] = record
            at = rows.stop
    spent = perf_counter() - started
    if progress is not None:
        progress(len(q), len(q))
    return BatchSolution(
        q, chains, spent, run.rows, work.packed, work.names, work.collisions, run.near
    )


class Part(NamedTuple):
    """Some of the problems of a batch: poses of each goal, and one start for all or for each."""

    poses: dict[str, tuple[Array, Array]]
    starts: Array
    size: int
    threads: int


def run_parts(
    work: BatchWork,
    poses: Poses,
    starts: Array,
    rows: range,
    finish: Callable[[BatchSolution], Result],
    executor: Executor | None,
    *,
    threads: int | None = None,
    most: int | None = None,
    progress: Progress | None = None,
) -> Generator[Result, None, None]:
    """
    Solve problems in parts on an executor, and yield finish(solution) of each, in order.

    Poses have shapes (N, 3) [m] and (N, 4) for each goal, and starts (1, nq) or (N, nq). Only the
    parts that are being solved are copied, so that they may be maps of files. Workers import
    `finish`. A part has at most `most` problems, or as many as suit the workers; each worker uses
    `threads` threads, by default one. `progress` gets the number of problems that are solved and
    their total number.

    Raises ShapeError if a pose is not valid; the message names the row. Raises EngineError if a
    part fails, see `run_chunks`.
    """
    count = 1 if threads is None else thread_count(threads)
    size = part_size(len(rows), executor, count) if most is None else most

    def chunks() -> Iterator[Chunk]:
        for at in range(0, len(rows), size):
            own = rows[at : at + size]
            yield Chunk(own, part_of(work, poses, starts, own, count))

    def tell(solved: int) -> None:
        if progress is not None:
            progress(solved, len(rows))

    return run_chunks(executor, _solve_and_finish, (work, finish), chunks(), tell)


def part_of(work: BatchWork, poses: Poses, starts: Array, rows: range, threads: int = 1) -> Part:
    """
    Return some of the problems of a batch; the arguments are those of `run_parts`.

    Raises ShapeError if a pose is not valid; the message names the row.
    """
    cut = slice(rows.start, rows.stop)
    part = {name: (p[cut], r[cut]) for name, (p, r) in poses.items()}
    begin = starts if len(starts) == 1 else starts[cut]
    return Part(many_poses(part, work.problem, rows.start), begin, len(rows), threads)


def solve_part(work: BatchWork, part: Part) -> BatchSolution:
    """Solve the problems of a part in this process."""
    began = perf_counter()
    chains = batch_chains(work.problem, part.poses, part.size)
    shape = (part.size, part.starts.shape[1])
    q = np.array(np.broadcast_to(part.starts, shape), order='C')
    run = BatchRun(work, chains, q, one_start=len(part.starts) == 1)
    run.run(part.threads, None)
    spent = perf_counter() - began
    return BatchSolution(
        q, chains, spent, run.rows, work.packed, work.names, work.collisions, run.near
    )


def _solve_and_finish(
    shared: tuple[BatchWork, Callable[[BatchSolution], Result]], part: Part
) -> Result:
    work, finish = shared
    return finish(solve_part(work, part))


def _arrays(solution: BatchSolution) -> tuple[Array, list[Array], Array]:
    return solution.q, solution.records, solution.near
