"""Measure speed; the rest of the line goes to benchmark/run.py of a checkout."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
import subprocess
import sys

from ik_node.errors import IkError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is passed on."""
    parser.add_argument(
        'words', nargs=argparse.REMAINDER, metavar='WORD', help='passed to benchmark/run.py'
    )


def run(args: argparse.Namespace) -> int:
    """Run the benchmark in a process of its own."""
    script = Path(__file__).resolve().parents[2] / 'benchmark' / 'run.py'
    if not script.is_file():
        raise IkError('the benchmark is not installed: run this in a checkout')
    checkout = str(script.parents[1])
    paths = [checkout, *filter(None, [os.environ.get('PYTHONPATH')])]
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(paths)}
    command = [sys.executable, str(script), *args.words]
    return subprocess.run(command, check=False, env=environment).returncode
