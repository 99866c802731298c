"""
Search for a file beside a description that declares its loops; the first match is read.

=============================================  ================================================
for FOLDER/NAME.urdf, in this order            read if
=============================================  ================================================
NAME.closures.yaml                             it exists
NAME.yaml                                      it has a list `closed_loop`, as Gepetto's has
robot.yaml                                     also if it connects links of this robot
loop_closures.yaml, ../config/ of that name,   it connects links of this robot
../ of that name if FOLDER is `urdf`
robot_data.yaml, ../ of that name likewise     the same
=============================================  ================================================

Files with names that other programs use, or with the name of the robot only, may have another
purpose, so they are read only if they clearly declare loops. A fault in such a file is an error.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
import re
from typing import Any

from ik_node.description.description import Description, LoopSet, WORLD
from ik_node.description.sidecars.closures_yaml import read_closures
from ik_node.description.sidecars.loop_file import (
    GepettoFile,
    LoopClosuresFile,
    LoopFile,
    RobotDataFile,
)
from ik_node.description.yaml_document import MAX_BYTES, parse_yaml, read_bytes
from ik_node.errors import DescriptionError

# A YAML text of one line begins so, other than a path.
TEXT_START = re.compile(r'\s*([{#]|---|\w+:(\s|$)|$)')
# The formats of other programs.
DIALECTS: tuple[type[LoopFile], ...] = (GepettoFile, LoopClosuresFile, RobotDataFile)


def read_annotations(closures: str | Path | Mapping[str, Any], robot: Description) -> LoopSet:
    """
    Read closure annotations of any format, which may change the types of a robot's joints.

    They are a path, the YAML text itself (more than one line, or beginning with a top-level key),
    or the parsed content.
    """
    if isinstance(closures, Mapping):
        return _read(closures, '<dict>', robot)
    if isinstance(closures, str) and ('\n' in closures or TEXT_START.match(closures)):
        return _read(parse_yaml(closures, '<text>'), '<text>', robot)
    data = read_bytes(closures, 'closures ', '; a path, YAML text or a dict is expected')
    return _read(parse_yaml(data, str(closures)), str(closures), robot)


def _reader_of(content: object) -> type[LoopFile] | None:
    """Return the reader of parsed YAML; None for ik_node's own closure annotations."""
    if not isinstance(content, Mapping):
        return None
    return next((each for each in DIALECTS if each.recognises(content)), None)


def _read(content: object, source: str, robot: Description) -> LoopSet:
    reader = _reader_of(content)
    return (
        read_closures(content, source) if reader is None else reader(source, robot).read(content)
    )


OWN = '.closures.yaml'
GEPETTO = 'robot.yaml'
LOOP_CLOSURES = 'loop_closures.yaml'
ROBOT_DATA = 'robot_data.yaml'
# Readers of files with these names; others are Gepetto's.
OF_NAME = {LOOP_CLOSURES: LoopClosuresFile, ROBOT_DATA: RobotDataFile}
# Number of files beside a description that are searched for annotations with another name.
MOST_FILES = 50


def read_beside(path: Path, robot: Description) -> list[LoopSet]:
    """
    Read the first sidecar file that exists for a description.

    Return a list of its loops, or an empty list if the description has no such file.
    """
    stem = _stem(path)
    for name in dict.fromkeys((path.stem, stem)):
        own = path.with_name(name + OWN)
        if own.is_file():
            return [read_annotations(own, robot)]
    for place in _places(path, stem):
        reader: type[LoopFile] = OF_NAME.get(place.name, GepettoFile)
        content = _parse_list(place, reader.list_keys)
        if _reader_of(content) is reader:
            return [reader(str(place), robot).read(content, must_fit=place.stem != stem)]
    return []


def note_annotations_beside(path: Path, description: Description) -> None:
    """
    Note closure annotations for a robot without loops that have another name than expected.

    They are files beside the description that connect links of this robot.
    """
    try:
        files = sorted(each for each in path.parent.iterdir() if each.suffix in ('.yaml', '.yml'))
    except OSError:
        return
    for file in files[:MOST_FILES]:
        try:
            loops = _read(_parse_list(file, b'closures'), str(file), deepcopy(description)).loops
        except DescriptionError:
            continue
        if any(description.links.keys() >= {*loop.ends} - {WORLD} for loop in loops):
            description.notes.append(
                f'{file.name}: it connects links of this robot and is not used, because of its '
                f'name: call it {sidecar_name(path)}, or give it as closures (`--closures FILE`)'
            )


def sidecar_name(path: Path) -> str:
    """Return the name of the file beside a description that is searched first."""
    return _stem(path) + OWN


def _stem(path: Path) -> str:
    """Return the name of a description without its endings, as in NAME.urdf.xacro."""
    stem = path.stem
    for ending in ('.urdf', '.sdf'):
        stem = stem.removesuffix(ending)
    return stem


def _places(path: Path, stem: str) -> Iterator[Path]:
    yield path.with_name(stem + '.yaml')
    if stem + '.yaml' != GEPETTO:
        yield path.with_name(GEPETTO)
    yield path.with_name(LOOP_CLOSURES)
    folder = path.absolute().parent
    yield folder.parent / 'config' / LOOP_CLOSURES
    if folder.name == 'urdf':
        yield folder.parent / LOOP_CLOSURES
    yield path.with_name(ROBOT_DATA)
    if folder.name == 'urdf':
        yield folder.parent / ROBOT_DATA


def _parse_list(path: Path, keys: bytes) -> Any:
    """Parse a file if one of some keys begins a list of loops in it; otherwise return None."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            return None
        data = path.read_bytes()
    except (OSError, ValueError):
        return None
    return parse_yaml(data, str(path)) if _begins_a_list(keys, data) else None


def _begins_a_list(keys: bytes, data: bytes) -> bool:
    """
    Return True if one of some top-level keys begins a list.

    This quick test decides whether the file is parsed, and faults in it are then errors.
    """
    data = data.removeprefix(codecs.BOM_UTF8)
    indent = rb'[ \t{]*' if data.lstrip().startswith(b'{') else b''
    sign = rb'^%b["\']?(%b)["\']?[ \t]*:[ \t]*(\[|#|\r?$)' % (indent, keys)
    return re.search(sign, data, re.M) is not None
