"""The linters and the type checker report no error."""

import subprocess
import sys

import pytest


def check(repository, *arguments):
    """Run Python with these arguments on the checkout; if it fails, fail with its output."""
    run = subprocess.run(
        [sys.executable, *arguments], cwd=repository, capture_output=True, text=True, check=False
    )
    if run.returncode != 0:
        lines = (run.stdout + run.stderr).splitlines()
        said = [line for line in lines if not line.startswith('checking ')]
        pytest.fail('\n'.join(said), pytrace=False)


def test_ruff_finds_nothing(repository):
    """No rule of pyproject.toml is broken."""
    pytest.importorskip('ruff')
    check(repository, '-m', 'ruff', 'check', '--quiet', '.')


def test_files_are_formatted_by_ruff(repository):
    """`ruff format` changes no file."""
    pytest.importorskip('ruff')
    check(repository, '-m', 'ruff', 'format', '--quiet', '--check', '.')


def test_types_are_consistent(repository):
    """The package passes mypy's strict mode."""
    pytest.importorskip('mypy')
    check(repository, '-m', 'mypy')


@pytest.mark.parametrize('linter', ['ament_flake8', 'ament_pep257'])
def test_ament_linter_finds_nothing(repository, linter):
    """The linters of ROS 2 pass on what is installed; flake8 allows what `ruff format` writes."""
    pytest.importorskip(linter)
    paths = ['ik_node', 'launch', 'setup.py']
    if linter == 'ament_flake8':
        paths += ['--config', 'tools/flake8.ini']
    program = f'import sys; from {linter}.main import main; sys.exit(main({paths}))'
    check(repository, '-c', program)
