"""Loops in a file, a text or a dict of their own; the dialect is told by its keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ik_node.description.sidecars.closures_yaml import read_closures
from ik_node.description.sidecars.gepetto import is_gepetto, read_gepetto
from ik_node.description.sidecars.loop_closures import is_loop_closures, read_loop_closures
from ik_node.description.sidecars.sidecar import Sidecar
from ik_node.description.yaml_document import MAX_BYTES, parse_yaml
from ik_node.errors import DescriptionError

TEXT_STARTS = (
    *('{', '---', '#', 'closures:', 'couplings:', 'actuated:', 'closed_loop:', 'name_mot:'),
    *('pin_loops:', 'ball_loops:', 'dependent:', 'independent:'),
)


def _own(content: object, source: str) -> Sidecar:
    loop_set = read_closures(content, source)
    return Sidecar(lambda description: loop_set)


# whether parsed YAML is of a dialect, and the dialect's reader; the last one takes what is left
DIALECTS: tuple[tuple[Callable[[object], bool], Callable[[object, str], Sidecar]], ...] = (
    (is_gepetto, read_gepetto),
    (is_loop_closures, read_loop_closures),
    (lambda content: True, _own),
)


def read_annotations(closures: str | Path | Mapping[str, Any]) -> Sidecar:
    """
    Read loops that are not part of the description.

    Parameters
    ----------
    closures : str, Path or dict
        A path, the YAML text itself (more than one line, or beginning with a top-level key), or
        what that text would parse to.

    Raises
    ------
    DescriptionError
        With file and line, what was found and what is allowed.

    """
    if isinstance(closures, Mapping):
        return recognise(closures, '<dict>')
    if isinstance(closures, str) and (
        '\n' in closures or closures.lstrip().startswith(TEXT_STARTS) or not closures.strip()
    ):
        return recognise(parse_yaml(closures, '<text>'), '<text>')
    try:
        path = Path(closures)
        if path.exists() and not path.is_file():  # a device or a pipe may have no end
            raise ValueError('it is not a regular file')
        with path.open('rb') as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise DescriptionError(
            f'closures cannot be read: {reason}; a path, YAML text or a dict is expected',
            source=str(closures)[:200],
        ) from None
    return recognise(parse_yaml(data, str(closures)), str(closures))


def recognise(content: object, source: str) -> Sidecar:
    """Give parsed YAML to the reader of its dialect."""
    reader = next(reader for is_it, reader in DIALECTS if is_it(content))
    return reader(content, source)
