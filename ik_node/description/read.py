"""Any robot description to a model graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ik_node.description.closures_yaml import read_closures
from ik_node.description.description import Description
from ik_node.description.loop import apply_loops, LoopSet
from ik_node.description.loop_joint import read_loop_joints
from ik_node.description.tree import float_roots
from ik_node.description.tree import trim_unused as trim_branches
from ik_node.description.urdf import read_urdf
from ik_node.description.xml_document import MAX_BYTES, parse_xml, XmlDocument
from ik_node.errors import DescriptionError, OptionError, UnsupportedElementError

# root element -> its reader, and the readers of loops declared inside it
READERS: dict[str, Callable[[XmlDocument], Description]] = {'robot': read_urdf}
LOOP_READERS: dict[str, tuple[Callable[[XmlDocument], LoopSet], ...]] = {
    'robot': (read_loop_joints,)
}
SIDECAR = '.closures.yaml'


def read_description(
    source: str | Path,
    *,
    closures: str | Path | Mapping[str, Any] | None = None,
    root: str = 'fixed',
    trim_unused: bool = False,
    max_bytes: int = MAX_BYTES,
) -> Description:
    """
    Read a robot description and its loops.

    Parameters
    ----------
    source : str or Path
        A path, or the text itself, which begins with '<'.
    closures : str, Path or dict, optional
        Closure annotations: a path, the text or a dict. They replace every loop declared in the
        description. Without them the declared loops are read and, for a path NAME.urdf, also
        NAME.closures.yaml beside it.
    root : {'fixed', 'floating'}
        floating: a joint with six DoF, `__world_joint__`, carries the robot.
    trim_unused : bool
        Whether branches that neither move nor close a loop are left out; their masses go to the
        links they hang on.
    max_bytes : int
        Larger input is refused.

    Raises
    ------
    DescriptionError, TopologyError
        With file, line, element, what was found and what is allowed.
    OptionError
        If `root` is something else.

    """
    if root not in ('fixed', 'floating'):
        raise OptionError('root', root, 'fixed floating')
    data, name, path = _load(source, max_bytes)
    document = parse_xml(data, name, max_bytes=max_bytes)
    tag = str(document.root.tag)
    if tag not in READERS:
        raise document.error(
            document.root,
            f'not a description that is read; allowed: <{"> <".join(READERS)}>',
            UnsupportedElementError,
        )
    description = READERS[tag](document)
    description.text = data
    for loop_set in _loop_sets(document, tag, closures, path):
        apply_loops(loop_set, description)
    if trim_unused:
        trim_branches(description)
    if root == 'floating':
        float_roots(description)
    return description


def _loop_sets(
    document: XmlDocument,
    tag: str,
    closures: str | Path | Mapping[str, Any] | None,
    path: Path | None,
) -> list[LoopSet]:
    if closures is not None:
        return [read_closures(closures)]
    found = [reader(document) for reader in LOOP_READERS[tag]]
    if path is not None:
        beside = path.with_name(path.stem + SIDECAR)
        if beside.is_file():
            found.append(read_closures(beside))
    return found


def _load(source: str | Path, max_bytes: int) -> tuple[bytes | str, str, Path | None]:
    """Return the text, what to call it in messages, and the path if there is one."""
    if isinstance(source, str) and source.lstrip('\ufeff \t\r\n').startswith('<'):
        return source.lstrip('\ufeff \t\r\n'), '<text>', None
    shown = str(source)[:200]
    if isinstance(source, str) and not source.strip():
        raise DescriptionError('the description is empty')
    try:
        path = Path(source)
        with path.open('rb') as file:
            return file.read(max_bytes + 1), str(path), path
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise DescriptionError(
            f"cannot be read: {reason}; a path is expected, or text that begins with '<'",
            source=shown,
        ) from None
