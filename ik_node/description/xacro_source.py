"""xacro, the macro language in which URDF is often written, to XML."""

from __future__ import annotations

import os
from pathlib import Path
import re
import subprocess
import sys

from ik_node.description.xml_document import XmlDocument
from ik_node.errors import DescriptionError

MAX_SECONDS = 60.0
MAX_MEMORY = 4 * 2**30
CHILD_FLAGS: tuple[str, ...] = ()
PROGRAM = Path(__file__).with_name('xacro_child.py')
COLOURS = re.compile(r'\x1b\[[0-9;]*m')
NOT_YET = 'this is xacro, not yet a URDF'
BY_HAND = 'expand it first: `xacro FILE arg:=value > robot.urdf`'


def is_xacro(document: XmlDocument, data: bytes | str, path: Path | None) -> bool:
    """Say whether there is anything to expand: tags, or in a file of that name expressions."""
    if path is not None and path.suffix.lower() == '.xacro':
        text = data if isinstance(data, bytes) else data.encode('utf-8', 'replace')
        if b'${' in text or b'$(' in text:
            return True
    return any(str(element.tag).startswith('xacro:') for element in document.root.iter())


def expand_xacro(
    data: bytes | str, source: str, path: Path | None, max_bytes: int, notes: list[str]
) -> bytes:
    """
    Expand xacro with the package of that name, in a process of its own.

    Files that it includes are found beside its own one, of a text in the working directory.
    `$(find PACKAGE)` finds packages of a ROS 2 workspace that is sourced, the file's own package
    and those beside it.

    Parameters
    ----------
    data : bytes or str
        The text, for a description without a path.
    source : str
        For messages.
    path : Path or None
        None for a text.
    max_bytes : int
        About how much it may grow to.
    notes : list of str
        xacro's warnings are appended.

    Raises
    ------
    DescriptionError
        If the package is not installed, or with what it says.

    """
    command = [
        sys.executable,
        *CHILD_FLAGS,
        str(PROGRAM),
        '-' if path is None else str(path.absolute()),
    ]
    command += [str(MAX_MEMORY), str(max_bytes + 1)]
    text = data.encode('utf-8', 'replace') if isinstance(data, str) else data
    try:
        done = subprocess.run(
            command,
            input=text if path is None else b'',
            capture_output=True,
            timeout=MAX_SECONDS,
            check=False,
            env={**os.environ, 'PYTHONIOENCODING': 'utf-8'},
        )
    except subprocess.TimeoutExpired:
        raise DescriptionError(
            f'{NOT_YET}, and cannot be expanded: not done after {MAX_SECONDS:g} s; {BY_HAND}',
            source=source,
        ) from None
    except OSError as error:
        raise DescriptionError(
            f'{NOT_YET}, and it cannot be started: {error}; {BY_HAND}', source=source
        ) from None
    said = COLOURS.sub('', done.stderr.decode('utf-8', 'replace')).strip()
    if done.returncode == 3:
        raise DescriptionError(
            f'{NOT_YET}, and the package xacro is not installed: '
            f'`pip install xacro`, or {BY_HAND}',
            source=source,
        )
    if done.returncode != 0:
        raise DescriptionError(_message(said, done.returncode), source=source)
    if said:
        notes.append('xacro says: ' + ' '.join(said.split())[:300])
    return done.stdout


def _message(said: str, code: int) -> str:
    reason = ' '.join(said.split())[:600] or f'its process ended with code {code}'
    hint = BY_HAND
    if 'unbound prefix' in reason:
        hint = 'declare it: <robot xmlns:xacro="http://www.ros.org/wiki/xacro">'
    elif 'ament_index' in reason or 'package' in reason.lower():
        hint = f'source the workspace that has the package, or {BY_HAND}'
    return f'{NOT_YET}, and cannot be expanded: {reason}; {hint}'
