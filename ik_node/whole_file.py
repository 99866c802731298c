"""Output files that have their names only when they are complete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import shutil


def part_of(path: str | Path) -> Path:
    """Return the path, beside a file, under which it is written; a link stays a link."""
    target = Path(os.path.realpath(path))
    return target.with_name(f'.{target.stem}.part{target.suffix}')


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """
    Yield a path to write to; it gets the name of the file when the block ends without an error.

    A process that is killed leaves the file as it was, and a hidden part beside it, which the next
    run overwrites. A device or a pipe is written directly. A folder is replaced likewise. OSError,
    which names the file, is raised if it cannot be written.
    """
    target, part = Path(os.path.realpath(path)), part_of(path)
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    try:
        try:
            yield part
            if part.is_dir() and target.is_dir():
                shutil.rmtree(target)
            os.replace(part, target)
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        if part.is_dir():
            shutil.rmtree(part)
        else:
            part.unlink(missing_ok=True)


def check_writable(path: str | Path) -> None:
    """
    Raise OSError if a file cannot be written, before results for it are computed.

    It does not appear.
    """
    target, part = Path(os.path.realpath(path)), part_of(path)
    if target.is_dir():
        raise OSError(21, 'Is a directory', str(path))
    try:
        if target.exists():
            with target.open('ab'):
                pass
        if not target.exists() or target.is_file():
            with part.open('wb'):
                pass
            part.unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
