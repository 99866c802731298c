"""
Arrays that a kernel reads and writes through a pointer.

The parameters of an entry are pointers, as C has them; as plain Python they are contiguous arrays.
The functions of this module make arrays of them. Compiled (`numba_ext.unchecked_array`), an index
is used as it is, whereas Numba's own arrays let a negative index count from the end: this costs a
comparison at every access and hides from the compiler that neighbouring numbers are contiguous.
A build with IK_NODE_CHECK_BOUNDS=1 ends the process at an index out of range.
"""

from __future__ import annotations

from typing import Any

from ik_node.kernels.decorators import compiling

if compiling:
    from ik_node.kernels.numba_ext.unchecked_array import beyond, flat, start_of, table
else:

    def flat(pointer: Any, size: int) -> Any:
        """Return the array of `size` numbers at a pointer."""
        return pointer.reshape(-1)[:size]

    def table(pointer: Any, rows: int, columns: int) -> Any:
        """Return the array (rows, columns) at a pointer."""
        return pointer.reshape(-1)[: rows * columns].reshape(rows, columns)

    def beyond(pointer: Any, count: int) -> Any:
        """Return the pointer to the number that stands `count` places later."""
        return pointer.reshape(-1)[count:]

    def start_of(array: Any) -> Any:
        """Return the pointer to the first number of an array."""
        return array


__all__ = ['beyond', 'flat', 'start_of', 'table']
