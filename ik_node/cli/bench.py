"""
Compare the solver with others; all arguments are passed to benchmark/run.py of a checkout.

In a checkout, `bench --help` lists the benchmarks.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import subprocess
import sys

from ik_node.errors import IkError

SCRIPT = Path('benchmark') / 'run.py'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that are passed on."""
    parser.add_argument('words', nargs='*', metavar='WORD', help='passed to benchmark/run.py')
    if _script().is_file():
        # The script handles all options, including --help.
        parser.prefix_chars = ''


def run(args: argparse.Namespace) -> int:
    """Run the benchmark in a separate process."""
    script = _script()
    if not script.is_file():
        raise IkError('the benchmark is not installed: run this in a checkout')
    checkout = str(script.parents[1])
    paths = [checkout, *filter(None, [os.environ.get('PYTHONPATH')])]
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(paths)}
    command = [sys.executable, str(script), *args.words]
    if {'-h', '--help'} & set(args.words):
        said = subprocess.run(
            command, check=False, env=environment, capture_output=True, text=True
        )
        print(said.stdout + said.stderr, end='')
        raise SystemExit(said.returncode)
    return subprocess.run(command, check=False, env=environment).returncode


def _script() -> Path:
    return Path(__file__).resolve().parents[2] / SCRIPT
