"""
Where libraries of compiled kernels stand.

Each stands in a folder that is named after a digest of all sources it is made of, so that one of
other sources is never used: `native/lib/DIGEST` beside the code, or in the cache of the user where
nothing can be written beside the code.
"""

from __future__ import annotations

from functools import cache
import hashlib
import os
from pathlib import Path
import sysconfig

import numpy as np

HERE = Path(__file__).parent
LIBRARY = 'libik_node.so'


def sources() -> list[Path]:
    """Return all files that decide what the library does."""
    kernels = sorted((HERE.parent / 'kernels').rglob('*.py'))
    made = [HERE / f'{name}.py' for name in ('compile', 'layout_header', 'levels')]
    headers = sorted((HERE / 'include').rglob('*.h'))
    return [*kernels, *made, *sorted(HERE.glob('*.c')), *headers]


@cache
def digest() -> str:
    """Return a digest of all sources, and of the setting that compiles bounds checks."""
    made = hashlib.sha256(os.environ.get('IK_NODE_CHECK_BOUNDS', '').encode())
    for path in sources():
        made.update(path.relative_to(HERE.parent).as_posix().encode() + path.read_bytes())
    return made.hexdigest()[:16]


def roots() -> tuple[Path, Path]:
    """Return the folders in which libraries are looked for and stored."""
    cache_home = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache')
    return HERE / 'lib', cache_home / 'ik_node'


def call_file(machine: str = '') -> str:
    """
    Return the name of the compiled `call.c` for this Python and this NumPy.

    `machine` is the kind of processor; empty = this computer's.
    """
    major = np.__version__.split('.')[0]
    suffix: str = sysconfig.get_config_var('EXT_SUFFIX')
    own = os.uname().machine
    return f'call-numpy{major}{suffix.replace(own, machine or own)}'
