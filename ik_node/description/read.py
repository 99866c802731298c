"""Reader of robot descriptions in any supported format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ik_node.description.description import apply_loops, Description, LoopSet
from ik_node.description.digits import read_digits
from ik_node.description.doubts import note_suspicious_values
from ik_node.description.files import found_by_name, KINDS, robots_in_folder, similar_file
from ik_node.description.loops.closing_frames import drop_guesses, read_closing_frames
from ik_node.description.loops.couplings import note_unread, read_mimic_elsewhere
from ik_node.description.loops.drake import DrakeReader
from ik_node.description.loops.loop_joint import LoopJointReader
from ik_node.description.loops.urdf_plus import ConstraintReader, UrdfPlusReader
from ik_node.description.sdf.loops import read_detachable_joints, read_gazebo_joints
from ik_node.description.sdf.reader import read_sdf
from ik_node.description.sidecars.find import (
    note_annotations_beside,
    read_annotations,
    read_beside,
)
from ik_node.description.tree import float_roots
from ik_node.description.tree import trim_unused as trim_branches
from ik_node.description.urdf import read_joint_elements, read_urdf
from ik_node.description.xacro_source import (
    BY_HAND,
    expand_xacro,
    is_xacro,
    NOT_YET,
    XACRO_SECONDS,
)
from ik_node.description.xml_document import MAX_BYTES, parse_xml, XmlDocument
from ik_node.errors import DescriptionError, UnsupportedElementError
from ik_node.model.given import one_of

# Closing frames come after all declared loops, because they are guesses.
LoopReader = Callable[[XmlDocument, Description], LoopSet]
URDF_LOOPS: tuple[LoopReader, ...] = (
    LoopJointReader.read_all,
    read_joint_elements,
    UrdfPlusReader.read_all,
    ConstraintReader.read_all,
    DrakeReader.read_all,
    read_gazebo_joints,
    read_detachable_joints,
    read_mimic_elsewhere,
    read_closing_frames,
    note_unread,
)


def _read_mjcf(document: XmlDocument) -> Description:
    # Only a robot of this format needs its reader, whose import takes longer than a URDF.
    from ik_node.description.mjcf.reader import read_mjcf

    return read_mjcf(document)


BLANKS = '\ufeff \t\r\n'
# Reader of each root element, and the readers of loops declared inside it. The reader of MJCF
# reads its loops itself, because they depend on its bodies.
READERS: dict[str, tuple[Callable[[XmlDocument], Description], tuple[LoopReader, ...]]] = {
    'robot': (read_urdf, URDF_LOOPS),
    'mujoco': (_read_mjcf, ()),
    'sdf': (read_sdf, (read_mimic_elsewhere, read_closing_frames)),
}


def read_description(
    source: str | Path,
    *,
    closures: str | Path | Mapping[str, Any] | None = None,
    root: str = 'fixed',
    trim_unused: bool = False,
    max_bytes: int = MAX_BYTES,
    xacro_seconds: float = XACRO_SECONDS,
    exact_angles: bool = False,
    prefix: str = '',
) -> Description:
    """
    Read a robot description and its loops; arguments and errors are those of `load_robot`.

    `root` 'floating' adds a joint with six DoF, `__world_joint__`, that carries the robot.
    `trim_unused` removes branches that neither move nor close a loop; their masses are added to
    the links that carried them. Only files are expanded by xacro, because xacro runs code and a
    text may come from an untrusted source.
    """
    one_of('root', root, ('fixed', 'floating'))
    data, name, path = _load(source, max_bytes)
    document = _parse(data, name, path, max_bytes)
    notes: list[str] = []
    from_xacro = is_xacro(document, data, path)
    if from_xacro:
        if path is None:
            why = 'a text is not expanded, because xacro runs the Python code in it'
            message = f'{NOT_YET}, and {why}; {BY_HAND}, or name the file'
            raise DescriptionError(message, source=name)
        data = expand_xacro(path, seconds=xacro_seconds, notes=notes)
        document = parse_xml(data, f'{name}, expanded', max_bytes=max_bytes)
    description = _read(document, exact_angles)
    description.text = data
    description.notes[:0] = notes
    if from_xacro:
        description.dialect += ' from xacro'
    if closures is not None:
        _drop_loops(description)
        beside = [read_annotations(closures, description)]
    else:
        beside = read_beside(path, description) if path is not None else []
    drop_guesses(description, beside)
    for loop_set in description.loops + beside:
        apply_loops(loop_set, description)
    if closures is None and path is not None and not description.closures:
        note_annotations_beside(path, description)
    note_suspicious_values(description)
    if trim_unused:
        trim_branches(description)
    if root == 'floating':
        float_roots(description)
    if prefix:
        description.put_before_names(prefix)
    return description


def _parse(data: bytes | str, name: str, path: Path | None, max_bytes: int) -> XmlDocument:
    """Parse a description; if it is a file of another kind, raise an error that says which."""
    if path is not None and not data.strip():
        raise DescriptionError('the file is empty', source=name)
    other = KINDS.get(path.suffix.lower(), '') if path is not None else ''
    try:
        document = parse_xml(data, name, max_bytes=max_bytes)
    except DescriptionError:
        if other:
            raise DescriptionError(f'this is {other}', source=name) from None
        raise
    if other and document.root.tag not in READERS:
        raise DescriptionError(f'this is {other}', source=name)
    return document


def is_text(source: str) -> bool:
    """Return True if a string is a description, False if it is a path."""
    return source.lstrip(BLANKS).startswith('<')


def text_alone(source: str) -> str:
    """Return a description from a topic or parameter if it is a text; a path is an error."""
    if not is_text(source):
        start = source.strip()[:40]
        raise DescriptionError(f'a robot description begins with <, this one with {start!r}')
    return source


def _read(document: XmlDocument, exact_angles: bool) -> Description:
    tag = str(document.root.tag)
    if tag not in READERS:
        raise document.error(
            document.root,
            f'this format is not supported; allowed: <{"> <".join(READERS)}>',
            UnsupportedElementError,
        )
    rounding, rounded_angles, notes = read_digits(document.root, exact_angles)
    reader, loop_readers = READERS[tag]
    description = reader(document)
    description.rounding = rounding
    description.rounded_angles = rounded_angles
    description.notes += notes
    for each in loop_readers:
        description.loops.append(each(document, description))
    return description


def _drop_loops(description: Description) -> None:
    """Remove the loops that the description declares; annotations replace them."""
    count = sum(len(loop_set.loops) for loop_set in description.loops)
    if count:
        dialects = ', '.join(each.dialect for each in description.loops if each.loops)
        description.notes.append(
            f'{count} loops declared in the description ({dialects}) are not used: the given '
            'annotations replace them'
        )
    for each in description.loops:
        each.loops = []


def _load(source: Any, max_bytes: int) -> tuple[bytes | str, str, Path | None]:
    """Return the text, its name in messages, and its path if it is a file."""
    if isinstance(source, str) and is_text(source):
        return source.lstrip(BLANKS), '<text>', None
    if not isinstance(source, (str, Path)):
        todo = "a path is expected, text that begins with '<', or the name of a robot of ik_node"
        if hasattr(source, 'to_xml_string'):  # of urdf_parser_py
            todo = 'load the file or its text instead: such an object has lost the loops'
        kind = type(source).__name__
        raise DescriptionError(f'cannot be read: it is of the type {kind}; {todo}')
    where = str(source)[:200]
    if isinstance(source, str) and not source.strip():
        raise DescriptionError('the description is empty')
    try:
        path = Path(found_by_name(source))
        if path.is_dir():
            raise DescriptionError(robots_in_folder(path), source=where)
        with path.open('rb') as file:
            return file.read(max_bytes + 1), str(path), path
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        near = similar_file(Path(source)) if isinstance(error, FileNotFoundError) else ''
        message = f"cannot be read: {reason}; a path is expected, or text that begins with '<'"
        message += ', or the name of a robot of ik_node, such as hexapod'
        raise DescriptionError(
            message + (f'; did you mean {near}?' if near else ''), source=where
        ) from None
