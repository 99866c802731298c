"""The functions of `vectors` as LLVM vector instructions on values in one register."""

from __future__ import annotations

from collections.abc import Callable
import operator
from typing import Any

from ik_node.kernels.numba_ext.intrinsics import intrinsic_of
from ik_node.kernels.numba_ext.unchecked_array import address, describe, Flat
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, models, register_model, type_callable

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


def vector_type(count: int) -> Any:
    """Return the LLVM type of a vector of `count` numbers."""
    return ir.VectorType(ir.DoubleType(), count)


def load(context: Any, builder: Any, of: Any, array: Any, index: Any, count: int) -> Any:
    """Return array[index:index + count]; `index` is never negative."""
    return _described(builder, of, builder.load(_place(context, builder, of, array, index, count)))


def store(context: Any, builder: Any, of: Any, array: Any, index: Any, vector: Any) -> None:
    """Write a vector to array[index] and the places after it."""
    place = _place(context, builder, of, array, index, vector.type.count)
    _described(builder, of, builder.store(vector, place))


def _place(context: Any, builder: Any, of: Flat, array: Any, index: Any, count: int) -> Any:
    place = address(context, builder, of, array, index, count)
    return builder.bitcast(place, vector_type(count).as_pointer())


def _described(builder: Any, of: Flat, access: Any) -> Any:
    access.align = 8
    return describe(builder, of, access)


def _pack(builder: Any, numbers: Any) -> Any:
    vector = ir.Constant(vector_type(len(numbers)), ir.Undefined)
    for k, number in enumerate(numbers):
        vector = builder.insert_element(vector, number, ir.Constant(ir.IntType(32), k))
    return vector


@type_callable(operator.getitem)
def _type_of_get(context: Any) -> Any:
    def get(of: Any, index: Any) -> Any:
        return types.float64(of, types.intp) if isinstance(of, Lanes) else None

    return get


@lower_builtin(operator.getitem, Lanes, types.intp)
def _get(context: Any, builder: Any, called: Any, values: Any) -> Any:
    return builder.extract_element(*values)


def of_values(signature: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Mark a function of a builder and LLVM values, with a `signature` as in `intrinsics`."""

    def mark(function: Callable[..., Any]) -> Any:
        count = function.__code__.co_argcount - 1
        return intrinsic_of(count, signature, lambda _, builder, __, v: function(builder, *v))

    return mark


def _load(count: int) -> Any:
    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array, index = values
        return load(context, builder, signature.args[0], array, index, count)

    return intrinsic_of(2, lambda w, _: Lanes(count)(w, types.int64), build)


def _put(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    store(context, builder, signature.args[0], *values)
    return context.get_dummy_value()


four, six = _load(4), _load(6)
put = intrinsic_of(3, lambda w, _, a: types.void(w, types.int64, a), _put)


@of_values(lambda *_: Lanes(4)(*4 * [types.float64]))
def pack(builder: Any, x: Any, y: Any, z: Any, p: Any) -> Any:
    """Return the vector (x, y, z, p)."""
    return _pack(builder, (x, y, z, p))


@of_values(lambda *_: Lanes(6)(*6 * [types.float64]))
def six_of(builder: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
    """Return the vector (a, b, c, d, e, f)."""
    return _pack(builder, (a, b, c, d, e, f))


@of_values(lambda a, *_: a(a, types.int64, types.float64))
def placed(builder: Any, a: Any, index: Any, number: Any) -> Any:
    """Return the vector with component `index` replaced."""
    return builder.insert_element(a, number, index)


def _only(builder: Any, a: Any, index: Any, sign: str) -> Any:
    """Return the vector with zeros in components that fail the comparison with `index`."""
    count, place = a.type.count, ir.IntType(64)
    places = ir.Constant(ir.VectorType(place, count), list(range(count)))
    other = ir.Constant(places.type, ir.Undefined)
    for k in range(count):
        other = builder.insert_element(other, index, ir.Constant(ir.IntType(32), k))
    kept = builder.icmp_signed(sign, places, other)
    return builder.select(kept, a, ir.Constant(a.type, count * [0.0]))


@of_values(lambda a, _: a(a, types.int64))
def after(builder: Any, a: Any, index: Any) -> Any:
    """Return the vector with zeros in components 0 to `index`."""
    return _only(builder, a, index, '>')


@of_values(lambda a, _: a(a, types.int64))
def before(builder: Any, a: Any, index: Any) -> Any:
    """Return the vector with zeros from component `index` on."""
    return _only(builder, a, index, '<')


@of_values(lambda a, _: a(a, a))
def times(builder: Any, a: Any, b: Any) -> Any:
    """Return the componentwise product of two vectors."""
    return builder.fmul(a, b, flags=FUSED)


@of_values(lambda a, _: a(a, a))
def plus(builder: Any, a: Any, b: Any) -> Any:
    """Return the sum of two vectors."""
    return builder.fadd(a, b, flags=FUSED)


def _share(builder: Any, share: Any, of: Any) -> Any:
    return builder.fmul(_pack(builder, of.type.count * [share]), of, flags=FUSED)


@of_values(lambda a, *_: a(a, types.float64, a))
def more(builder: Any, a: Any, share: Any, b: Any) -> Any:
    """Return a + share * b."""
    return builder.fadd(a, _share(builder, share, b), flags=FUSED)


@of_values(lambda a, *_: a(a, types.float64, a))
def less(builder: Any, a: Any, share: Any, b: Any) -> Any:
    """Return a - share * b."""
    return builder.fsub(a, _share(builder, share, b), flags=FUSED)


@of_values(lambda *_: types.float64(Lanes(6), Lanes(6)))
def dot(builder: Any, a: Any, b: Any) -> Any:
    """Return the scalar product."""
    products = builder.fmul(a, b, flags=FUSED)
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
