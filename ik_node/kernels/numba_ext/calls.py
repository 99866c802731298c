"""Calls of C functions: of entries, by their symbols, and of others, by their addresses."""

from __future__ import annotations

from typing import Any

from ik_node.kernels.numba_ext.intrinsics import intrinsic_of
from llvmlite import ir
from numba import types
from numba.core import cgutils

_TYPES = {
    'int64': types.int64,
    'int64*': types.CPointer(types.int64),
    'float64*': types.CPointer(types.float64),
}


def signature_of(parameters: tuple[str, ...]) -> Any:
    """Return the Numba signature of an entry, for the C types of its parameters."""
    return types.int64(*(_TYPES[name] for name in parameters))


def symbol_of(name: str) -> str:
    """Return the name of an entry in the library."""
    return f'ik_kernel_{name}'


def entry_call(name: str, parameters: tuple[str, ...]) -> Any:
    """Return a function for kernels that calls an entry, which is not compiled a second time."""
    own = signature_of(parameters)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = [context.get_value_type(each) for each in own.args]
        kind = ir.FunctionType(context.get_value_type(own.return_type), kinds)
        return builder.call(
            cgutils.get_or_insert_function(builder.module, kind, symbol_of(name)), values
        )

    return intrinsic_of(len(parameters), lambda *_: own, build)


def _call(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    word, pointer = ir.IntType(64), ir.DoubleType().as_pointer()
    kind = ir.FunctionType(word, [word, word, *3 * [pointer]])
    function = builder.inttoptr(values[0], kind.as_pointer())
    data = [
        cgutils.create_struct_proxy(of)(context, builder, value=value).data
        for of, value in zip(signature.args[3:], values[3:], strict=True)
    ]
    return builder.call(function, [*values[1:3], *data])


# Takes (address, c, what, frames, rows, vectors) and calls the C function at an address, which may
# write to the arrays.
foreign_call = intrinsic_of(
    6, lambda _, c, what, *arrays: types.int64(*3 * [types.int64], *arrays), _call
)
