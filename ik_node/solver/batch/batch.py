"""Goals by the thousand on all cores, each a problem of its own."""

from __future__ import annotations

from operator import index
import os
from time import perf_counter

from ik_node.errors import OptionError
from ik_node.solver.batch.batch_chain import batch_chains
from ik_node.solver.batch.batch_input import many_poses, many_starts, ManyPoses
from ik_node.solver.batch.batch_run import BatchRun, Progress
from ik_node.solver.batch.batch_solution import BatchSolution
from ik_node.solver.batch.batch_work import BatchWork
from numpy.typing import ArrayLike


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
