"""
A program of its own that expands one xacro file: time and memory can then be bounded.

Its arguments: a path, or '-' for standard input; the most bytes of memory; the most characters
that are written.
"""

from collections.abc import Callable
import importlib
from pathlib import Path
import re
import sys
from typing import Any

LEVELS = 6  # how far above a file its workspace may begin


def find_packages(substitution: Any, path: Path) -> None:
    """
    Let $(find PACKAGE) also find packages that are not built: the file's own and its neighbours.

    A package that is not to be found is package://PACKAGE, which is good enough for meshes and
    settings; of an included file xacro then says that it is not there.

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
        except Exception:  # noqa: BLE001  not installed, or no ROS 2 at all
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
    """Say whether a folder is a package of that name."""
    if not re.fullmatch(r'[\w-]+', package):
        return False
    try:
        text = (folder / 'package.xml').read_text(encoding='utf-8', errors='replace')
    except OSError:
        return False
    return re.search(rf'<name>\s*{package}\s*</name>', text) is not None


def main(path: str, memory: int, characters: int) -> int:
    """
    Write the expanded XML to standard output, or what is wrong to standard error.

    Parameters
    ----------
    path : str
        The file, or '-'.
    memory : int
        [bytes]
    characters : int
        Longer output is cut.

    Returns
    -------
    int
        The exit code: 0, 2 if it cannot be expanded, 3 if xacro is not there.

    """
    sys.path.pop(0)  # this program's folder, whose modules are not meant to be found
    try:
        xacro = importlib.import_module('xacro')
    except ImportError:
        return 3
    try:
        resource = importlib.import_module('resource')
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    except (ImportError, ValueError, OSError):
        pass  # where there is none, the time is bounded still
    try:
        here = Path('robot.xacro') if path == '-' else Path(path)
        find_packages(importlib.import_module('xacro.substitution_args'), here)
        if path == '-':
            document = xacro.parse(sys.stdin.buffer.read().decode())
            xacro.process_doc(document)
        else:
            document = xacro.process_file(path)
        text = document.toxml()
    except RecursionError:
        print('its macros call one another without end', file=sys.stderr)
        return 2
    except MemoryError:
        print('it needs too much memory', file=sys.stderr)
        return 2
    except Exception as error:  # noqa: BLE001  an expression in it may raise anything
        print(f'{error}' or type(error).__name__, file=sys.stderr)
        return 2
    sys.stdout.buffer.write(text[:characters].encode('utf-8', 'replace'))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
