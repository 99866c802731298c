"""The checks of poses and joint values that come from the caller."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any

from ik_node.errors import ShapeError, shown
from ik_node.kernels.layout import LARGEST, NORMALISED
import numpy as np
from numpy.typing import ArrayLike, NDArray

FLOAT = np.dtype(np.float64)


def unit_pose(
    name: str, position: ArrayLike, quat_xyzw: ArrayLike
) -> tuple[float, float, float, float, float, float, float]:
    """
    Return the seven numbers of a pose, with the quaternion normalised.

    Parameters
    ----------
    name : str
        Name of the goal in messages.
    position : array_like, shape (3,)
        Position [m].
    quat_xyzw : array_like, shape (4,)
        Orientation.

    Raises
    ------
    ShapeError
        If a shape is wrong, a number is not finite or too large, or the quaternion is zero.

    """
    p: Any = position.tolist() if isinstance(position, np.ndarray) else position
    r: Any = quat_xyzw.tolist() if isinstance(quat_xyzw, np.ndarray) else quat_xyzw
    try:
        x, y, z = p
        a, b, c, d = r
        square = a * a + b * b + c * c + d * d
        norm = math.sqrt(square)
        finite = max(abs(x), abs(y), abs(z)) <= LARGEST and math.isfinite(norm + x + y + z)
    except (TypeError, ValueError, OverflowError):
        got = f'shapes {np.shape(position)} and {np.shape(quat_xyzw)}'
        raise ShapeError(f'pose of {shown(name)}', 'three and four numbers', got) from None
    if not finite:
        large = math.isfinite(norm) and all(math.isfinite(value) for value in (x, y, z))
        wanted = f'a position within {LARGEST:g} m' if large else 'finite numbers'
        raise ShapeError(f'pose of {shown(name)}', wanted, f'{p} and {r}')
    if norm < 1e-9:
        raise ShapeError(f'quaternion of {shown(name)}', 'a rotation, xyzw', f'{r}, which is zero')
    if abs(square - 1.0) <= NORMALISED:
        return x, y, z, a, b, c, d
    return x, y, z, a / norm, b / norm, c / norm, d / norm


def numbers(
    what: str, values: ArrayLike, shape: tuple[int, ...] | None = None
) -> NDArray[np.float64]:
    """
    Return a copy of an array as the kernels take it: native floats, aligned, in C order.

    Parameters
    ----------
    what : str
        Name of the array in messages.
    values : array_like
        The numbers; masked elements become NaN.
    shape : tuple of int, optional
        The expected shape, for the message only; it is not checked.

    Raises
    ------
    ShapeError
        If the elements are not numbers.

    """
    if values.__class__ is np.ndarray and values.dtype is FLOAT:
        return values.copy()
    try:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        array = np.array(values, order='C', ndmin=0)
        if array.dtype.kind in 'biufO':
            return array.astype(np.float64, order='C', copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    wanted = 'an array of numbers' if shape is None else f'numbers of shape {shape}'
    raise ShapeError(what, wanted, shown(values))


def refuse_q(names: Sequence[str], q: NDArray[np.float64]) -> None:
    """
    Raise an error if joint values cannot be used.

    Parameters
    ----------
    names : sequence of str
        Name of each value.
    q : ndarray, shape (nq,)
        Joint values [rad or m].

    Raises
    ------
    ShapeError
        If a value is not finite or larger than `LARGEST`; the message names it.

    """
    if np.abs(q).max(initial=0.0) <= LARGEST:
        return
    named = list(zip(names, q.tolist(), strict=True))
    bad = [name for name, value in named if not math.isfinite(value)]
    if bad:
        raise ShapeError('q', 'finite numbers', f'NaN or infinity for {", ".join(bad)}')
    large = [f'{value:g} for {name}' for name, value in named if not abs(value) <= LARGEST]
    if large:
        raise ShapeError('q', f'numbers within {LARGEST:g}', ', '.join(large))
