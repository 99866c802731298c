"""The package is complete and its files agree."""

import importlib
from pathlib import Path
import re
import runpy
import xml.etree.ElementTree as ElementTree

import pytest
import setuptools


@pytest.fixture
def manifest(repository):
    """Return the root element of package.xml."""
    return ElementTree.parse(repository / 'package.xml').getroot()


@pytest.fixture
def setup_arguments(repository, monkeypatch):
    """Return what setup.py passes to setuptools."""
    captured = {}
    monkeypatch.chdir(repository)
    monkeypatch.setattr(setuptools, 'setup', lambda **arguments: captured.update(arguments))
    runpy.run_path('setup.py')
    return captured


def test_manifest_is_of_format_3_and_ament_python(manifest):
    """The build tool colcon builds this type as ament_python."""
    assert manifest.attrib['format'] == '3'
    assert manifest.findtext('name') == 'ik_node'
    assert manifest.findtext('export/build_type') == 'ament_python'
    assert manifest.findtext('license') == 'Apache-2.0'


def test_maintainer_can_be_parsed(manifest):
    """With an invalid address colcon silently builds a plain Python package."""
    pattern = (
        r'[-a-zA-Z0-9_%+]+(\.[-a-zA-Z0-9_%+]+)*@[-a-zA-Z0-9%]+(\.[-a-zA-Z0-9%]+)*\.[a-zA-Z]{2,}'
    )
    addresses = [maintainer.attrib['email'] for maintainer in manifest.findall('maintainer')]
    assert addresses
    for address in addresses:
        assert re.fullmatch(pattern, address)


def test_manifest_passes_the_parser_of_ros():
    """catkin_pkg, which colcon, rosdep and bloom use, reports no warning."""
    packages = pytest.importorskip('catkin_pkg.package')
    warnings = []
    path = Path(__file__).parents[2] / 'package.xml'
    packages.parse_package(str(path), warnings=warnings)
    assert warnings == []


def test_version_is_the_same_everywhere(manifest, setup_arguments):
    """package.xml, setup.py and the package agree."""
    version = importlib.import_module('ik_node').__version__
    assert re.fullmatch(r'\d+\.\d+\.\d+', version)
    assert manifest.findtext('version') == version == setup_arguments['version']


def test_changelog_begins_with_this_version_or_forthcoming(repository, manifest):
    """The first section of the changelog is the one being written or the one just released."""
    sections = re.findall(r'^(.+)\n-+$', (repository / 'CHANGELOG.rst').read_text(), re.MULTILINE)
    assert sections[0] == 'Forthcoming' or sections[0].startswith(manifest.findtext('version'))


def test_licence_is_apache_2(repository):
    """The file has the full text."""
    text = (repository / 'LICENSE').read_text()
    assert 'Apache License' in text
    assert 'END OF TERMS AND CONDITIONS' in text


def test_every_installed_folder_has_files(setup_arguments):
    """A glob in setup.py without a match would silently install nothing."""
    empty = [target for target, files in setup_arguments['data_files'] if not files]
    assert empty == []


def test_package_data_of_setup_exists(repository, setup_arguments):
    """Every package has the data files that setup.py lists."""
    for package, patterns in setup_arguments['package_data'].items():
        folder = repository / package.replace('.', '/')
        found = [path for pattern in patterns for path in folder.glob(pattern)]
        assert found, f'{package}: nothing matches {patterns}'


def test_every_package_is_installed(repository, setup_arguments):
    """No folder of modules is left out of setup.py."""
    folders = {path.parent for path in (repository / 'ik_node').rglob('*.py')}
    names = {'.'.join(folder.relative_to(repository).parts) for folder in folders}
    assert names == set(setup_arguments['packages'])


def test_entry_points_can_be_imported(setup_arguments):
    """Both executables find their function."""
    for entry in setup_arguments['entry_points']['console_scripts']:
        module, function = entry.split('=')[1].strip().split(':')
        assert callable(getattr(importlib.import_module(module), function))


def test_python_dependencies_are_declared_for_rosdep(manifest, setup_arguments):
    """The keys of rosdep cover every requirement of pip."""
    keys = {element.text for element in manifest.findall('exec_depend')}
    special = {'pyyaml': 'python3-yaml'}
    for name in setup_arguments['install_requires']:
        assert special.get(name, f'python3-{name}') in keys
