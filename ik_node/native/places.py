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
import stat
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
    return _digest_of(sources())


def kernels_digest() -> str:
    """Return the same for the sources of the object files alone, without the C sources."""
    return _digest_of(
        [each for each in sources() if each.suffix == '.py' and each.name != 'layout_header.py']
    )


def _digest_of(paths: list[Path]) -> str:
    made = hashlib.sha256(os.environ.get('IK_NODE_CHECK_BOUNDS', '').encode())
    for path in paths:
        made.update(path.relative_to(HERE.parent).as_posix().encode() + path.read_bytes())
    return made.hexdigest()[:16]


def roots() -> tuple[Path, Path]:
    """
    Return the folders in which libraries are looked for and stored.

    The first one stands beside the code, the second one in the cache of the user. As the XDG Base
    Directory Specification says, a relative XDG_CACHE_HOME is ignored.
    """
    cache_home = Path(os.environ.get('XDG_CACHE_HOME') or '.')
    if not cache_home.is_absolute():
        cache_home = Path.home() / '.cache'
    return HERE / 'lib', cache_home / 'ik_node'


def why_untrusted(path: Path) -> str:
    """
    Return why nothing of the cache may be loaded from a path, or '' if it may.

    Another user who can write to a library, or to a folder on the way to it, can make this process
    run any code. So all of them must belong to the user of this process or to root, and nobody
    else may write to them; in a folder with the sticky bit, such as /tmp, others cannot replace
    what is not theirs. A path that does not exist yet is judged by its folders.
    """
    absolute = Path(os.path.abspath(path))
    real = Path(os.path.realpath(path))
    for each in dict.fromkeys((*reversed((absolute, *absolute.parents)), *(real, *real.parents))):
        try:
            status = each.lstat()
        except OSError:
            continue
        if status.st_uid not in (0, os.geteuid()):
            return f'{each} belongs to another user (number {status.st_uid})'
        shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
        if shared and not sticky and not stat.S_ISLNK(status.st_mode):
            return f'other users can write to {each} (chmod go-w forbids it)'
    return ''


def call_file(machine: str = '') -> str:
    """
    Return the name of the compiled `call.c` for this Python and this NumPy.

    `machine` is the kind of processor; empty = this computer's.
    """
    major = np.__version__.split('.')[0]
    suffix: str = sysconfig.get_config_var('EXT_SUFFIX')
    own = os.uname().machine
    return f'call-numpy{major}{suffix.replace(own, machine or own)}'
