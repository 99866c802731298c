"""The compiled form of an unchecked array: address, row length and number of elements."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import (
    intrinsic,
    lower_builtin,
    make_attribute_wrapper,
    models,
    register_model,
)


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


make_attribute_wrapper(Flat, 'size', 'size')


@intrinsic
def flat(typing_context: Any, array: Any) -> Any:
    """Return an unchecked view of a C-contiguous array of one or two dimensions."""
    return _flat(array, Flat(array.dtype, kept=False))


@intrinsic
def kept(typing_context: Any, array: Any) -> Any:
    """Return an unchecked view of an array that is not written to during its lifetime."""
    return _flat(array, Flat(array.dtype, kept=True))


def _flat(array: Any, of: Flat) -> Any:
    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        given = context.make_array(array)(context, builder, values[0])
        made = cgutils.create_struct_proxy(of)(context, builder)
        made.data = given.data
        made.size = given.nitems
        made.width = cgutils.unpack_tuple(builder, given.shape, array.ndim)[-1]
        return made._getvalue()

    return of(array), build


@infer_global(operator.getitem)
class _Get(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        of, index = args
        if isinstance(of, Flat):
            return signature(of.dtype, of, _index(index))
        return None


@infer_global(operator.setitem)
class _Set(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        of, index, _ = args
        if isinstance(of, Flat):
            return signature(types.none, of, _index(index), of.dtype)
        return None


def _index(index: Any) -> Any:
    return types.UniTuple(types.intp, 2) if isinstance(index, types.BaseTuple) else types.intp


def address(context: Any, builder: Any, of: Flat, array: Any, index: Any) -> Any:
    """Return the address of array[index]."""
    made = cgutils.create_struct_proxy(of)(context, builder, value=array)
    if isinstance(index.type, ir.ArrayType):
        row, column = cgutils.unpack_tuple(builder, index, 2)
        index = builder.add(builder.mul(row, made.width), column)
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
