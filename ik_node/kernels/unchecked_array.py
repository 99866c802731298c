"""
Arrays without index checks inside kernels.

Numba lets a negative index count from the end. This costs a comparison at every access and hides
from the compiler that neighbouring numbers are contiguous. Here an index is used as it is. The
packed model is read-only and does not change during a solve; if the compiler knows this, it reads
a number once. With NUMBA_BOUNDSCHECK set, and without Numba, kernels use the arrays themselves.
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
        """Return an unchecked view of a C-contiguous array of one or two dimensions."""
        return array

    @kernel
    def kept(array: Any) -> Any:
        """Return an unchecked view of an array that is not written to during its lifetime."""
        return array


__all__ = ['flat', 'kept', 'unchecked']
