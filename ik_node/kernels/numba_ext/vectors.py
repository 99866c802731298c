"""The functions of `vectors` as LLVM vector instructions on values in one register."""

from __future__ import annotations

import operator
from typing import Any

from ik_node.kernels.numba_ext.unchecked_array import address, describe, Flat
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

# A product and a sum may be done in one instruction, rounded once.
FUSED = ('contract',)


class Lanes(types.Type):
    """The Numba type of a vector of `count` numbers."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f'Lanes({count})')


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, of: Lanes) -> None:
        super().__init__(manager, of, vector_type(of.count))


_FOUR, _SIX = Lanes(4), Lanes(6)


def vector_type(count: int) -> Any:
    """Return the LLVM type of a vector of `count` numbers."""
    return ir.VectorType(ir.DoubleType(), count)


def load(context: Any, builder: Any, of: Any, array: Any, at: Any, count: int) -> Any:
    """Return array[at:at + count]; `at` is never negative."""
    return _described(builder, of, builder.load(_place(context, builder, of, array, at, count)))


def store(context: Any, builder: Any, of: Any, array: Any, at: Any, vector: Any) -> None:
    """Write a vector to array[at] and the places after it."""
    place = _place(context, builder, of, array, at, vector.type.count)
    _described(builder, of, builder.store(vector, place))


def _place(context: Any, builder: Any, of: Flat, array: Any, at: Any, count: int) -> Any:
    place = address(context, builder, of, array, at, count)
    return builder.bitcast(place, vector_type(count).as_pointer())


def _described(builder: Any, of: Flat, access: Any) -> Any:
    access.align = 8
    return describe(builder, of, access)


def _pack(builder: Any, numbers: Any) -> Any:
    vector = ir.Constant(vector_type(len(numbers)), ir.Undefined)
    for at, number in enumerate(numbers):
        vector = builder.insert_element(vector, number, ir.Constant(ir.IntType(32), at))
    return vector


@type_callable(operator.getitem)
def _type_of_get(context: Any) -> Any:
    def get(of: Any, index: Any) -> Any:
        return types.float64(of, types.intp) if isinstance(of, Lanes) else None

    return get


@lower_builtin(operator.getitem, Lanes, types.intp)
def _get(context: Any, builder: Any, called: Any, values: Any) -> Any:
    return builder.extract_element(*values)


@intrinsic
def pack(typing_context: Any, x: Any, y: Any, z: Any, p: Any) -> Any:
    """Return the vector (x, y, z, p)."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return _pack(builder, values)

    return _FOUR(*4 * [types.float64]), build


@intrinsic
def four(typing_context: Any, w: Any, at: Any) -> Any:
    """Return w[at:at + 4]."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        array, place = values
        return load(context, builder, called.args[0], array, place, 4)

    return _FOUR(w, types.int64), build


@intrinsic
def six(typing_context: Any, w: Any, at: Any) -> Any:
    """Return w[at:at + 6]."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        array, place = values
        return load(context, builder, called.args[0], array, place, 6)

    return _SIX(w, types.int64), build


@intrinsic
def six_of(typing_context: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
    """Return the vector (a, b, c, d, e, f)."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return _pack(builder, values)

    return _SIX(*6 * [types.float64]), build


@intrinsic
def placed(typing_context: Any, a: Any, at: Any, number: Any) -> Any:
    """Return the vector with component `at` replaced."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return builder.insert_element(values[0], values[2], values[1])

    return a(a, types.int64, types.float64), build


def _only(builder: Any, a: Any, at: Any, sign: str) -> Any:
    """Return the vector with zeros in components that fail the comparison with `at`."""
    count, place = a.type.count, ir.IntType(64)
    places = ir.Constant(ir.VectorType(place, count), list(range(count)))
    other = ir.Constant(places.type, ir.Undefined)
    for k in range(count):
        other = builder.insert_element(other, at, ir.Constant(ir.IntType(32), k))
    kept = builder.icmp_signed(sign, places, other)
    return builder.select(kept, a, ir.Constant(a.type, count * [0.0]))


@intrinsic
def after(typing_context: Any, a: Any, at: Any) -> Any:
    """Return the vector with zeros in components 0 to `at`."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return _only(builder, values[0], values[1], '>')

    return a(a, types.int64), build


@intrinsic
def before(typing_context: Any, a: Any, at: Any) -> Any:
    """Return the vector with zeros from component `at` on."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return _only(builder, values[0], values[1], '<')

    return a(a, types.int64), build


@intrinsic
def put(typing_context: Any, w: Any, at: Any, a: Any) -> Any:
    """Write a vector to w[at] and the places after it."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        store(context, builder, called.args[0], *values)
        return context.get_dummy_value()

    return types.void(w, types.int64, a), build


@intrinsic
def times(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the componentwise product of two vectors."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return builder.fmul(*values, flags=FUSED)

    return a(a, a), build


@intrinsic
def plus(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the sum of two vectors."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return builder.fadd(*values, flags=FUSED)

    return a(a, a), build


def _share(builder: Any, share: Any, of: Any) -> Any:
    return builder.fmul(_pack(builder, of.type.count * [share]), of, flags=FUSED)


@intrinsic
def more(typing_context: Any, a: Any, share: Any, b: Any) -> Any:
    """Return a + share * b."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return builder.fadd(values[0], _share(builder, *values[1:]), flags=FUSED)

    return a(a, types.float64, a), build


@intrinsic
def less(typing_context: Any, a: Any, share: Any, b: Any) -> Any:
    """Return a - share * b."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        return builder.fsub(values[0], _share(builder, *values[1:]), flags=FUSED)

    return a(a, types.float64, a), build


@intrinsic
def dot(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the scalar product."""

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        products = builder.fmul(*values, flags=FUSED)
        halves = [
            builder.shuffle_vector(
                products,
                products,
                ir.Constant(ir.VectorType(ir.IntType(32), 3), [first, first + 1, first + 2]),
            )
            for first in (0, 3)
        ]
        sums = builder.fadd(*halves, flags=FUSED)
        x, y, z = (builder.extract_element(sums, ir.Constant(ir.IntType(32), k)) for k in range(3))
        return builder.fadd(builder.fadd(x, y), z)

    return types.float64(_SIX, _SIX), build
