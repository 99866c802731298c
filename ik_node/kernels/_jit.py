"""
The one place that knows about Numba: how a kernel is compiled, and where it is cached.

Numba keys its cache by the file a function stands in, so an edit in a callee's file would leave a
stale caller behind. The cache folder therefore carries a digest of all kernel sources. Without
Numba the kernels run as plain Python: slow, with one warning, the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import hashlib
import os
from pathlib import Path
import sys
from threading import Lock
from typing import Any, TypeVar
import warnings

F = TypeVar('F', bound=Callable[..., Any])

try:
    import numba
except ImportError:
    numba = None

compiled: bool = numba is not None and os.environ.get('NUMBA_DISABLE_JIT', '0') in ('', '0')

if numba is None:
    warnings.warn(
        'numba is not installed: kernels run as plain Python, a hundred times slower; '
        'install it with `pip install numba` or the rosdep key python3-numba',
        RuntimeWarning,
        stacklevel=2,
    )


def sources_digest() -> str:
    """Return a digest of everything that decides what the compiled kernels do."""
    digest = hashlib.sha256(sys.version.encode())
    digest.update(numba.__version__.encode() if numba is not None else b'')
    digest.update(os.environ.get('NUMBA_BOUNDSCHECK', '').encode())
    here = Path(__file__).parent
    for path in sorted(here.rglob('*.py')):
        digest.update(path.relative_to(here).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    """Return the folder for compiled kernels: beside the code, else per user."""
    name = f'kernels-{sources_digest()}'
    beside = Path(__file__).parent / '__pycache__'
    try:
        beside.mkdir(exist_ok=True)
        if os.access(beside, os.W_OK):
            return beside / name
    except OSError:
        pass
    per_user = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache')
    return per_user / 'ik_node' / name


cache_folder: Path | None = _cache_folder() if compiled else None
_compiling = Lock()


def kernel(function: F) -> F:
    """
    Compile a function that is called by other kernels only, and inlined into them.

    Kernels do not allocate, so they are compiled without reference counting (`_nrt=False`), which
    would cost more than the arithmetic.
    """
    return _compile(
        function, _nrt=False, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )


def entry(function: F) -> F:
    """Compile a kernel that is called from Python; cached on disk with all it calls."""
    return _compile(function, _nrt=False, cache=True)


def only_known_types(function: Callable[..., Any]) -> None:
    """Make an entry raise a TypeError for arrays of types that it has not been compiled for."""
    if compiled:
        function.disable_compile()  # type: ignore[attr-defined]


def code_address(function: Callable[..., Any], arguments: Sequence[Any]) -> int:
    """
    Return the address of an entry's compiled code for arguments of these types; 0 without Numba.

    The entry is compiled, or loaded from the cache, if it has not been before.
    """
    if not compiled:
        return 0
    types = tuple(numba.typeof(argument) for argument in arguments)
    # Without the lock a second thread would wait to compile the same code, and be refused once the
    # first thread has called `only_known_types`.
    with _compiling:
        if types not in function.overloads:  # type: ignore[attr-defined]
            function.compile(types)  # type: ignore[attr-defined]
    made = function.overloads[types]  # type: ignore[attr-defined]
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))


def _compile(function: F, **options: bool) -> F:
    if not compiled:
        return function
    from numba.core import config

    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder)  # read by numba when the function is decorated
    try:
        made: F = numba.njit(nogil=True, error_model='numpy', **options)(function)
        return made
    finally:
        config.CACHE_DIR = before
