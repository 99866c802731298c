"""
Arrays as kernels see them: a place in memory, and no check that an index is not negative.

Numba lets an index count from the end, which costs a comparison at every access and hides from
the compiler that neighbouring numbers lie side by side. Here an index is what it is. What a model
holds is read-only and never changes during a solve; saying so lets the compiler read it once.
With NUMBA_BOUNDSCHECK set, and without Numba, kernels work on the arrays themselves.
"""

from __future__ import annotations

import os
from typing import Any

from ik_node.kernels._jit import compiled, kernel

unchecked: bool = compiled and os.environ.get('NUMBA_BOUNDSCHECK', '0') in ('', '0')


if unchecked:
    from ik_node.kernels.numba_ext.unchecked_array import flat, kept
else:

    @kernel
    def flat(array: Any) -> Any:
        """Return an array as kernels see it; one or two dimensions, C-contiguous."""
        return array

    @kernel
    def kept(array: Any) -> Any:
        """Return an array, as kernels see it, that nobody writes to as long as it lives."""
        return array


__all__ = ['flat', 'kept', 'unchecked']
