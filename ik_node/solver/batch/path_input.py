"""The checked arguments of path solves: poses, times, limits of speed and acceleration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from ik_node.errors import listed, OptionError, ShapeError
from ik_node.model.given import is_number, numbers
from ik_node.solver.batch.batch_input import many_poses, ManyPoses
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import check_mapping
from ik_node.solver.problem.problem import Problem
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Paths = ManyPoses | Sequence[ManyPoses]

# Relative margin of the times, so that speeds computed from rounded times are within the limits.
MARGIN = 1e-9
# Longest time from point to point [s], about 30 years.
MOST_SECONDS = 1e9


def requested_times(count: int, dt: float, times: ArrayLike | None) -> Array:
    """
    Return the requested time of each point, shape (count,) [s].

    Raises OptionError if dt is not a number above zero. Raises ShapeError if the shape of `times`
    is wrong, or they do not increase.
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


def checked_limits(what: str, given: ArrayLike, count: int) -> Array:
    """
    Return largest speeds or accelerations as an array, shape (nq,).

    Raises ShapeError if they have the wrong shape or one is not above zero.
    """
    limits = numbers(what, given, (count,))
    if limits.shape != (count,) or not (limits > 0.0).all():
        got = f'shape {limits.shape}, least {limits.min(initial=np.inf)}'
        raise ShapeError(what, f'shape ({count},), above 0', got)
    return limits


def stretched_times(
    q: Array, requested: Array, max_velocity: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """
    Return the times of points, extended where a joint would exceed its largest speed.

    `q` (N, nq): joint values [rad or m]. `requested` (N,): requested times [s]. `max_velocity`
    (nq,): largest speeds [rad/s or m/s]; inf = none. Returns `times` (N,), times [s]; the first
    one is unchanged and `longer` (N,), True if the step to the point takes longer than requested.
    """
    needed = (1.0 + MARGIN) * (np.abs(np.diff(q, axis=0)) / max_velocity).max(axis=1, initial=0.0)
    target = np.diff(requested)
    longer = np.concatenate(([False], needed > target))
    # Delays are added to the requested times, so that times without a delay stay exact.
    late = np.concatenate(([0.0], np.cumsum(np.maximum(needed - target, 0.0))))
    return requested + late, longer


class Request(NamedTuple):
    """
    The arguments that hold for all paths, see `Solver.solve_paths`.

    `max_velocity`, `max_acceleration` (nq,): largest speeds [rad/s or m/s] and accelerations
    [rad/s^2 or m/s^2]; inf = none. `keep_times`: true: joints lag where they would be too fast.
    Otherwise the times are extended. `smoothing`: None = as in the options. `max_step`: largest
    change of a joint in one solve [rad or characteristic lengths].
    """

    max_velocity: Array
    max_acceleration: Array
    keep_times: bool
    smoothing: float | None
    max_step: float


def split_paths(
    goals: Paths, problem: Problem
) -> tuple[dict[str, tuple[Array, Array]], list[int]]:
    """
    Return the poses of all frames of all paths in a row, and the number of frames of each path.

    `goals`: see `Solver.solve_paths`. Raises ShapeError if a path has no frames, or paths have
    different goals, or a shape is wrong.
    """
    if isinstance(goals, Mapping):
        given = {name: _numbers_of(name, pose) for name, pose in goals.items()}
        sizes = {_path_shape(pose) for pose in given.values()}
        if len(sizes) != 1 or None in sizes:
            form = 'positions (P, N, 3) and quaternions xyzw (P, N, 4), or matrices (P, N, 4, 4)'
            raise ShapeError('goals', f'{form}, of equal P and N', str(sorted(map(str, sizes))))
        many, count = next(iter(sizes)) or (0, 0)
        read = many_poses({name: _in_a_row(pose) for name, pose in given.items()}, problem)
        counts = [count] * many
    else:
        for index, path in enumerate(goals):
            check_mapping(f'goals[{index}]', path, 'name of a goal or link: poses')
            if set(path) != set(goals[0]):
                here, first = (listed(map(str, names)) for names in (path, goals[0]))
                raise ShapeError(f'goals[{index}]', f'the goals of path 0: {first}', here)
        each = [many_poses(path, problem) for path in goals]
        counts = [len(next(iter(path.values()))[0]) if path else 0 for path in each]
        read = {
            name: (
                np.concatenate([path[name][0] for path in each]),
                np.concatenate([path[name][1] for path in each]),
            )
            for name in (each[0] if each else ())
        }
    if not counts or min(counts) == 0:
        empty = f'path {counts.index(0)} has none' if counts else 'no path'
        raise ShapeError('goals', 'a path of one point or more', empty)
    return read, counts


def _numbers_of(name: str, pose: Any) -> Any:
    """Return the poses of a goal as an array, or as a pair of arrays or Rotations."""
    what = f'poses of {name!r}'
    if isinstance(pose, (tuple, list)) and len(pose) == 2:
        return tuple(part if hasattr(part, 'as_quat') else numbers(what, part) for part in pose)
    return numbers(what, pose)


def _path_shape(pose: Any) -> tuple[int, int] | None:
    """Return the number of paths and frames of the poses of a goal; None without such axes."""
    first = pose[0] if isinstance(pose, tuple) else pose
    shape = np.shape(first)
    return (shape[0], shape[1]) if len(shape) >= 3 else None


def _in_a_row(pose: Any) -> Any:
    """Return poses with two leading axes with one."""
    if isinstance(pose, tuple):
        return tuple(part if hasattr(part, 'as_quat') else _in_a_row(part) for part in pose)
    return pose.reshape(prod(pose.shape[:2]), *pose.shape[2:])


def all_times(counts: Sequence[int], dt: float, times: Any) -> Array:
    """
    Return the requested times of all frames in a row [s].

    `times` holds for all paths if it is an array or a sequence of numbers, or is a list with
    one for each.
    """
    each = [times] * len(counts)
    if isinstance(times, (list, tuple)) and len(times) and np.ndim(times[0]) > 0:
        if len(times) != len(counts):
            raise ShapeError(
                'times', f'one sequence for each of {len(counts)} paths', f'{len(times)}'
            )
        each = list(times)
    known: dict[int, Array] = {}
    made = []
    for count, given in zip(counts, each, strict=True):
        if times is None and count in known:
            made.append(known[count])
            continue
        known[count] = requested_times(count, dt, given)
        made.append(known[count])
    return np.concatenate(made)


def check_request(request: Request, options: SolverOptions) -> None:
    """
    Check the numbers of a request.

    Raises OptionError if one is not allowed, or not with these options.
    """
    step, smoothing = request.max_step, request.smoothing
    if not is_number(step) or not 0.0 < step <= 1.0:
        raise OptionError('max_step', step, 'a number above 0, up to 1')
    if smoothing is not None and (not is_number(smoothing) or not 0.0 <= smoothing <= 1e6):
        raise OptionError('smoothing', smoothing, 'a number from 0 to 1e6')
    if smoothing and not options.compromise:
        raise OptionError('smoothing', smoothing, '0 unless the option compromise is on')
    if not request.keep_times and np.isfinite(request.max_acceleration).any():
        raise OptionError('keep_times', False, 'True with max_acceleration')
