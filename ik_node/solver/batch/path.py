"""The solution of paths, frame by frame, such that no joint jumps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple

from ik_node.kernels.options import RESTARTS, SMOOTHING
from ik_node.kernels.path import CURSOR, GIVEN_RESTARTS
from ik_node.solver.batch.batch_input import many_starts
from ik_node.solver.batch.batch_run import Progress, ThreadedRun
from ik_node.solver.batch.batch_work import batch_chains, BatchChain, BatchWork, Workspace
from ik_node.solver.batch.engines import Chunk, part_size, run_chunks, thread_count
from ik_node.solver.batch.path_input import (
    all_times,
    check_request,
    Paths,
    Request,
    split_paths,
    stretched_times,
)
from ik_node.solver.batch.path_solution import PathSolution, PathsSolution
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def solve_paths(
    work: BatchWork,
    goals: Paths,
    q0: ArrayLike,
    dt: float,
    times: Any,
    request: Request,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> PathsSolution:
    """
    Solve paths, see `Solver.solve_paths`.

    `q0` (nq,): starts [rad or m]; `dt`, `times`, `threads`, `executor`, `progress`: as for
    `Solver.solve_paths`. Raises ShapeError, OptionError if an argument is not allowed.
    """
    started = perf_counter()
    check_request(request, work.options)
    many_threads = 1 if threads is None and executor is not None else thread_count(threads)
    poses, counts = split_paths(goals, work.problem)
    first = np.concatenate(([0], np.cumsum(counts)))
    when = all_times(counts, dt, times)
    starts = many_starts(q0, len(counts), work.names)[0]
    q = np.repeat(starts, counts, axis=0)
    chains = batch_chains(work.problem, poses, len(q))
    run = PathRun(work, chains, q, first, when, request)
    if executor is None:
        run.run(many_threads, progress)
    else:
        run.run_on(executor, starts, poses, many_threads, progress)
    work.table.follow_all(q)
    spent = perf_counter() - started
    if progress is not None:
        progress(len(q), len(q))
    limits = np.full_like(request.max_velocity, np.inf)
    if not request.keep_times:
        limits = request.max_velocity
    made = []
    for begin, end in pairwise(first.tolist()):
        rows = slice(begin, end)
        made.append(
            PathSolution(
                q[rows],
                [chain.part(rows) for chain in chains],
                spent * (rows.stop - rows.start) / len(q),
                run.joints,
                run.packed,
                work.names,
                stretched_times(q[rows], when[rows], limits),
                run.flags[rows],
            )
        )
    return PathsSolution(made, q, first, spent)


class PathRun(ThreadedRun):
    """
    The execution of paths, whose frames are solved one after the other.

    `chains`: the chains with the poses of all frames; their records are written. `q` (T, nq): the
    start of each path in its rows; overwritten with the results [rad or m]. `first` (P + 1,):
    first frame of each path. `times` (T,): requested times [s].
    """

    def __init__(
        self,
        work: BatchWork,
        chains: list[BatchChain],
        q: Array,
        first: NDArray[np.int64],
        times: Array,
        request: Request,
    ) -> None:
        super().__init__(work, chains, q)
        self._request = request
        self._first, self._times = first.tolist(), times
        self.packed = work.packed.copy()
        if request.smoothing is not None:
            self.packed[SMOOTHING] = request.smoothing
        self.joints = work.rows(q[0])
        self._limits = work.path_limits(
            request.max_step,
            request.max_velocity if request.keep_times else np.full(len(work.names), np.inf),
            request.max_acceleration,
        )
        self._flags = np.zeros((len(chains), len(q)))

    @property
    def flags(self) -> NDArray[np.int64]:
        """Return the event flags of every frame, shape (T,): sums of TORN and so on."""
        flags = np.zeros(len(self._q), np.int64)
        for chain in self._flags:
            flags |= chain.astype(np.int64)
        return flags

    def run(self, threads: int, progress: Progress | None) -> None:
        """Solve all paths, see `ThreadedRun`; `progress` gets the numbers of frames."""
        paths = [slice(begin, end) for begin, end in pairwise(self._first)]
        self._run_pieces(paths, threads, progress)

    def run_on(
        self,
        executor: Executor,
        starts: Array,
        poses: dict[str, tuple[Array, Array]],
        threads: int,
        progress: Progress | None,
    ) -> None:
        """
        Solve all paths in parts on an executor, whose workers use some threads each.

        `executor`: see `run_chunks`; `starts` (P, nq): start of each path [rad or m]; `poses`:
        poses of all frames, see `split_paths`.
        """
        parts = list(_parts(self._first, part_size(len(self._q), executor, threads)))

        def chunks() -> Iterator[Chunk]:
            for paths in parts:
                rows = slice(self._first[paths.start], self._first[paths.stop])
                own = {name: (at[rows], turn[rows]) for name, (at, turn) in poses.items()}
                first = np.array(self._first[paths.start : paths.stop + 1]) - rows.start
                part = _Part(
                    own, starts[paths.start : paths.stop], first, self._times[rows], threads
                )
                yield Chunk(range(rows.start, rows.stop), part)

        def tell(solved: int) -> None:
            if progress is not None:
                progress(solved, len(self._q))

        shared = (self._work, self._request)
        solved = run_chunks(executor, _solve_part, shared, chunks(), tell)
        for paths, (q, records, flags) in zip(parts, solved, strict=True):
            rows = slice(self._first[paths.start], self._first[paths.stop])
            self._q[rows], self._flags[:, rows] = q, flags
            for chain, record in zip(self._chains, records, strict=True):
                chain.records[rows] = record

    @property
    def answer(self) -> tuple[Array, list[Array], Array]:
        """Return joint values, the records of each chain and its flags, for another process."""
        return self._q, [chain.records for chain in self._chains], self._flags

    def _solve(
        self, rows: slice, workspaces: Sequence[Workspace], tell: Callable[[int], None]
    ) -> None:
        """Solve the frames of a path."""
        q = self._q[rows]
        joints = self._work.rows(q[0])
        begin = q[:1].copy()
        self._work.clamp_starts(begin, joints[None])
        q[:] = begin
        for index, workspace in enumerate(workspaces):
            part, options = self._chains[index].part(rows), self.packed.copy()
            cursor = np.zeros(CURSOR + 7 * part.positions.shape[1])
            cursor[GIVEN_RESTARTS] = options[RESTARTS]
            poses = (part.positions, part.quats_xyzw)
            limits, times, flags = self._limits.copy(), self._times[rows], self._flags[index, rows]
            tables = (joints.copy(), options, *poses)
            arrays = (q, *tables, part.records, limits, times, flags, cursor)
            advance = partial(workspace.kernels.advance_path, *arrays)
            self._advance(part, workspace, q, advance, tell)


class _Part(NamedTuple):
    """Some of the paths: poses of their frames, starts, first frames, times, and threads."""

    poses: dict[str, tuple[Array, Array]]
    starts: Array
    first: NDArray[np.int64]
    times: Array
    threads: int


def _parts(first: Sequence[int], most: int) -> Iterator[range]:
    """Yield neighbouring paths that together have at most so many frames, or one path."""
    begin = 0
    for path in range(1, len(first)):
        if path == len(first) - 1 or first[path + 1] - first[begin] > most:
            yield range(begin, path)
            begin = path


def _solve_part(
    shared: tuple[BatchWork, Request], part: _Part
) -> tuple[Array, list[Array], Array]:
    """Solve some of the paths in this process."""
    work, request = shared
    q = np.repeat(part.starts, np.diff(part.first), axis=0)
    chains = batch_chains(work.problem, part.poses, len(q))
    run = PathRun(work, chains, q, part.first, part.times, request)
    run.run(part.threads, None)
    return run.answer
