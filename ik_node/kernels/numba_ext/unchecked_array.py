"""The compiled form of an unchecked array: address, row length and number of elements."""

from __future__ import annotations

import operator
import os
from typing import Any

from ik_node.kernels.numba_ext.intrinsics import intrinsic_of
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, models, register_model, type_callable

CHECKED = os.environ.get('IK_NODE_CHECK_BOUNDS', '0') not in ('', '0')


class Flat(types.Type):
    """The Numba type of an unchecked array; `kept` if it is not written to during a solve."""

    def __init__(self, dtype: Any, kept: bool) -> None:
        self.dtype, self.kept = dtype, kept
        super().__init__(name=f'Flat({dtype}, {kept})')


@register_model(Flat)
class _FlatModel(models.StructModel):
    def __init__(self, manager: Any, of: Flat) -> None:
        members = [('data', types.CPointer(of.dtype)), ('width', types.intp), ('size', types.intp)]
        super().__init__(manager, of, members)


def _array(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    made = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    made.data, made.width = values[0], values[-1]
    made.size = values[1] if len(values) == 2 else builder.mul(values[1], values[2])
    return made._getvalue()


def _array_at(pointer: Any, *shape: Any) -> Any:
    return Flat(pointer.dtype, kept=False)(pointer, *(types.int64 for _ in shape))


def _start(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return cgutils.create_struct_proxy(signature.args[0])(context, builder, value=values[0]).data


# The functions of `kernels.unchecked_array`.
flat, table = intrinsic_of(2, _array_at, _array), intrinsic_of(3, _array_at, _array)
start_of = intrinsic_of(1, lambda array: types.CPointer(array.dtype)(array), _start)
beyond = intrinsic_of(
    2,
    lambda pointer, _: pointer(pointer, types.int64),
    lambda _, builder, __, values: builder.gep(values[0], [values[1]]),
)


@type_callable(operator.getitem)
def _type_of_get(context: Any) -> Any:
    def get(of: Any, index: Any) -> Any:
        if not isinstance(of, Flat):
            return None
        if isinstance(index, types.SliceType):
            return of(of, index)
        return of.dtype(of, _index(index))

    return get


@type_callable(operator.setitem)
def _type_of_set(context: Any) -> Any:
    def put(of: Any, index: Any, value: Any) -> Any:
        return types.none(of, _index(index), of.dtype) if isinstance(of, Flat) else None

    return put


def _index(index: Any) -> Any:
    return types.UniTuple(types.intp, 2) if isinstance(index, types.BaseTuple) else types.intp


def address(context: Any, builder: Any, of: Flat, array: Any, index: Any, count: int = 1) -> Any:
    """Return the address of array[index], of which `count` numbers are used."""
    made = cgutils.create_struct_proxy(of)(context, builder, value=array)
    if isinstance(index.type, ir.ArrayType):
        row, column = cgutils.unpack_tuple(builder, index, 2)
        index = builder.add(builder.mul(row, made.width), column)
    if CHECKED:
        room = builder.sub(made.size, ir.Constant(index.type, count))
        # As unsigned numbers, negative ones are the largest.
        outside = builder.or_(
            builder.icmp_signed('<', room, ir.Constant(index.type, 0)),
            builder.icmp_unsigned('>', index, room),
        )
        with builder.if_then(outside, likely=False):
            kind = ir.FunctionType(ir.VoidType(), [])
            trap = cgutils.get_or_insert_function(builder.module, kind, 'llvm.trap')
            builder.call(trap, [])
    return builder.gep(made.data, [index])


def describe(builder: Any, of: Flat, access: Any) -> Any:
    """Mark an access for LLVM: floats and integers do not alias, kept arrays do not change."""
    module = builder.module
    root = module.add_metadata(['ik_node'])
    scalar = module.add_metadata([str(of.dtype), root, ir.Constant(ir.IntType(64), 0)])
    tag = module.add_metadata([scalar, scalar, ir.Constant(ir.IntType(64), 0)])
    access.set_metadata('tbaa', tag)
    if of.kept and access.opname == 'load':
        access.set_metadata('invariant.load', module.add_metadata([]))
    return access


@lower_builtin(operator.getitem, Flat, types.intp)
@lower_builtin(operator.getitem, Flat, types.UniTuple(types.intp, 2))
def _get(context: Any, builder: Any, called: Any, values: Any) -> Any:
    of = called.args[0]
    place = address(context, builder, of, *values)
    return describe(builder, of, builder.load(place))


@lower_builtin(operator.setitem, Flat, types.intp, types.Any)
@lower_builtin(operator.setitem, Flat, types.UniTuple(types.intp, 2), types.Any)
def _set(context: Any, builder: Any, called: Any, values: Any) -> Any:
    of = called.args[0]
    place = address(context, builder, of, values[0], values[1])
    describe(builder, of, builder.store(values[2], place))
    return context.get_dummy_value()


@lower_builtin(operator.getitem, Flat, types.slice2_type)
def _rest(context: Any, builder: Any, called: Any, values: Any) -> Any:
    """Return array[start:]; the end of a slice is ignored."""
    of, chosen = called.args
    start = context.make_helper(builder, chosen, value=values[1]).start
    made = cgutils.create_struct_proxy(of)(context, builder, value=values[0])
    made.data, made.size = builder.gep(made.data, [start]), builder.sub(made.size, start)
    return made._getvalue()
