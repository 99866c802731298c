# flake8: noqa: E203
"""The solution of a path, pose by pose, such that no joint jumps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import acos, sin
from time import perf_counter

from ik_node.errors import OptionError, ShapeError
from ik_node.kernels.layout import CON_POSE, RECORD_STEPS
from ik_node.kernels.options import RESTARTS
from ik_node.model.given import is_number, numbers, vector
from ik_node.solver.batch.batch_input import many_poses, many_starts, ManyPoses
from ik_node.solver.batch.batch_work import batch_chains, BatchChain, BatchWork
from ik_node.solver.batch.path_solution import PathSolution
from ik_node.solver.result import ChainAnswer
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

Bools = NDArray[np.bool_]

# Relative margin of the times, so that speeds computed from rounded times are within the limits.
MARGIN = 1e-9
# Longest time from point to point [s], about 30 years.
MOST_SECONDS = 1e9


def requested_times(count: int, dt: float, times: ArrayLike | None) -> Array:
    """
    Return the requested time of each point, shape (count,) [s].

    Raises
    ------
    OptionError
        If dt is not a number above zero.
    ShapeError
        If the shape of `times` is wrong, or they do not increase.

    """
    if times is None:
        if not is_number(dt) or not 0.0 < dt <= MOST_SECONDS:
            raise OptionError('dt', dt, 'a time above 0 [s]')
        steps: Array = np.arange(count, dtype=np.float64)
        return float(dt) * steps
    given = numbers('times', times, (count,))
    if given.shape != (count,):
        raise ShapeError('times', f'shape ({count},)', f'shape {given.shape}')
    if not np.isfinite(given).all():
        row = int(np.flatnonzero(~np.isfinite(given))[0])
        raise ShapeError(f'times in row {row}', 'finite numbers', str(given[row]))
    late = np.flatnonzero(np.diff(given) <= 0.0)
    if late.size:
        row = int(late[0]) + 1
        got = f'{given[row]} after {given[row - 1]}'
        raise ShapeError(f'times in row {row}', 'a later time than before', got)
    return given


def checked_velocity(given: ArrayLike, count: int) -> Array:
    """
    Return velocity limits as an array, shape (nq,) [rad/s or m/s].

    Raises
    ------
    ShapeError
        If they have the wrong shape or one is not above zero.

    """
    limits = numbers('max_velocity', given, (count,))
    if limits.shape != (count,) or not (limits > 0.0).all():
        got = f'shape {limits.shape}, least {limits.min(initial=np.inf)}'
        raise ShapeError('max_velocity', f'shape ({count},), above 0', got)
    return limits


def stretched_times(
    q: Array, requested: Array, max_velocity: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """
    Return the times of points, extended where a joint would exceed its largest speed.

    Parameters
    ----------
    q : ndarray, shape (N, nq)
        Joint values [rad or m].
    requested : ndarray, shape (N,)
        Requested times [s].
    max_velocity : ndarray, shape (nq,)
        Largest speeds [rad/s or m/s]; inf = none.

    Returns
    -------
    times : ndarray, shape (N,)
        Times [s]; the first one is unchanged.
    longer : ndarray, shape (N,), bool
        True if the step to the point takes longer than requested.

    """
    needed = (1.0 + MARGIN) * (np.abs(np.diff(q, axis=0)) / max_velocity).max(axis=1, initial=0.0)
    wanted = np.diff(requested)
    longer = np.concatenate(([False], needed > wanted))
    # Delays are added to the requested times, so that times without a delay stay exact.
    late = np.concatenate(([0.0], np.cumsum(np.maximum(needed - wanted, 0.0))))
    return requested + late, longer


Pose = tuple[Array, Array]

# Below this angle between quaternions the arc is interpolated as a straight line [rad], because
# the division by its sine would lose digits.
STRAIGHT = 1e-6


def between(start: Pose, end: Pose, share: float) -> Pose:
    """
    Return a pose between two poses: on a straight line, with slerp along the shorter arc.

    Parameters
    ----------
    start, end : (ndarray, ndarray)
        Position (3,) [m] and unit quaternion xyzw (4,).
    share : float
        0 = start, 1 = end, exactly.

    """
    if share >= 1.0:
        return end
    position = start[0] + share * (end[0] - start[0])
    cosine = float(start[1] @ end[1])
    last = end[1] if cosine >= 0.0 else -end[1]
    angle = acos(min(abs(cosine), 1.0))
    if angle < STRAIGHT:
        quat = start[1] + share * (last - start[1])
    else:
        quat = (sin((1.0 - share) * angle) * start[1] + sin(share * angle) * last) / sin(angle)
    return position, quat / np.linalg.norm(quat)


Poses = Mapping[str, Pose]

# A step in which a joint would move too far is halved up to so many times. If a joint still moves
# too far, it would have to jump.
HALVINGS = 8
# Least time between two calls of `progress` [s].
PERIOD = 0.05


def solve_path(
    work: BatchWork,
    goals: ManyPoses,
    q0: ArrayLike,
    dt: float,
    times: ArrayLike | None,
    max_velocity: ArrayLike,
    max_step: float,
    progress: Callable[[int, int], object] | None = None,
) -> PathSolution:
    """
    Solve a path, see `Solver.solve_path`.

    Parameters
    ----------
    work : BatchWork
        Problem and options, for these goals.
    goals : mapping of str to (positions, quats_xyzw)
        Shapes (N, 3) [m] and (N, 4).
    q0 : array_like, shape (nq,)
        Start [rad or m].
    dt, times, max_velocity, max_step, progress : optional
        As for `Solver.solve_path`.

    Raises
    ------
    ShapeError, OptionError
        If an argument is not allowed.

    """
    started = perf_counter()
    read = many_poses(goals, work.problem)
    count = next((len(positions) for positions, _ in read.values()), 0)
    if count == 0:
        raise ShapeError('goals', 'a path of one point or more', 'none')
    if not is_number(max_step) or not 0.0 < max_step <= 1.0:
        raise OptionError('max_step', max_step, 'a number above 0, up to 1')
    q0 = vector('q0', q0, len(work.names))
    wanted = requested_times(count, dt, times)
    limits = checked_velocity(max_velocity, len(work.names))
    q = many_starts(q0, count, work.names)[0]
    chains = batch_chains(work.problem, read, count)
    follower = _Follower(work, chains, max_step)
    points = [{name: (p[n], r[n]) for name, (p, r) in read.items()} for n in range(count)]
    torn = np.zeros(count, dtype=bool)
    reported = started
    for n, point in enumerate(points):
        if n == 0:
            q[0] = follower.begin(q[0], point)
        else:
            q[n], torn[n] = follower.go(q[n - 1], points[n - 1], point)
        follower.keep(n)
        if progress is not None and perf_counter() - reported >= PERIOD:
            reported = perf_counter()
            progress(n + 1, count)
    if progress is not None:
        progress(count, count)
    stretched = stretched_times(q, wanted, limits)
    spent = perf_counter() - started
    joints = work.rows(q[0])
    return PathSolution(q, chains, spent, joints, follower.packed, work.names, stretched, torn)


class _Follower:
    """
    The solves from point to point of a path.

    Parameters
    ----------
    work : BatchWork
        Problem and options.
    chains : list of BatchChain
        The chains, whose records are written.
    max_step : float
        Largest change of a joint in one solve [rad or characteristic lengths].

    """

    def __init__(self, work: BatchWork, chains: list[BatchChain], max_step: float) -> None:
        self._work, self._chains = work, chains
        self._window: Array = np.minimum(
            max_step * work.problem.units, work.options.max_joint_step
        )
        self._answers: list[ChainAnswer] = []
        self._iterations = 0
        self.packed = work.packed.copy()
        self.packed[RESTARTS] = 0.0

    def begin(self, q0: Array, point: Poses) -> Array:
        """Solve for the first point, with restarts and without a limit of the step."""
        self._iterations = 0
        return self._solve(q0, point, self._work.packed, np.inf)

    def go(self, q: Array, last: Poses, point: Poses) -> tuple[Array, bool]:
        """
        Solve from one point to the next, in as many steps as necessary.

        Returns
        -------
        q : ndarray, shape (nq,)
            Joint values [rad or m].
        torn : bool
            True if a joint would have to jump.

        """
        self._iterations = 0
        done, step, torn = 0.0, 1.0, False
        while done < 1.0:
            share = min(1.0, done + step)
            aim = {name: between(last[name], end, share) for name, end in point.items()}
            found = self._solve(q, aim, self.packed, self._window)
            solved = all(answer.status is Status.CONVERGED for answer in self._answers)
            held_back = bool((np.abs(found - q) >= self._window * (1.0 - 1e-6)).any())
            if solved or not held_back or torn:
                q, done, step = found, share, 2.0 * step
            elif step > 0.5**HALVINGS:
                step *= 0.5
            else:
                # A joint would jump: continue to the end of the step as near as possible.
                q, torn, step = found, True, 1.0
        return q, torn

    def keep(self, row: int) -> None:
        """Write the result of the last solve to a row of the records."""
        for chain, answer in zip(self._chains, self._answers, strict=True):
            chain.records[row] = answer.record[: chain.records.shape[1]]
            chain.records[row, RECORD_STEPS] = self._iterations

    def _solve(self, q: Array, point: Poses, packed: Array, window: Array | float) -> Array:
        work = self._work
        for name, (position, quat_xyzw) in point.items():
            chain, row = work.problem.place_of_goal[name]
            chain.table[row, CON_POSE : CON_POSE + 3] = position
            chain.table[row, CON_POSE + 3 : CON_POSE + 7] = quat_xyzw
        found = q[None].copy()
        rows = work.rows(q, window)
        work.clamp_starts(found, rows[None])
        self._answers = work.problem.run(found[0], rows, packed, work.options.time_budget)
        work.follow(found)
        self._iterations += max((answer.iterations for answer in self._answers), default=0)
        return np.asarray(found[0])
