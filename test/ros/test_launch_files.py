"""The launch files, as far as they can be checked without launch."""

import ast
from pathlib import Path
import re
import runpy
import tempfile

from ik_node.gallery import gallery_item, NAMES
from ik_node.gallery.launch_item import parameter_file
import pytest
import setuptools
from support.gallery_motion import flat, WITH_FILES
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
FILES = sorted(path.name for path in (REPOSITORY / 'launch').iterdir() if path.is_file())
LOOKING = {
    'namespace',
    'use_sim_time',
    'rviz',
    'rviz_config',
    'fixed_frame',
    'goal',
    'viewer',
    'log_level',
    'respawn',
}
GENERAL = {
    'ik_node.launch.py': {'description', 'closures', 'xacro_seconds', 'params_file', *LOOKING},
    'view.launch.py': LOOKING,
    'gallery.launch.py': {'name'},
}


def syntax(name):
    return ast.parse((REPOSITORY / 'launch' / name).read_text())


def test_launch_folder_has_the_expected_files():
    """They start any robot, the view, any gallery robot, and some single ones."""
    assert {*FILES} == {*GENERAL, *(f'{name}.launch.py' for name in WITH_FILES)}
    assert {*WITH_FILES} < {*NAMES}


@pytest.mark.parametrize('name', WITH_FILES)
def test_file_of_a_robot_launches_that_robot(name):
    tree = syntax(f'{name}.launch.py')
    (call,) = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert (call.func.id, [word.value for word in call.args]) == ('launch_item', [name])
    for goal in gallery_item(name).goals:
        assert f'ik_node/goals/{goal}' in ast.get_docstring(tree)


@pytest.mark.parametrize('name', GENERAL)
def test_arguments_have_name_default_and_description(name):
    (found,) = (
        node.value.elts
        for node in syntax(name).body
        if isinstance(node, ast.Assign) and node.targets[0].id == 'ARGUMENTS'
    )
    assert {argument.elts[0].value for argument in found} == GENERAL[name]
    for argument in found:
        assert len(argument.elts) == 3
        about = ast.unparse(argument.elts[2]).removeprefix('f')[1:-1]
        assert about[0].isupper()
        assert about.endswith('.')


def test_files_named_by_launch_files_exist(repository):
    texts = [(repository / 'launch' / name).read_text() for name in FILES]
    texts.append((repository / 'ik_node/gallery/launch_item.py').read_text())
    ends = r"'(\w+\.(?:yaml|rviz|urdf|launch\.py))'"
    named = {name for text in texts for name in re.findall(ends, text)}
    assert named == {'ik_node.yaml', 'ik_node.rviz', 'ik_node.launch.py', 'view.launch.py'}
    assert not [name for name in named if not list(repository.glob(f'*/{name}'))]
    for name in WITH_FILES:
        assert (repository / 'config' / f'{name}.yaml').is_file()


def test_all_launch_files_are_installed(repository, monkeypatch):
    captured = {}
    monkeypatch.chdir(repository)
    monkeypatch.setattr(setuptools, 'setup', lambda **arguments: captured.update(arguments))
    runpy.run_path('setup.py')
    installed = dict(captured['data_files'])
    for folder in ('launch', 'config', 'urdf'):
        files = {str(path) for path in Path(folder).iterdir() if path.is_file()}
        assert {*installed[f'share/ik_node/{folder}']} == files


@pytest.mark.parametrize('name', NAMES)
def test_launch_files_set_existing_parameters(repository, name, tmp_path, monkeypatch):
    from ik_node.ros.parameters.settings import Settings

    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    values = yaml.safe_load(parameter_file(gallery_item(name)).read_text())
    settings = Settings.from_values(flat(values['/**']['ros__parameters']))
    assert settings.rate == 250.0
    text = (repository / 'urdf' / gallery_item(name).description).read_text()
    assert settings.active_goals
    for goal in settings.active_goals:
        assert f'<link name="{goal.link}"' in text


def test_rviz_shows_robot_markers_and_goals(repository):
    config = yaml.safe_load((repository / 'config' / 'ik_node.rviz').read_text())
    displays = config['Visualization Manager']['Displays']
    topics = {}
    for display in displays:
        topic = display.get('Topic') or display.get('Description Topic')
        if topic:
            topics[display['Name']] = (display['Class'].split('/')[1], topic['Value'])
            latched = topic['Durability Policy'] == 'Transient Local'
            assert latched == (topic['Value'] == 'robot_description')
    assert topics == {
        'Robot': ('RobotModel', 'robot_description'),
        'Markers': ('MarkerArray', 'ik_node/markers'),
        'Goal': ('Pose', 'goal'),
        'Reached': ('Pose', 'reached'),
    }
    (dragged,) = (each for each in displays if 'Interactive' in each['Class'])
    assert dragged['Class'] == 'rviz_default_plugins/InteractiveMarkers'
    assert dragged['Interactive Markers Namespace'] == 'ik_node/goal_markers'
    assert 'rviz_default_plugins/TF' in [display['Class'] for display in displays]
