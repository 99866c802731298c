"""Any robot description to a model graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ik_node.description.angles import AngleReader
from ik_node.description.description import apply_loops, Description, LoopSet
from ik_node.description.loops.closing_frames import drop_guesses, read_closing_frames
from ik_node.description.loops.constraint import read_constraints
from ik_node.description.loops.drake import read_drake
from ik_node.description.loops.loop_joint import read_loop_joints
from ik_node.description.loops.mimic_elsewhere import (
    note_unnamed_pairs,
    note_unread,
    read_mimic_elsewhere,
)
from ik_node.description.loops.urdf_plus import read_urdf_plus
from ik_node.description.mjcf.reader import read_mjcf
from ik_node.description.sdf.gazebo_joint import read_gazebo_joints
from ik_node.description.sdf.reader import read_sdf
from ik_node.description.sidecars.find import read_annotations, sidecars_beside
from ik_node.description.tree import float_roots
from ik_node.description.tree import trim_unused as trim_branches
from ik_node.description.urdf.joint_elements import read_joint_elements
from ik_node.description.urdf.reader import read_urdf
from ik_node.description.xacro_source import (
    expand_xacro,
    is_xacro,
    refuse_xacro_text,
    XACRO_SECONDS,
)
from ik_node.description.xml_document import MAX_BYTES, parse_xml, XmlDocument
from ik_node.errors import DescriptionError, OptionError, shown, UnsupportedElementError

# Closing frames come last but one: they are a guess, which gives way to what is said.
URDF_LOOPS: tuple[Callable[[XmlDocument, Description], LoopSet], ...] = (
    read_loop_joints,
    read_joint_elements,
    read_urdf_plus,
    read_constraints,
    read_drake,
    read_gazebo_joints,
    read_mimic_elsewhere,
    read_closing_frames,
    note_unread,
)


BLANKS = '\ufeff \t\r\n'
# root element -> its reader, and the readers of loops declared inside it
READERS: dict[str, Callable[[XmlDocument], Description]] = {
    'robot': read_urdf,
    'mujoco': read_mjcf,
    'sdf': read_sdf,
}
LOOP_READERS: dict[str, tuple[Callable[[XmlDocument, Description], LoopSet], ...]] = {
    'robot': URDF_LOOPS,
    'sdf': (read_mimic_elsewhere, read_closing_frames),
    'mujoco': (),  # its reader reads them, as they hang on how bodies are read
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
) -> Description:
    """
    Read a robot description and its loops.

    Parameters
    ----------
    source : str or Path
        A path, or the text itself, which begins with '<'. xacro is expanded in a file only: it
        runs code, and a text may come from anybody.
    closures : str, Path or dict, optional
        Loops in a file of their own: a path or the text in any of the dialects of
        `ik_node.description.sidecars`, or a dict. They replace every loop declared in the
        description. Without them the declared loops are read and, for a path, also those of a
        sidecar beside it.
    root : {'fixed', 'floating'}
        floating: a joint with six DoF, `__world_joint__`, carries the robot.
    trim_unused : bool
        Whether branches that neither move nor close a loop are left out; their masses go to the
        links they hang on.
    max_bytes : int
        Larger input is refused.
    xacro_seconds : float
        Time after which the expansion of a xacro file is ended [s].
    exact_angles : bool
        Whether angles of poses that are rounded fractions of pi, as 1.5708, are read as what they
        stand for; a note says so. `Description.rounded_angles` counts them in either case.

    Raises
    ------
    DescriptionError
        With file, line, element, what was found and what is allowed.
    OptionError
        If `root` is something else.

    """
    if root not in ('fixed', 'floating'):
        raise OptionError('root', root, 'fixed floating')
    data, name, path = _load(source, max_bytes)
    document = parse_xml(data, name, max_bytes=max_bytes)
    notes: list[str] = []
    from_xacro = is_xacro(document, data, path)
    if from_xacro:
        if path is None:
            raise refuse_xacro_text(name)
        data = expand_xacro(path, seconds=xacro_seconds, max_bytes=max_bytes, notes=notes)
        document = parse_xml(data, f'{name}, expanded', max_bytes=max_bytes)
    if closures is not None:
        sidecars = [read_annotations(closures)]
    else:
        sidecars = sidecars_beside(path) if path is not None else []
    for sidecar in sidecars:
        sidecar.rewrite(document)
    description = _read(document, AngleReader(exact_angles))
    description.text = data
    description.notes[:0] = notes
    if from_xacro:
        description.dialect += ' from xacro'
    if closures is not None:
        _drop_loops(description)
    beside = [sidecar.loop_set(description) for sidecar in sidecars]
    drop_guesses(description, beside)
    for loop_set in description.loops + beside:
        apply_loops(loop_set, description)
    if closures is None:
        note_unnamed_pairs(description)
    if trim_unused:
        trim_branches(description)
    if root == 'floating':
        float_roots(description)
    _check_value_names(description)
    return description


def is_text(source: str) -> bool:
    """Return True if a string is a description itself; any other one is a path."""
    return source.lstrip(BLANKS).startswith('<')


def text_alone(source: str) -> str:
    """
    Return a description that came over a topic or as a parameter, which must not name a file.

    Raises
    ------
    DescriptionError
        If it does not begin with '<', as a path does not.

    """
    if not is_text(source):
        start = source.strip()[:40]
        raise DescriptionError(f'a robot description begins with <, this one with {shown(start)}')
    return source


def _check_value_names(description: Description) -> None:
    """Refuse a joint that is called like a value of another, which has several DoF."""
    owners: dict[str, str] = {}
    for joint in description.joint_order:
        for name in joint.value_names:
            if name in owners:
                raise DescriptionError(
                    f'the joint {shown(joint.name)} has a value {shown(name)}, as has the joint '
                    f'{shown(owners[name])}; rename one of them',
                    source=description.source,
                )
            owners[name] = joint.name


def _read(document: XmlDocument, angles: AngleReader) -> Description:
    tag = str(document.root.tag)
    if tag not in READERS:
        raise document.error(
            document.root,
            f'not a description that is read; allowed: <{"> <".join(READERS)}>',
            UnsupportedElementError,
        )
    angles.read(document)
    description = READERS[tag](document)
    description.rounded_angles = angles.count
    if angles.note:
        description.notes.append(angles.note)
    for reader in LOOP_READERS[tag]:
        description.loops.append(reader(document, description))
    return description


def _drop_loops(description: Description) -> None:
    """Forget the loops that the description declares; others take their place."""
    count = sum(len(loop_set.loops) for loop_set in description.loops)
    if count:
        dialects = ', '.join(each.dialect for each in description.loops if each.loops)
        description.notes.append(
            f'{count} loops declared in the description ({dialects}) are not used: the given '
            'annotations take their place'
        )
    for each in description.loops:
        each.loops = []


def _load(source: str | Path, max_bytes: int) -> tuple[bytes | str, str, Path | None]:
    """Return the text, what to call it in messages, and the path if there is one."""
    if isinstance(source, str) and is_text(source):
        return source.lstrip(BLANKS), '<text>', None
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
