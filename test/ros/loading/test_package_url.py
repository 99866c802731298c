"""Paths written as package:// URLs."""

from ik_node.errors import OptionError
from ik_node.ros.loading.load_model import path_of_url
import pytest


@pytest.mark.parametrize('text', ['', '/a/b.yaml', 'closures: []'])
def test_text_without_package_scheme_is_unchanged(text):
    """Paths and YAML are returned unchanged."""
    assert path_of_url('closures', text) == text


def test_unknown_package_is_named():
    """The error names the package."""
    with pytest.raises(OptionError, match='no_such_package_here'):
        path_of_url('closures', 'package://no_such_package_here/a.yaml')


def test_known_package_gives_its_share_folder(tmp_path, monkeypatch):
    """The folder comes from the ament index."""
    pytest.importorskip('ament_index_python')
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'my_robot').touch()
    (tmp_path / 'share' / 'my_robot').mkdir()
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    expected = f'{tmp_path}/share/my_robot/a.yaml'
    assert path_of_url('closures', 'package://my_robot/a.yaml') == expected
