"""
A program that writes the expansion of the xacro file in its first argument.

$(find PACKAGE) also finds the file's own package and its neighbours, which need not be built. Any
other package becomes package://PACKAGE, which suffices for meshes and settings; if a file of it is
included, xacro reports the missing file.
"""

import importlib
from pathlib import Path
import re
import sys
from typing import Any

LEVELS = 6  # number of parent folders in which a file's workspace is searched


def is_package(folder: Path, package: str) -> bool:
    """Return True if a folder is a package of that name."""
    manifest = folder / 'package.xml'
    text = manifest.read_text(errors='replace') if manifest.is_file() else ''
    return re.search(rf'<name>\s*{re.escape(package)}\s*</name>', text) is not None


def main(path: str) -> None:
    """Expand a file."""
    xacro = importlib.import_module('xacro')
    substitution_args: Any = importlib.import_module('xacro.substitution_args')

    installed = substitution_args._eval_find

    def find(package: str) -> str:
        try:
            return str(installed(package))
        except Exception:  # noqa: BLE001  the package or ROS 2 is not installed
            pass
        for folder in list(Path(path).absolute().parents)[:LEVELS]:
            for place in (folder, folder / package):
                if place.is_dir() and (place.name == package or is_package(place, package)):
                    return str(place)
        print(f'the package {package!r} is not found.', file=sys.stderr)
        return f'package://{package}'

    substitution_args._eval_find = substitution_args._eval_dict['find'] = find
    sys.stdout.write(xacro.process_file(path).toxml())


if __name__ == '__main__':
    sys.path.pop(0)  # this program's folder, whose modules xacro must not import
    try:
        main(sys.argv[1])
    except Exception as error:  # noqa: BLE001  expressions in the file may raise anything
        sys.exit(str(error) or type(error).__name__)
