"""
How kernels are marked for compilation.

Kernels are plain Python functions. A build (`ik_node.native.build`) compiles them with Numba to C
functions of a shared library, in a process of its own that has IK_NODE_KERNELS=numba set. Only in
such a process is Numba imported and only there are kernels compiled functions. In every other
process they remain plain Python, which `ik_node.native` calls only if there is no library.
"""

from __future__ import annotations

from collections.abc import Callable
import os
from typing import Any, NamedTuple, TypeVar

F = TypeVar('F', bound=Callable[..., Any])

# True in a process that compiles the kernels.
compiling: bool = os.environ.get('IK_NODE_KERNELS') == 'numba'

# C types of the parameters of an entry.
INT, INTS, FLOATS = 'int64', 'int64*', 'float64*'


class Entry(NamedTuple):
    """A C function of the library: the kernel, and the C types of its parameters."""

    function: Callable[..., int]
    parameters: tuple[str, ...]


# Name -> entry, in the order in which they are compiled.
entries: dict[str, Entry] = {}


# Names of the functions that are called and not inlined.
called: set[str] = set()


def kernel(function: F) -> F:
    """Mark a function that is called by other kernels only, and inlined into them."""
    return _compiled(function, inlined=True)


def rare(function: F) -> F:
    """
    Mark a kernel that few steps need: it is compiled once, and called.

    So it costs the others neither time to compile nor registers, wherever it is called from.
    """
    called.add(function.__name__)
    return _compiled(function, inlined=False)


def _compiled(function: F, *, inlined: bool) -> F:
    if not compiling:
        return function
    from numba import njit

    made: F = njit(
        nogil=True,
        error_model='numpy',
        forceinline=inlined,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )(function)
    return made


def entry(*parameters: str) -> Callable[[F], F]:
    """
    Mark a kernel that becomes a function of the C interface.

    Arrays are pointers to their first element; as plain Python, contiguous NumPy arrays. The
    function returns an int64, and has to be called by other entries only.
    """

    def mark(function: F) -> F:
        entries[function.__name__] = Entry(function, parameters)
        called.add(function.__name__)
        if not compiling:
            return function
        from ik_node.kernels.numba_ext.calls import entry_call

        made: F = entry_call(function.__name__, parameters)
        return made

    return mark
