"""The package is complete and its files agree."""

import importlib
from pathlib import Path
import re
import runpy
import xml.etree.ElementTree as ElementTree

import pytest
import setuptools
import yaml


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


def test_manifest_passes_the_parser_of_ros():
    """catkin_pkg, which colcon, rosdep and bloom use, reports no warning."""
    packages = pytest.importorskip('catkin_pkg.package')
    warnings = []
    path = Path(__file__).parents[2] / 'package.xml'
    packages.parse_package(str(path), warnings=warnings)
    assert warnings == []


def test_version_is_the_same_everywhere(repository, manifest, setup_arguments):
    """package.xml, setup.py, the package, the citation and the conda recipe agree."""
    version = importlib.import_module('ik_node').__version__
    assert re.fullmatch(r'\d+\.\d+\.\d+', version)
    assert manifest.findtext('version') == version == setup_arguments['version']
    assert yaml.safe_load((repository / 'CITATION.cff').read_text())['version'] == version
    assert recipe(repository)['context']['version'] == version


def test_addresses_are_the_same_everywhere(repository, manifest, setup_arguments):
    """Home, repository and issues are those of setup.py."""
    urls = {url.attrib['type']: url.text for url in manifest.findall('url')}
    citation = yaml.safe_load((repository / 'CITATION.cff').read_text())
    about = recipe(repository)['about']
    assert urls['website'] == setup_arguments['url'] == citation['url'] == about['homepage']
    source = setup_arguments['project_urls']['Source']
    assert urls['repository'] == source == citation['repository-code'] == about['repository']
    assert urls['bugtracker'] == setup_arguments['project_urls']['Issues']


@pytest.mark.filterwarnings('ignore::DeprecationWarning')
def test_changelog_is_read_by_bloom(repository, manifest):
    """The first section is `Forthcoming`; the second is the version, with the citation's date."""
    changelog = pytest.importorskip('catkin_pkg.changelog')
    read = changelog.get_changelog_from_path(str(repository), 'ik_node')
    found = [(version, date) for version, date, _ in read.foreach_version()]
    version = manifest.findtext('version')
    date = yaml.safe_load((repository / 'CITATION.cff').read_text())['date-released']
    text = (repository / 'CHANGELOG.rst').read_text()
    sections = re.findall(r'^(.+)\n-+$', text, re.MULTILINE)
    assert sections[:2] == ['Forthcoming', f'{version} ({date})']
    assert [each for each, _ in found] == [
        section.split()[0] for section in sections if section != 'Forthcoming'
    ]
    lists = [each for each in read.get_content_of_version(version) if hasattr(each, 'bullets')]
    assert sum(len(each.bullets) for each in lists) > 10
    headings = set(re.findall(r'^\*\*(\w+)\*\*$', text, re.MULTILINE))
    assert headings <= {'Added', 'Changed', 'Fixed', 'Removed'}


def test_long_description_has_no_relative_link(setup_arguments):
    """Outside of the repository a relative link leads nowhere."""
    text = setup_arguments['long_description']
    links = re.findall(r'\]\(([^)]*)\)', text)
    assert len(links) > 30
    assert [link for link in links if not link.startswith(('https://', '#'))] == []
    pictures = re.findall(r'!\[[^\]]*\]\(([^)]*)\)', text)
    assert pictures
    assert all('/raw/' in link for link in pictures)


def test_every_extra_that_texts_name_exists(repository, setup_arguments):
    """`ik_node[NAME]` and "extra NAME" in code and pages are extras of setup.py."""
    extras = setup_arguments['extras_require']
    named = set()
    pages = [repository / 'README.md', *(repository / 'docs').glob('*.md')]
    for path in [*pages, *(repository / 'ik_node').rglob('*.py')]:
        for names in re.findall(r'ik_node\[([a-z0-9, ]+)\]', path.read_text()):
            named |= {name.strip() for name in names.split(',')}
    assert {'viewer', 'plot'} <= named
    assert named <= set(extras)


def test_readme_names_every_extra(repository, setup_arguments):
    """The lists of extras are complete, except for those of developers."""
    for page in ('README.md', 'docs/installation.md'):
        (listed,) = re.findall(r'adds an extra: ([^.]*)\.', (repository / page).read_text())
        named = {*re.split(r',\s+|\s+or\s+', listed)}
        assert named == set(setup_arguments['extras_require']) - {'build', 'test'}


def test_conda_recipe_has_the_requirements_of_setup(repository, setup_arguments):
    """The recipe builds like pyproject.toml and runs with what pip installs."""
    requirements = recipe(repository)['requirements']
    run = {each.split()[0] for each in requirements['run']} - {'python'}
    assert run == set(setup_arguments['install_requires'])
    host = {each.split()[0] for each in requirements['host']} - {'python', 'pip'}
    text = (repository / 'pyproject.toml').read_text()
    (needed,) = re.findall(r'^requires = \[(.*)\]', text, re.MULTILINE)
    assert host == set(re.findall(r'"(\w+)', needed))
    assert f'python {setup_arguments["python_requires"]}' in requirements['run']


def recipe(repository):
    """Return the conda recipe, whose expressions `${{ }}` are plain strings to YAML."""
    return yaml.safe_load((repository / 'tools' / 'conda' / 'recipe.yaml').read_text())


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


# Keys of rosdep with a rule for Ubuntu, Debian, RHEL and Fedora, and packages that are released
# in Humble, Jazzy, Kilted, Lyrical and Rolling: rosdep/base.yaml, rosdep/python.yaml and
# */distribution.yaml of github.com/ros/rosdistro, commit 8468e88 (August 2026).
EVERYWHERE = {
    *('python3-dev', 'python3-matplotlib', 'python3-numpy', 'python3-pytest', 'python3-scipy'),
    *('python3-pytest-timeout', 'python3-tqdm', 'python3-yaml'),
    *('ament_flake8', 'ament_index_python', 'ament_pep257', 'interactive_markers', 'launch'),
    *('launch_ros', 'rclpy', 'robot_state_publisher', 'tf2_ros_py', 'tf_transformations'),
    *('urdfdom_py', 'xacro', 'action_msgs', 'builtin_interfaces', 'diagnostic_msgs'),
    *('geometry_msgs', 'rcl_interfaces', 'sensor_msgs', 'std_msgs', 'std_srvs'),
    *('trajectory_msgs', 'visualization_msgs'),
}
# Known to rosdep, but not for RHEL: builds and tests there need `--skip-keys`.
DEBIAN_AND_UBUNTU = {'python3-numba', 'python3-hypothesis'}


def test_every_rosdep_key_exists(manifest):
    """No run-time key is missing in any distribution of Linux that ROS 2 supports."""
    keys = {each.text for each in manifest if each.tag.endswith('depend')}
    at_run_time = {each.text for each in manifest.findall('exec_depend')}
    assert keys <= EVERYWHERE | DEBIAN_AND_UBUNTU
    assert at_run_time <= EVERYWHERE
