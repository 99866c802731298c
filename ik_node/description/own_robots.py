"""The robots that are installed with the package, by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
import os
from pathlib import Path

from ik_node.errors import DescriptionError, similar

_PACKAGE = 'ik_node'


def description_path(file_name: str) -> Path:
    """
    Return the path of a file of urdf/ in a checkout or an installation by pip or colcon.

    Raises
    ------
    DescriptionError
        If there is no such file.

    """
    for folder in _folders():
        path = folder / file_name
        if path.is_file():
            return path
    raise DescriptionError(
        'not found beside the package or in share/ik_node/urdf of its prefix; is the '
        'installation complete?',
        source=file_name,
    )


def _folders() -> Iterator[Path]:
    for parent in Path(__file__).resolve().parents:
        if (parent / 'package.xml').is_file():
            yield parent / 'urdf'
        yield parent / 'share' / _PACKAGE / 'urdf'
    for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        if prefix:
            yield Path(prefix) / 'share' / _PACKAGE / 'urdf'


def own_robots() -> dict[str, Path]:
    """Return the names and paths of the robots that are installed with the package."""
    found = (path for folder in _folders() for path in sorted(folder.glob('*.urdf')))
    paths: dict[str, Path] = {}
    for path in found:
        paths.setdefault(path.stem, path)
    return paths


def found_by_name(source: str | Path) -> str | Path:
    """Return the path of an installed robot if `source` is its name and no file; else `source`."""
    name = str(source)
    if name != Path(name).name or Path(name).suffix or Path(name).is_file():
        return source
    return own_robots().get(name, source)


def similar_file(path: Path) -> str:
    """Return similar file names beside a path that does not exist, and robots; '' if none is."""
    try:
        beside = [each.name for each in islice(path.parent.iterdir(), 200)]
    except OSError:
        beside = []
    names = beside if path.suffix else [*own_robots(), *beside]
    return similar(path.name, names)
