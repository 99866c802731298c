"""The kernels of this process: from a library, else from one that is built, else plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import ctypes
import importlib.util
import os
from pathlib import Path
import sys
from threading import Lock
from types import ModuleType
from typing import Any, NamedTuple
import warnings

from ik_node.errors import IkError
from ik_node.kernels.decorators import compiling, entries
from ik_node.native.layout_header import TABLE
from ik_node.native.places import call_file, digest, LIBRARY, roots, why_untrusted
import numpy as np


class Library(NamedTuple):
    """The kernels of this process."""

    path: Path | None  # The shared library; None = the kernels run as plain Python.
    call: Any  # The compiled `call.c`; None = calls go through ctypes or are plain Python.
    functions: Mapping[str, Callable[..., int]]  # The entries as functions of arrays.


_loading = Lock()
_loaded: Library | None = None


def library() -> Library:
    """
    Return the kernels of this process; the first call loads them, or builds them if need be.

    IK_NODE_KERNELS=python selects plain Python; =numba compiles for this process alone.
    """
    global _loaded
    if _loaded is None:
        with _loading:
            if _loaded is None:
                _loaded = _load()
    return _loaded


def is_compiled() -> bool:
    """Return True if the kernels of this process are compiled."""
    return library().path is not None or compiling


def _load() -> Library:
    if compiling:
        from ik_node.native.compile import compiled_entries

        made = compiled_entries()
        return Library(None, None, {name: _function_at(each.address) for name, each in made})
    if os.environ.get('IK_NODE_KERNELS') == 'python':
        return _plain()
    beside, per_user = (root / digest() for root in roots())
    result = _opened(beside)
    if result is None and not why_untrusted(per_user / LIBRARY):
        result = _opened(per_user)
    if result is not None:
        return result
    from ik_node.native.build import build

    print('ik_node: compiling its kernels, once, for about a minute ...', file=sys.stderr)
    reason = 'this processor cannot run them'
    try:
        result = _opened(build())
    except (IkError, OSError) as error:
        reason = str(error)
    if result is None:
        warnings.warn(
            f'no compiled kernels: they run as plain Python, a hundred times slower ({reason})',
            RuntimeWarning,
            stacklevel=3,
        )
        return _plain()
    return result


def _plain() -> Library:
    from ik_node.native.compile import load_entries

    load_entries()
    return Library(None, None, {name: entries[name].function for name in TABLE})


def _opened(folder: Path) -> Library | None:
    """Return the library of a folder; None if there is none that this processor can run."""
    path = folder / LIBRARY
    try:
        opened = ctypes.CDLL(str(path))
        opened.ik_node_digest.restype = ctypes.c_char_p
        opened.ik_node_kernels.restype = ctypes.POINTER(ctypes.c_void_p)
    except (OSError, AttributeError):
        return None
    table = opened.ik_node_kernels()
    if opened.ik_node_digest() != digest().encode() or not table:
        return None
    call = _call_module(folder)
    if call is not None:
        call.use(ctypes.cast(table, ctypes.c_void_p).value)
    return Library(path, call, {name: _function_at(table[k]) for k, name in enumerate(TABLE)})


def _function_at(address: int) -> Callable[..., int]:
    """Return a function of arrays and integers that calls the code at an address."""
    code = ctypes.CFUNCTYPE(ctypes.c_int64)(address)

    def call(*arguments: Any) -> int:
        status: int = code(
            *(
                ctypes.c_void_p(each.ctypes.data)
                if isinstance(each, np.ndarray)
                else ctypes.c_int64(int(each))
                for each in arguments
            )
        )
        return status

    return call


def _call_module(folder: Path) -> ModuleType | None:
    """Return the compiled `call.c`; None if it cannot be had."""
    # What is compiled with the headers of NumPy 2 also runs with NumPy 1.
    path = folder / call_file().replace('-numpy1', '-numpy2')
    if not path.exists():
        path = folder / call_file()
    if not path.exists():
        from ik_node.native.build import build_call

        path = build_call(path)
    # A library beside the code is trusted as the code is.
    if path.parent != roots()[0] / digest() and why_untrusted(path):
        return None
    spec = importlib.util.spec_from_file_location('ik_node.native.call', path)
    if spec is None or spec.loader is None:
        return None
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError:
        return None
    return module
