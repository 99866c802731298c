"""When a path may be where, at the speed that its joints allow."""

from __future__ import annotations

from ik_node.errors import OptionError, ShapeError
from ik_node.solver.pose import numbers
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# So that a limit is kept, too, by whoever divides differences of rounded times.
MARGIN = 1e-9


def asked_times(count: int, dt: float, times: ArrayLike | None) -> Array:
    """
    Return the time [s] that each of some points is wanted at.

    Raises
    ------
    OptionError
        If dt is not a number above zero.
    ShapeError
        If there are not as many times, or one is not after the one before.

    """
    if times is None:
        if not is_number(dt) or not 0.0 < dt < np.inf:
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


def is_number(value: object) -> bool:
    """Return whether something is a real number."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def checked_velocity(given: ArrayLike, count: int) -> Array:
    """
    Return velocity limits (nq,) [rad/s or m/s].

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
    q: Array, asked: Array, max_velocity: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """
    Take more time for a step where a joint would be too fast.

    Parameters
    ----------
    q : ndarray, shape (N, nq)
        [rad or m]
    asked : ndarray, shape (N,)
        Times [s].
    max_velocity : ndarray, shape (nq,)
        [rad/s or m/s], inf = none.

    Returns
    -------
    times : ndarray, shape (N,)
        [s]; the first stays.
    longer : ndarray, shape (N,), bool
        Whether the step to a point takes longer than was asked.

    """
    needed = (1.0 + MARGIN) * (np.abs(np.diff(q, axis=0)) / max_velocity).max(axis=1, initial=0.0)
    wanted = np.diff(asked)
    longer = np.concatenate(([False], needed > wanted))
    # Differences are added up from the last point that is in time, so that those stay as asked.
    late = np.concatenate(([0.0], np.cumsum(np.maximum(needed - wanted, 0.0))))
    return asked + late, longer
