"""The names of files and packages state their content."""

import sys

import pytest

NAMES_THAT_SAY_NOTHING = {'utils', 'util', 'helpers', 'helper', 'common', 'misc'}


@pytest.fixture
def modules(repository):
    """Return every Python file of the package."""
    return sorted((repository / 'ik_node').rglob('*.py'))


def test_no_module_has_generic_name(modules):
    """No module or package is named utils, helpers, common or misc."""
    assert [path for path in modules if NAMES_THAT_SAY_NOTHING & {path.stem, *path.parts}] == []


def test_no_package_shadows_standard_library(modules, repository):
    """No sub-package carries the name of a standard-library module."""
    packages = {path.parent.name for path in modules if path.parent != repository / 'ik_node'}
    assert packages & sys.stdlib_module_names == set()
