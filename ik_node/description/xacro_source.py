"""
Expansion of xacro, the macro language for URDF, in a separate process.

xacro evaluates Python code in the file, with the rights of the user who expands it. Therefore only
files that the user names are expanded, see docs/support.md.
"""

from __future__ import annotations

from importlib.util import find_spec
import os
from pathlib import Path
import re
import subprocess
import sys

from ik_node.description.xml_document import XmlDocument
from ik_node.errors import DescriptionError, OptionError

XACRO_SECONDS = 10.0
# Longest time limit [s], a day; the system has no limit for much longer times.
MOST_SECONDS = 86400.0
PROGRAM = Path(__file__).with_name('xacro_child.py')
COLOURS = re.compile(r'\x1b\[[0-9;]*m')
NAMESPACE = re.compile(r'https?://(www\.)?ros\.org/.*xacro')
NOT_YET = 'this is xacro, not yet a URDF'
BY_HAND = 'expand it first: `xacro FILE arg:=value > robot.urdf`'


def is_xacro(document: XmlDocument, data: bytes | str, path: Path | None) -> bool:
    """Return True if a document has xacro tags or, in a .xacro file, xacro expressions."""
    if path is not None and path.suffix.lower() == '.xacro':
        text = data if isinstance(data, bytes) else data.encode('utf-8', 'replace')
        if b'${' in text or b'$(' in text:
            return True
    prefixes = {'xacro'}
    for element in document.root.iter():
        for name, value in element.attrib.items():
            if name.startswith('xmlns:') and NAMESPACE.match(value.strip()):
                prefixes.add(name.removeprefix('xmlns:'))
        prefix, colon, _ = str(element.tag).partition(':')
        if colon and prefix in prefixes:
            return True
    return False


def expand_xacro(
    path: Path, *, seconds: float = XACRO_SECONDS, notes: list[str] | None = None
) -> bytes:
    """
    Expand a xacro file with the package xacro, in a process that may take some seconds.

    xacro's warnings are appended to the notes. DescriptionError is raised if the package is not
    installed, with xacro's message, or if it takes too long; OptionError if `seconds` is not a
    positive number up to `MOST_SECONDS`.
    """
    if not 0.0 < seconds <= MOST_SECONDS:
        allowed = f'a positive number, up to {MOST_SECONDS:g} [s]'
        raise OptionError('xacro_seconds', seconds, allowed)
    why = 'the package xacro is not installed: `pip install xacro`'
    if find_spec('xacro') is not None:
        try:
            done = subprocess.run(
                [sys.executable, str(PROGRAM), str(path.absolute())],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=seconds,
                env={**os.environ, 'PYTHONUTF8': '1'},
            )
            said = ' '.join(COLOURS.sub('', done.stderr.decode('utf-8', 'replace')).split())
            if done.returncode == 0:
                if said and notes is not None:
                    notes.append(f'xacro says: {said[:300]}')
                return done.stdout
            why = said[-600:] or f'its process ended with code {done.returncode}'
        except subprocess.TimeoutExpired:
            why = f'not finished after {seconds:g} s (xacro_seconds)'
        except OSError as error:
            why = f'it cannot be started: {error}'
    hint = BY_HAND
    if 'unbound prefix' in why:
        hint = 'declare it: <robot xmlns:xacro="http://www.ros.org/wiki/xacro">'
    elif 'the package' in why and 'xacro is not' not in why:
        hint = f'source the workspace that contains the package, or {BY_HAND}'
    message = f'{NOT_YET}, and cannot be expanded: {why}; {hint}'
    raise DescriptionError(message, source=str(path))
