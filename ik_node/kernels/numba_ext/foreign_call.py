"""The compiled call of a C function that is not part of the library, by its address."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def foreign_call(
    typing_context: Any, address: Any, c: Any, what: Any, frames: Any, rows: Any, vectors: Any
) -> Any:
    """Call the C function at an address, which may write to the arrays."""
    arrays = (frames, rows, vectors)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word, pointer = ir.IntType(64), ir.DoubleType().as_pointer()
        kind = ir.FunctionType(word, [word, word, *3 * [pointer]])
        called = builder.inttoptr(values[0], kind.as_pointer())
        data = [
            cgutils.create_struct_proxy(of)(context, builder, value=value).data
            for of, value in zip(arrays, values[3:], strict=True)
        ]
        return builder.call(called, [*values[1:3], *data])

    return types.int64(*3 * [types.int64], *arrays), build
