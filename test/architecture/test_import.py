"""Importing the package is quick, and all public names exist."""

import subprocess
import sys

import ik_node
import pytest

HEAVY = ('numba', 'scipy', 'rclpy', 'yaml', 'tqdm', 'matplotlib', 'numpy')


@pytest.mark.parametrize(
    'program',
    [
        'import ik_node',
        'import runpy, sys; sys.argv = ["ik", "--help"]; import contextlib\n'
        'with contextlib.suppress(SystemExit): runpy.run_module("ik_node", run_name="__main__")',
    ],
    ids=['import', 'help'],
)
def test_import_and_help_load_no_heavy_module(repository, program):
    """`import ik_node` and `--help` load no compiler, no ROS 2 and no parser."""
    report = f'\nimport sys; print("loaded:", *(m for m in {HEAVY} if m in sys.modules))'
    run = subprocess.run(
        [sys.executable, '-c', program + report],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.splitlines()[-1].split() == ['loaded:']


def test_public_names_resolve():
    """Every public name exists and is listed."""
    assert {name for name in ik_node.__all__ if getattr(ik_node, name, None) is None} == set()
    assert set(ik_node.__all__) <= set(dir(ik_node))


def test_unknown_name_raises_attribute_error():
    """Lazy loading does not hide the error."""
    with pytest.raises(AttributeError, match='no_such_name'):
        _ = ik_node.no_such_name
