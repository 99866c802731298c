"""A batch in parts that the workers of an executor solve."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Executor
from time import perf_counter
from typing import NamedTuple, TypeVar

from ik_node.solver.batch.batch_input import many_poses, many_starts, ManyPoses
from ik_node.solver.batch.batch_run import BatchRun, Progress, thread_count
from ik_node.solver.batch.batch_solution import BatchSolution
from ik_node.solver.batch.batch_work import batch_chains, BatchWork
from ik_node.solver.batch.engines import Chunk, part_size, run_chunks
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Poses = Mapping[str, tuple[Array, Array]]
Result = TypeVar('Result')


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
    return BatchSolution(q, chains, spent, run.rows, work.packed, work.names)


def _solve_and_finish(
    shared: tuple[BatchWork, Callable[[BatchSolution], Result]], part: Part
) -> Result:
    work, finish = shared
    return finish(solve_part(work, part))


def _arrays(solution: BatchSolution) -> tuple[Array, list[Array]]:
    return solution.q, solution.records


def solve_on_executor(
    work: BatchWork,
    goals: ManyPoses,
    q0: ArrayLike,
    executor: Executor,
    threads: int | None = None,
    progress: Progress | None = None,
) -> BatchSolution:
    """Solve every problem on an executor, see `Solver.solve_batch`."""
    began = perf_counter()
    poses = many_poses(goals, work.problem)
    many = next((len(positions) for positions, _ in poses.values()), None)
    q, one_start = many_starts(q0, many, work.names)
    chains = batch_chains(work.problem, poses, len(q))
    joints = BatchRun(work, chains, q, one_start=one_start).rows
    # The answers overwrite the starts, also the one that all problems share.
    starts = q[:1].copy() if one_start else q
    rows = range(len(q))
    parts = run_parts(
        work, poses, starts, rows, _arrays, executor, threads=threads, progress=progress
    )
    at = 0
    for found, records in parts:
        cut = slice(at, at + len(found))
        q[cut] = found
        for chain, record in zip(chains, records, strict=True):
            chain.records[cut] = record
        at += len(found)
    if progress is not None:
        progress(len(q), len(q))
    return BatchSolution(q, chains, perf_counter() - began, joints, work.packed, work.names)
