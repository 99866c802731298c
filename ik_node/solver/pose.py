"""The checks of poses and joint values that come from the caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import math
from typing import Any

from ik_node.errors import OptionError, ShapeError
from ik_node.kernels.layout import LARGEST, NORMALISED
from ik_node.model.given import ARRAY, elements, is_number, numbers
from ik_node.model.pose_forms import position_and_quat
from ik_node.model.request import Request
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Longest time [s], about 30 years.
MOST_SECONDS = 1e9
# Longer quaternions are something else, such as angles in degrees.
MOST_NORM = 10.0
A_ROTATION = 'a quaternion of length 1 (angles are none), xyzw'

# Joint values as an array, or by name.
Values = ArrayLike | Mapping[str, ArrayLike]


def unit_pose(
    name: str, pose: Any, request: Request | None = None
) -> tuple[float, float, float, float, float, float, float]:
    """
    Return the seven numbers of a pose, with the quaternion normalised.

    `pose`: position (3,) [m] and orientation (4,), or a form of `position_and_quat`; None = the
    pose that the goal has. `request`: the goal, which decides whether a position alone is enough;
    None = it is not.
    """
    try:
        # Calls of `elements` would be a third of the time that this function takes.
        position, quat_xyzw = pose if pose.__class__ is tuple else elements(pose)
        p = position.tolist() if position.__class__ is ARRAY else elements(position)
        r = quat_xyzw.tolist() if quat_xyzw.__class__ is ARRAY else elements(quat_xyzw)
        x, y, z = p
        a, b, c, d = r
        square = a * a + b * b + c * c + d * d
        norm = math.sqrt(square)
        # Chained comparisons, which NaN fails too, are faster than abs, max and isfinite.
        near = -LARGEST <= x <= LARGEST and -LARGEST <= y <= LARGEST and -LARGEST <= z <= LARGEST
    except (TypeError, ValueError, OverflowError):
        turns = request is None or request.uses_orientation
        if pose is None and request is not None and request.source is not None:
            return unit_pose(name, request.pose)
        try:
            pair = position_and_quat(f'pose of {name!r}', pose, turns=turns)
        except ShapeError as refusal:
            raise refusal from None
        return unit_pose(name, pair)
    if not (near and norm < math.inf):
        large = norm < math.inf and all(abs(value) < math.inf for value in (x, y, z))
        target = f'a position within {LARGEST:g} m' if large else 'finite numbers'
        raise ShapeError(f'pose of {name!r}', target, f'{p} and {r}')
    if not 1e-9 <= norm <= MOST_NORM:
        got = f'{r}, ' + (f'of length {norm:.3g}' if norm > 1.0 else 'which is zero')
        raise ShapeError(f'quaternion of {name!r}', A_ROTATION, got)
    if abs(square - 1.0) <= NORMALISED:
        return x, y, z, a, b, c, d
    return x, y, z, a / norm, b / norm, c / norm, d / norm


def refuse_q(names: Sequence[str], q: Array) -> None:
    """Raise a ShapeError that names joint values that are not finite or beyond `LARGEST`."""
    if np.abs(q).max(initial=0.0) <= LARGEST:
        return
    named = list(zip(names, q.tolist(), strict=True))
    bad = [name for name, value in named if not math.isfinite(value)]
    if bad:
        raise ShapeError('q', 'finite numbers', f'NaN or infinity for {", ".join(bad)}')
    large = [f'{value:g} for {name}' for name, value in named if not abs(value) <= LARGEST]
    if large:
        raise ShapeError('q', f'numbers within {LARGEST:g}', ', '.join(large))


def seconds(what: str, value: Any) -> float:
    """Return a time above 0 [s]; raise OptionError for others."""
    if is_number(value) and 0.0 < value <= MOST_SECONDS:
        return float(value)
    raise OptionError(what, value, 'a time above 0 [s]')


def many_q(what: str, values: Any, names: Sequence[str], count: int | None = None) -> Array:
    """
    Return configurations, shape (n, nq) [rad or m], to be read; a single one is one row.

    With a `count`, n is 1 or that. Raises a ShapeError that names the row.
    """
    rows: Array = values
    if rows.__class__ is not ARRAY or rows.dtype != np.float64:
        rows = numbers(what, values)
    fits = rows.ndim in (1, 2) and rows.shape[-1] == len(names)
    if not fits or (rows.ndim == 2 and count not in (None, len(rows))):
        shape = f'shape ({len(names)},) or ({"n" if count is None else count}, {len(names)})'
        raise ShapeError(what, shape, f'shape {rows.shape}')
    many = np.atleast_2d(rows)
    # Comparisons that NaN fails too.
    if not (many.max(initial=0.0) <= LARGEST and many.min(initial=0.0) >= -LARGEST):
        row = int(np.argmin((np.abs(many) <= LARGEST).all(axis=1)))
        try:
            refuse_q(names, many[row])
        except ShapeError as error:
            where = what if rows.ndim == 1 else f'{what} in row {row}'
            raise ShapeError(where, error.expected, error.got) from None
    return many


def names_in(what: str, names: Any) -> tuple[str, ...]:
    """Return names as a tuple; a string is one name."""
    if isinstance(names, str):
        return (names,)
    chosen = tuple(names) if isinstance(names, Iterable) else (None,)
    if not all(isinstance(name, str) for name in chosen):
        raise OptionError(what, names, 'a list of names')
    return chosen


def check_mapping(what: str, given: object, contents: str) -> None:
    """Raise an OptionError unless an argument is a mapping."""
    if not isinstance(given, Mapping):
        raise OptionError(what, given, f'a mapping {{{contents}}}')
