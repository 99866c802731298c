"""The launch files, as far as they can be checked without launch."""

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
