"""The compiled form of `prepared_call`: arrays made from addresses, and a call by address."""

from __future__ import annotations

from typing import Any

from ik_node.kernels._jit import entry
from ik_node.kernels.solve_state import STATUS_REFUSED
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
import numpy as np
from numpy.typing import NDArray


@intrinsic
def call(
    typing_context: Any,
    code: Any,
    i: Any,
    f: Any,
    k: Any,
    w: Any,
    q: Any,
    joints: Any,
    options: Any,
    positions: Any,
    quats_xyzw: Any,
    slice_: Any,
) -> Any:
    """Call `advance` by the address of its compiled code."""
    arguments = (i, f, k, w, q, joints, options, positions, quats_xyzw, slice_)

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(types.int64, arguments)
        place = builder.inttoptr(values[0], kind.as_pointer())
        ended, status = convention.call_function(
            builder, place, types.int64, arguments, values[1:]
        )
        with cgutils.if_unlikely(builder, ended.is_error):
            convention.return_status_propagate(builder, ended)
        return status

    return types.int64(types.int64, *arguments), build


Floats = NDArray[np.float64]

# Code, number of goals, address and size of six arrays, steps of a slice, rows of `joints`.
PLACES = 16


def _array(context: Any, builder: Any, called: Any, address: Any, shape: list[Any]) -> Any:
    """Build an array that does not own its memory."""
    made = context.make_array(called.return_type)(context, builder)
    size = context.get_constant(types.intp, 8)
    populate_array(
        made,
        data=builder.bitcast(address, made.data.type),
        shape=shape,
        strides=[builder.mul(size, shape[1]), size] if len(shape) == 2 else [size],
        itemsize=size,
        meminfo=None,
    )
    return made._getvalue()


def _at_address(context: Any, builder: Any, called: Any, values: Any) -> Any:
    pointer = context.get_value_type(types.voidptr)
    return _array(context, builder, called, builder.inttoptr(values[0], pointer), values[1:])


@intrinsic
def integers(typing_context: Any, address: Any, size: Any) -> Any:
    """Return the array of `size` integers at an address."""
    return types.int64[::1](types.int64, types.int64), _at_address


@intrinsic
def numbers(typing_context: Any, address: Any, size: Any) -> Any:
    """Return the array of `size` numbers at an address."""
    return types.float64[::1](types.int64, types.int64), _at_address


@intrinsic
def table(typing_context: Any, address: Any, rows: Any, columns: Any) -> Any:
    """Return the array (rows, columns) of numbers at an address."""
    return types.float64[:, ::1](types.int64, types.int64, types.int64), _at_address


@intrinsic
def rows_of(typing_context: Any, array: Any, rows: Any, columns: Any) -> Any:
    """Return the same memory as an array (rows, columns)."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        given = context.make_array(array)(context, builder, values[0])
        return _array(context, builder, called, given.data, values[1:])

    return types.float64[:, ::1](array, types.int64, types.int64), build


@entry
def advance_prepared(at: int, q: Floats, positions: Floats, quats_xyzw: Floats) -> int:
    """
    Start a new solve with the arrays of a prepared call.

    Parameters
    ----------
    at : int
        Address of the array that `prepared_call.places_of` returned.
    q : ndarray, shape (nq,)
        Start, and at the end the answer [rad or m].
    positions, quats_xyzw : ndarray, shape (k, 3), (k, 4), or (3,), (4,)
        Poses of all goals, in order.

    Returns
    -------
    int
        As from `advance`, which goes on where it is RUNNING; REFUSED also when a shape is wrong.

    """
    places = integers(at, PLACES)
    count = places[1]
    rows = places[15]
    fits = q.size * rows == places[11] and positions.shape[positions.ndim - 1] == 3
    fits = fits and quats_xyzw.shape[quats_xyzw.ndim - 1] == 4
    if not fits or positions.size != 3 * count or quats_xyzw.size != 4 * count:
        return STATUS_REFUSED
    return int(
        call(
            places[0],
            integers(places[2], places[3]),
            numbers(places[4], places[5]),
            integers(places[6], places[7]),
            numbers(places[8], places[9]),
            q,
            table(places[10], rows, q.size),
            numbers(places[12], places[13]),
            rows_of(positions, count, 3),
            rows_of(quats_xyzw, count, 4),
            -places[14],
        )
    )
