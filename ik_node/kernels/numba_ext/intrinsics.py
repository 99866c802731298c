"""Functions for kernels that are given by the LLVM instructions that they become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import intrinsic


def intrinsic_of(count: int, signature: Callable[..., Any], build: Callable[..., Any]) -> Any:
    """
    Return a function for kernels of `count` arguments.

    `signature` returns the Numba signature for the types of the arguments. `build` returns the
    LLVM value of the result for context, builder, signature and the LLVM values of the arguments.
    """

    def typed(typing_context: Any, *arguments: Any) -> Any:
        return signature(*arguments), build

    # Numba reads the number of arguments from the signature of the Python function.
    names = ', '.join(f'a{index}' for index in range(count))
    made: dict[str, Any] = {'typed': typed}
    exec(f'def entry(typing_context, {names}):\n    return typed(typing_context, {names})', made)
    return intrinsic(made['entry'])
