"""The checks of the poses and starts of a batch, which name the row of a bad value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from ik_node.errors import ShapeError
from ik_node.kernels.layout import NORMALISED
from ik_node.model.given import numbers
from ik_node.model.pose_forms import position_and_quat
from ik_node.solver.pose import A_ROTATION, MOST_NORM
from ik_node.solver.problem.problem import Problem
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
ManyPoses = Mapping[str, tuple[ArrayLike, ArrayLike]]


def many_poses(
    goals: ManyPoses, problem: Problem | None = None, first: int = 0
) -> dict[str, tuple[Array, Array]]:
    """
    Return copies of the poses of each goal, with the quaternions normalised.

    `goals`: shapes (N, 3) [m] and (N, 4), or another form of `position_and_quat`. `problem`: the
    problem with these goals, some of which may need positions only; None = all of them need
    orientations. Raises ShapeError if a shape is wrong, the goals have different N, a number is
    not finite, or a quaternion is zero.
    """
    read = {}
    for name, pose in goals.items():
        turns = problem is None or problem.request_of_goal(name).uses_orientation
        read[name] = _poses(name, pose, turns, first)
    counts = {name: len(positions) for name, (positions, _) in read.items()}
    if len(set(counts.values())) > 1:
        got = ', '.join(f'{count} for {name!r}' for name, count in counts.items())
        raise ShapeError('goals', 'as many poses for one goal as for the other', got)
    return read


def many_starts(q0: ArrayLike, count: int | None, names: Sequence[str]) -> tuple[Array, bool]:
    """
    Return a start for every problem.

    `q0` (nq,): one start, or one per problem [rad or m]. `count`: number N of problems; None = the
    number of rows of q0. Returns `starts` (N, nq), a copy of the starts [rad or m] and `one`, True
    if q0 is a single start for all problems. Raises ShapeError if the shape is wrong or a number
    is not finite.
    """
    width = len(names)
    given = numbers('q0', q0)
    one = given.ndim == 1
    rows = 'N' if count is None else str(count)
    if given.shape[-1:] != (width,) or given.ndim > 2 or (one and count is None):
        raise ShapeError('q0', _shapes(width, rows, single=count is not None), f'{given.shape}')
    if not one and count is not None and len(given) != count:
        raise ShapeError('q0', _shapes(width, rows, single=True), f'{given.shape}')
    row = _first_bad(np.atleast_2d(given))
    if row >= 0:
        bad = [n for n, v in zip(names, np.atleast_2d(given)[row], strict=True) if not isfinite(v)]
        where = 'q0' if one else f'q0 in row {row}'
        raise ShapeError(where, 'finite numbers', f'NaN or infinity for {", ".join(bad)}')
    many = len(given) if count is None else count
    return np.array(np.broadcast_to(given, (many, width)), order='C'), one


def _poses(name: str, pose: Any, turns: bool, first: int) -> tuple[Array, Array]:
    """Return copies of the poses of one goal, see `many_poses`."""
    at, turned = position_and_quat(f'poses of {name!r}', pose, turns=turns, many=True)
    x, y, z, w = turned.T
    # The same order of operations as in `unit_pose`, so that results are equal to the last bit.
    with np.errstate(over='ignore', invalid='ignore'):
        square = x * x + y * y + z * z + w * w
        norm: Array = np.sqrt(square)
        row = _first_bad(np.column_stack((at, norm)))
    if row >= 0:
        got = f'{at[row].tolist()} and {turned[row].tolist()}'
        raise ShapeError(f'pose of {name!r} in row {first + row}', 'finite numbers', got)
    wrong = np.flatnonzero((norm < 1e-9) | (norm > MOST_NORM))
    if wrong.size:
        row = int(wrong[0])
        length = f'of length {norm[row]:.3g}' if norm[row] > 1.0 else 'which is zero'
        got = f'{turned[row].tolist()}, {length}'
        raise ShapeError(f'quaternion of {name!r} in row {first + row}', A_ROTATION, got)
    norm[np.abs(square - 1.0) <= NORMALISED] = 1.0
    return at, turned / norm[:, None]


def _first_bad(rows: Array) -> int:
    """Return the index of the first row with a number that is not finite; -1 = none."""
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    return int(bad[0]) if bad.size else -1


def _shapes(width: int, rows: str, *, single: bool) -> str:
    many = f'({rows}, {width})'
    return f'shape ({width},) or {many}' if single else f'shape {many} where no goal is given'
