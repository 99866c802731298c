"""Sines and cosines of four angles as LLVM vector instructions, in the time of a library call."""

from __future__ import annotations

from math import factorial, pi
from typing import Any

from ik_node.kernels.numba_ext.intrinsics import intrinsic_of
from ik_node.kernels.numba_ext.vectors import FUSED, load, store, vector_type
from llvmlite import ir
from numba import types
from numba.core import cgutils

# A quarter of a turn in three parts: a multiple of the first two below 2**20 is exact.
_QUARTERS = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
_FOUR = vector_type(4)


def _all(value: float) -> Any:
    return ir.Constant(_FOUR, 4 * [value])


def _series(builder: Any, z: Any, terms: list[int]) -> Any:
    """Return 1 - z / terms[0]! (1 - ...), alternating, of the factorials of terms."""
    total = _all(1.0 / factorial(terms[-1]))
    for term in reversed(terms[:-1]):
        product = builder.fmul(z, total, flags=FUSED)
        total = builder.fsub(_all(1.0 / factorial(term)), product, flags=FUSED)
    return total


def _sines_cosines(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    array, into_sines, into_cosines, index = values
    of = signature.args[0]
    kind = ir.FunctionType(_FOUR, [_FOUR])
    floor = cgutils.get_or_insert_function(builder.module, kind, 'llvm.floor.v4f64')
    angle = load(context, builder, of, array, index, 4)
    turned = builder.fmul(angle, _all(2.0 / pi), flags=FUSED)
    quarters = builder.call(floor, [builder.fadd(turned, _all(0.5), flags=FUSED)])
    x = angle
    for part in _QUARTERS:
        x = builder.fsub(x, builder.fmul(quarters, _all(part), flags=FUSED), flags=FUSED)
    z = builder.fmul(x, x)
    inner = _series(builder, z, [3, 5, 7, 9, 11, 13, 15])
    xz = builder.fmul(x, z)
    s = builder.fsub(x, builder.fmul(xz, inner, flags=FUSED), flags=FUSED)
    c = _series(builder, z, [0, 2, 4, 6, 8, 10, 12, 14, 16])
    # Of the number of quarters, the last bit swaps the two, and the last but one turns signs.
    halves = builder.fmul(quarters, _all(0.5))
    whole = builder.call(floor, [halves])
    odd = builder.fcmp_unordered('!=', halves, whole)
    whole = builder.fmul(whole, _all(0.5))
    back = builder.fcmp_unordered('!=', whole, builder.call(floor, [whole]))
    sine, cosine = builder.select(odd, c, s), builder.select(odd, s, c)
    sine = builder.select(back, builder.fneg(sine), sine)
    cosine = builder.select(builder.xor(odd, back), builder.fneg(cosine), cosine)
    store(context, builder, of, into_sines, index, sine)
    store(context, builder, of, into_cosines, index, cosine)
    return context.get_dummy_value()


# Writes sines and cosines of angles[index:index + 4] to the same places of two other arrays. What
# is left of the nearest quarter of a turn goes into two series, cut off below rounding.
sines_cosines = intrinsic_of(
    4, lambda *arrays: types.void(*arrays[:3], types.int64), _sines_cosines
)
