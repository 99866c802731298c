"""The checks of values that callers give."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

from ik_node.errors import OptionError, ShapeError, shown, similar
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Module constants, because `np.ndarray` would be an attribute look-up in every call.
ARRAY = np.ndarray
FLOAT = np.dtype(np.float64)


def numbers(what: str, values: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    """
    Return a copy of an array as the kernels take it: native floats, aligned, in C order.

    ShapeError is raised if the elements are not numbers. `what` and the expected `shape`, which is
    not checked, are for its message.
    """
    if values.__class__ is np.ndarray and values.dtype is FLOAT:
        return values.copy()
    try:
        array = np.array(values, order='C', ndmin=0)
        if array.dtype.kind in 'biufO':
            return array.astype(np.float64, order='C', copy=False)
    except (TypeError, ValueError, OverflowError, RecursionError):
        pass
    expected = 'an array of numbers' if shape is None else f'numbers of shape {shape}'
    raise ShapeError(what, expected, shown(values))


def elements(values: Any) -> Any:
    """
    Return the elements of an array, a list or a tuple, without a check of their types.

    TypeError is raised for other types, about which `numbers` decides.
    """
    if isinstance(values, np.ndarray):
        return values.tolist()
    if isinstance(values, (list, tuple)):
        return values
    raise TypeError(type(values))


def finite(name: str, given: ArrayLike, count: int | None = None) -> Array:
    """
    Return some finite numbers; raise ShapeError for others, or if they are not `count` in a row.

    A single one needs no array around it; count = None: of any shape.
    """
    values = numbers(name, given, None if count is None else (count,))
    if count is not None and values.shape != (count,) and not (count == 1 and not values.shape):
        raise ShapeError(name, f'shape ({count},)', f'shape {values.shape}')
    if not np.isfinite(values).all():
        raise ShapeError(name, 'finite numbers', shown(values.tolist()))
    return values if count is None else values.reshape(count)


def text(_: str, value: object) -> str:
    """Return a value as a text."""
    return str(value)


def switch(_: str, value: object) -> bool:
    """Return whether a value counts as true."""
    return bool(value)


def at_least_zero(what: str, value: object) -> float:
    """Return a finite number of 0 or more; raise OptionError for others."""
    result = number(value)
    if not 0.0 <= result < inf:
        raise OptionError(what, value, 'a finite number, 0 or more')
    return result


def number(value: object) -> float:
    """Return a number as a float; NaN if it is none."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float('nan')


def is_number(value: object) -> bool:
    """Return True if a value is a real number."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def whole_number(what: str, value: Any, least: int = 0, limit: int = 2**53) -> int:
    """Return an integer, also of a float without fraction; raise OptionError for others."""
    if is_number(value) and least <= value <= limit and int(value) == value:
        return int(value)
    raise OptionError(what, value, f'a whole number, {least} or more')


def one_of(what: str, value: object, allowed: Iterable[str]) -> str:
    """Return an argument that is one of a few words; raise OptionError if it is none of them."""
    if isinstance(value, str) and value in allowed:
        return value
    raise OptionError(what, value, ' '.join(allowed), similar(value, allowed))
