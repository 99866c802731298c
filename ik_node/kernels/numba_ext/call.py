"""A call of compiled code by its address, so that the caller need not be compiled with it."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def call(
    typing_context: Any,
    code: Any,
    i: Any,
    f: Any,
    k: Any,
    w: Any,
    q: Any,
    joints: Any,
    options: Any,
    positions: Any,
    quats_xyzw: Any,
    slice_: Any,
) -> Any:
    """Call `advance`, whose compiled code stands at `code`."""
    arguments = (i, f, k, w, q, joints, options, positions, quats_xyzw, slice_)

    def build(context: Any, builder: Any, called: Any, values: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(types.int64, arguments)
        place = builder.inttoptr(values[0], kind.as_pointer())
        ended, status = convention.call_function(
            builder, place, types.int64, arguments, values[1:]
        )
        with cgutils.if_unlikely(builder, ended.is_error):
            convention.return_status_propagate(builder, ended)
        return status

    return types.int64(types.int64, *arguments), build
