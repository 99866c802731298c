"""The page of all commands, from their help texts."""

from __future__ import annotations

from functools import cache
import os
from pathlib import Path
import subprocess
import sys

from ik_node.cli.main import COMMANDS

HEAD = """# Commands

Run `ik_node COMMAND`, or `python -m ik_node COMMAND`, or `ros2 run ik_node ik_node COMMAND`. Exit
code 0: success. Exit code 1: the command ran, and the result is negative. Exit code 2: the input
cannot be used.
"""


@cache
def commands_page() -> str:
    """Return the page as Markdown."""
    parts = [HEAD]
    for name, about in COMMANDS.items():
        summary = f'{about[0].upper()}{about[1:]}.'
        parts.append(f'## {name}\n\n{summary}\n\n```text\n{help_of(name)}\n```\n')
    return '\n'.join(parts)


def help_of(name: str) -> str:
    """Return what `ik_node NAME --help` prints in lines of 100 columns."""
    done = subprocess.run(
        [sys.executable, '-m', 'ik_node', name, '--help'],
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, 'COLUMNS': '100', 'NO_COLOR': '1'},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
