"""The functions of `six` as LLVM's vector instructions."""

from __future__ import annotations

from typing import Any

from ik_node.kernels.flat_compiled import address, Flat
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_NUMBER = ir.DoubleType()
_VECTOR = ir.VectorType(_NUMBER, 6)
_SIX = types.UniTuple(types.float64, 6)
# A product and a sum may be done in one instruction, rounded once.
_FUSED = ('contract',)


def _constant(value: int) -> ir.Constant:
    return ir.Constant(ir.IntType(32), value)


def _place(context: Any, builder: Any, of: Any, array: Any, at: Any) -> Any:
    """Return the address of array[at]; `at` is never negative."""
    if isinstance(of, Flat):
        place = address(context, builder, of, array, at)
    else:
        place = builder.gep(context.make_array(of)(context, builder, array).data, [at])
    return builder.bitcast(place, _VECTOR.as_pointer())


def _pack(builder: Any, numbers: list[Any]) -> Any:
    vector = ir.Constant(_VECTOR, ir.Undefined)
    for at, number in enumerate(numbers):
        vector = builder.insert_element(vector, number, _constant(at))
    return vector


def _vector(builder: Any, numbers: Any) -> Any:
    return _pack(builder, [builder.extract_value(numbers, at) for at in range(6)])


def _tuple(builder: Any, vector: Any) -> Any:
    numbers = [builder.extract_element(vector, _constant(at)) for at in range(6)]
    return cgutils.pack_array(builder, numbers)


@intrinsic
def six(typing_context: Any, w: Any, at: Any) -> Any:
    """Return w[at:at + 6]."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _place(context, builder, signature.args[0], *values)
        return _tuple(builder, builder.load(place, align=8))

    return _SIX(w, types.int64), build


@intrinsic
def put(typing_context: Any, w: Any, at: Any, a: Any) -> Any:
    """Write six numbers to w[at:at + 6]."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _place(context, builder, signature.args[0], *values[:2])
        builder.store(_vector(builder, values[2]), place, align=8)
        return context.get_dummy_value()

    return types.void(w, types.int64, _SIX), build


@intrinsic
def less(typing_context: Any, a: Any, share: Any, b: Any) -> Any:
    """Return a - share * b."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        share = _pack(builder, 6 * [values[1]])
        product = builder.fmul(share, _vector(builder, values[2]), flags=_FUSED)
        rest = builder.fsub(_vector(builder, values[0]), product, flags=_FUSED)
        return _tuple(builder, rest)

    return _SIX(_SIX, types.float64, _SIX), build


@intrinsic
def dot(typing_context: Any, a: Any, b: Any) -> Any:
    """Return the scalar product."""

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        left, right = (_vector(builder, numbers) for numbers in values)
        products = builder.fmul(left, right, flags=_FUSED)
        halves = [
            builder.shuffle_vector(
                products,
                products,
                ir.Constant(ir.VectorType(ir.IntType(32), 3), [first, first + 1, first + 2]),
            )
            for first in (0, 3)
        ]
        sums = builder.fadd(*halves, flags=_FUSED)
        x, y, z = (builder.extract_element(sums, _constant(at)) for at in range(3))
        return builder.fadd(builder.fadd(x, y), z)

    return types.float64(_SIX, _SIX), build
