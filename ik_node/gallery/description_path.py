"""Where the robots' descriptions are installed."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path

from ik_node.errors import DescriptionError

_PACKAGE = 'ik_node'


def description_path(file_name: str) -> Path:
    """
    Return the path of a file of urdf/: in a checkout, in a prefix of pip's or of colcon's.

    Raises
    ------
    DescriptionError
        If it is nowhere.

    """
    for folder in _folders():
        path = folder / file_name
        if path.is_file():
            return path
    raise DescriptionError(
        'not found beside the package, nor in share/ik_node/urdf of its prefix; is the '
        'installation whole?',
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
