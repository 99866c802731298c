"""
Expansion of xacro, the macro language for URDF, in a separate process.

xacro evaluates Python code in the file, with the rights of the user who expands it. Therefore only
files that the user names are expanded, see docs/trusted_inputs.md.
"""

from __future__ import annotations

from contextlib import suppress
import os
from pathlib import Path
import re
import signal
import subprocess
import sys
import tempfile

from ik_node.description.xml_document import MAX_BYTES, XmlDocument
from ik_node.errors import DescriptionError, OptionError

XACRO_SECONDS = 10.0
# Longest time limit [s], a day; the system has no limit for much longer times.
MOST_SECONDS = 86400.0
MAX_MEMORY = 4 * 2**30
# Environment variables that the process keeps: the paths of Python, xacro and ROS packages.
KEPT_VARIABLES = ('PYTHONPATH', 'LD_LIBRARY_PATH', 'AMENT_PREFIX_PATH')
CHILD_FLAGS: tuple[str, ...] = ()
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
    return _xacro_tag(document) is not None


def refuse_xacro_text(source: str) -> DescriptionError:
    """Return the exception for a text that contains xacro, which is never expanded."""
    return DescriptionError(
        f'{NOT_YET}, and a text is not expanded, because xacro runs the Python code in it. '
        'Expand it yourself (`xacro FILE arg:=value > robot.urdf`), or name the file',
        source=source,
    )


def expand_xacro(
    path: Path,
    *,
    seconds: float = XACRO_SECONDS,
    max_bytes: int = MAX_BYTES,
    notes: list[str] | None = None,
) -> bytes:
    """
    Expand a xacro file with the package xacro, in a separate process.

    Included files are searched beside the file. `$(find PACKAGE)` finds packages of a sourced ROS
    2 workspace, the file's own package and its neighbours. The process has only the environment
    variables `KEPT_VARIABLES`, so `$(env NAME)` finds no others.

    Parameters
    ----------
    path : Path
        The file.
    seconds : float
        Time limit of the process [s].
    max_bytes : int
        The largest result [bytes].
    notes : list of str, optional
        xacro's warnings are appended.

    Raises
    ------
    DescriptionError
        If the package is not installed, with xacro's message, or if it takes too long.
    OptionError
        If `seconds` is not a positive number up to `MOST_SECONDS`.

    """
    if not 0.0 < seconds <= MOST_SECONDS:
        allowed = f'a positive number, up to {MOST_SECONDS:g} [s]'
        raise OptionError('xacro_seconds', seconds, allowed)
    limits = (str(MAX_MEMORY), str(seconds), str(max_bytes))
    command = [sys.executable, *CHILD_FLAGS, str(PROGRAM), str(path.absolute()), *limits]
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    # Files instead of pipes, so that the output can neither fill this process's memory nor block
    # it.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env={**kept, 'PYTHONUTF8': '1', 'PYTHONDONTWRITEBYTECODE': '1'},
                start_new_session=True,
            )
        except OSError as error:
            raise DescriptionError(
                f'{NOT_YET}, and it cannot be started: {error}; {BY_HAND}', source=str(path)
            ) from None
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise DescriptionError(
                f'{NOT_YET}, and cannot be expanded: not finished after {seconds:g} s '
                f'(xacro_seconds); {BY_HAND}',
                source=str(path),
            ) from None
        finally:
            if process.poll() is None:
                _end(process)
        errors.seek(0)
        said = COLOURS.sub('', errors.read(4096).decode('utf-8', 'replace')).strip()
        if code == 3:
            raise DescriptionError(
                f'{NOT_YET}, and the package xacro is not installed: '
                f'`pip install xacro`, or {BY_HAND}',
                source=str(path),
            )
        if code != 0:
            raise DescriptionError(_message(said, code), source=str(path))
        if said and notes is not None:
            notes.append('xacro says: ' + ' '.join(said.split())[:300])
        output.seek(0)
        return output.read()


def _xacro_tag(document: XmlDocument) -> str | None:
    """Return the first tag with xacro's prefix or namespace; None if there is none."""
    prefixes = {'xacro'}
    for element in document.root.iter():
        for name, value in element.attrib.items():
            if name.startswith('xmlns:') and NAMESPACE.match(value.strip()):
                prefixes.add(name.removeprefix('xmlns:'))
        prefix, colon, _ = str(element.tag).partition(':')
        if colon and prefix in prefixes:
            return str(element.tag)
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its children."""
    with suppress(OSError):  # all of them have ended already
        if hasattr(os, 'killpg'):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _message(said: str, code: int) -> str:
    reason = ' '.join(said.split())[:600] or f'its process ended with code {code}'
    hint = BY_HAND
    if 'unbound prefix' in reason:
        hint = 'declare it: <robot xmlns:xacro="http://www.ros.org/wiki/xacro">'
    elif 'environment variable' in reason:
        hint = f'only {" ".join(KEPT_VARIABLES)} are passed on; {BY_HAND}'
    elif 'ament_index' in reason or 'package' in reason.lower():
        hint = f'source the workspace that contains the package, or {BY_HAND}'
    return f'{NOT_YET}, and cannot be expanded: {reason}; {hint}'
