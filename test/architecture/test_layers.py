"""Imports have the direction that pyproject.toml declares."""

import subprocess
import sys

import pytest

pytest.importorskip('importlinter')


def test_import_contracts_hold(repository):
    """Every import-linter contract is kept."""
    command = [sys.executable, '-c', 'from importlinter.cli import lint_imports_command as c; c()']
    run = subprocess.run(
        [*command, '--no-logo'], cwd=repository, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert ' 0 broken' in run.stdout
