"""
A program that writes the expansion of the xacro file in its first argument.

$(find PACKAGE) also finds the file's own package and its neighbours, which need not be built. Any
other package becomes package://PACKAGE, which suffices for meshes and settings; if a file of it is
included, xacro reports the missing file.
"""

import importlib
from pathlib import Path
import sys
from typing import Any


def main(path: str) -> None:
    """Expand a file."""
    xacro = importlib.import_module('xacro')
    substitution_args: Any = importlib.import_module('xacro.substitution_args')
    packages = importlib.import_module('ik_node.description.mesh_path')

    def find(package: str) -> str:
        folders = packages.folders_of(package, Path(path).absolute().parent)
        found = next((folder for folder in folders if folder.is_dir()), None)
        if found is None:
            print(f'the package {package!r} is not found.', file=sys.stderr)
        return str(found or f'package://{package}')

    substitution_args._eval_find = substitution_args._eval_dict['find'] = find
    sys.stdout.write(xacro.process_file(path).toxml())


if __name__ == '__main__':
    sys.path.pop(0)  # this program's folder, whose modules xacro must not import
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    try:
        main(sys.argv[1])
    except Exception as error:  # noqa: BLE001  expressions in the file may raise anything
        sys.exit(str(error) or type(error).__name__)
