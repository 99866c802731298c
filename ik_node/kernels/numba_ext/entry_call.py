"""The call of one entry by another: by its symbol, so that it is not compiled a second time."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

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
    """Return a function for kernels that calls the entry of this name."""
    wanted = signature_of(parameters)
    count = len(parameters)

    def call(typing_context: Any, *arguments: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            kinds = [context.get_value_type(each) for each in wanted.args]
            kind = ir.FunctionType(context.get_value_type(wanted.return_type), kinds)
            called = builder.module.globals.get(symbol_of(name))
            if called is None:
                called = ir.Function(builder.module, kind, symbol_of(name))
            return builder.call(called, values)

        return wanted, build

    # Numba reads the number of arguments from the signature of the Python function.
    names = ', '.join(f'a{at}' for at in range(count))
    made: dict[str, Any] = {'call': call}
    exec(f'def entry(typing_context, {names}):\n    return call(typing_context, {names})', made)
    return intrinsic(made['entry'])
