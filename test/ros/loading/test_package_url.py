"""Paths written as package:// URLs."""

from ik_node.errors import OptionError
from ik_node.ros.loading.load_model import resolve_package_url
import pytest


@pytest.mark.parametrize('text', ['', '/a/b.yaml', 'closures: []'])
def test_other_text_is_left_alone(text):
    """Paths and YAML are what they are."""
    assert resolve_package_url(text) == text


def test_unknown_package():
    """A package that is not installed is named."""
    with pytest.raises(OptionError, match='no_such_package_here'):
        resolve_package_url('package://no_such_package_here/a.yaml')


def test_known_package(tmp_path, monkeypatch):
    """The share folder of a package comes from the ament index."""
    pytest.importorskip('ament_index_python')
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'my_robot').touch()
    (tmp_path / 'share' / 'my_robot').mkdir()
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    expected = f'{tmp_path}/share/my_robot/a.yaml'
    assert resolve_package_url('package://my_robot/a.yaml') == expected
