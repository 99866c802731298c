"""Search for the installed robot descriptions."""

from __future__ import annotations

from collections.abc import Iterator
import os
from pathlib import Path

from ik_node.errors import DescriptionError

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
