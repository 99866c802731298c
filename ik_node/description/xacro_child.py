"""
A program that expands one xacro file with limits on time, memory and environment.

Its arguments: a path; the memory limit [bytes]; the CPU time limit [s]; the largest result
[bytes].
"""

from collections.abc import Callable
from contextlib import suppress
import importlib
import math
from pathlib import Path
import re
import sys
from typing import Any

LEVELS = 6  # number of parent folders in which a file's workspace is searched
MESSAGE_BYTES = 2**16


def find_packages(substitution: Any, path: Path) -> None:
    """
    Make $(find PACKAGE) also find the file's own package and its neighbours.

    These packages need not be built. A package that is not found becomes package://PACKAGE, which
    suffices for meshes and settings.
    If a file of it is included, xacro reports the missing file.

    Parameters
    ----------
    substitution : module
        xacro's `substitution_args`; it is changed.
    path : Path
        The file.

    """
    known: Callable[[str], str] = substitution._eval_find

    missing: set[str] = set()

    def find(package: str) -> str:
        try:
            return known(package)
        except Exception:  # noqa: BLE001  the package or ROS 2 is not installed
            pass
        for folder in list(path.absolute().parents)[:LEVELS]:
            if folder.name == package:
                return str(folder)
            for place in (folder, folder / package):
                if is_package(place, package):
                    return str(place)
        if package not in missing:
            missing.add(package)
            print(f'the package {package!r} is not found.', file=sys.stderr)
        return f'package://{package}'

    substitution._eval_find = substitution._eval_dict['find'] = find


def is_package(folder: Path, package: str) -> bool:
    """Return True if a folder is a package of that name."""
    if not re.fullmatch(r'[\w-]+', package):
        return False
    try:
        text = (folder / 'package.xml').read_text(encoding='utf-8', errors='replace')
    except OSError:
        return False
    return re.search(rf'<name>\s*{package}\s*</name>', text) is not None


def set_limits(memory: int, seconds: float, file_bytes: int) -> None:
    """
    Limit the memory, CPU time and file size of this process, and disable core dumps.

    Standard output is a file as well, so `file_bytes` limits the expanded text.
    """
    try:
        import resource
    except ImportError:  # Windows has no limits; the parent process still limits the time
        return
    cpu = math.ceil(seconds) + 1
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # a lower hard limit already applies
            resource.setrlimit(kind, (most, most))


def main(path: str, memory: int, seconds: float, most: int) -> int:
    """
    Write the expanded XML to standard output, or the fault to standard error.

    Parameters
    ----------
    path : str
        The file.
    memory : int
        [bytes]
    seconds : float
        CPU time [s].
    most : int
        The largest text [bytes].

    Returns
    -------
    int
        The exit code: 0, 2 if it cannot be expanded, 3 if xacro is not installed.

    """
    sys.path.pop(0)  # this program's folder, whose modules xacro must not import
    try:
        xacro = importlib.import_module('xacro')
    except ImportError:
        return 3
    set_limits(memory, seconds, max(most, MESSAGE_BYTES))
    try:
        find_packages(importlib.import_module('xacro.substitution_args'), Path(path))
        text = xacro.process_file(path).toxml().encode('utf-8', 'replace')
        if len(text) > most:
            print(f'it expands to {len(text)} bytes, more than {most}', file=sys.stderr)
            return 2
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
    except RecursionError:
        print('its macros call one another endlessly', file=sys.stderr)
        return 2
    except MemoryError:
        print('it needs too much memory', file=sys.stderr)
        return 2
    except Exception as error:  # noqa: BLE001  expressions in the file may raise anything
        print(f'{error}' or type(error).__name__, file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])))
