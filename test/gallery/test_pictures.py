"""The page about our robots: a card and a picture each, and the tool that draws them."""

import re

from ik_node.gallery import gallery_item, NAMES
import numpy as np
import pytest
from support.gallery_motion import loaded

pytest.importorskip('matplotlib')
from matplotlib.image import imread

from tools.pictures import __main__ as pictures


def test_every_robot_is_on_the_page(repository):
    """With its picture, what it shows, mobility and motors; and nothing else is."""
    text = (repository / 'docs' / 'gallery.md').read_text()
    image = r'<a href="(\S+)"><img src="(\S+)" width="280" alt="(\w+)"></a>'
    card = image + r'<br>\*\*`(\w+)`\*\*: ([^|]*?)<br>mobility (\d+), motors (\d+) \|'
    cards = re.findall(card, text)
    assert sorted(card[3] for card in cards) == sorted(NAMES)
    assert text.count('<img') == len(cards)
    for large, small, alt, name, about, mobility, motors in cards:
        robot = loaded(name)
        assert (large, small, alt) == (f'gallery/{name}.png', f'gallery/{name}.png', name)
        assert about == gallery_item(name).about
        assert (int(mobility), int(motors)) == (robot.mobility, len(robot.actuated))
        assert imread(repository / 'docs' / small).shape[:2] == pictures.SIZE[::-1]
    for command in ('demo', 'view --demo'):
        assert f'ik_node {command} scissor_lift' in text
    files = {path.stem for path in (repository / 'docs' / 'gallery').iterdir()}
    assert files == {*NAMES}
    assert 'needs a headset' in text


def share(image, rgb):
    return float((np.abs(image[..., :3] - np.array(rgb)).max(axis=2) < 0.12).mean())


def test_picture_shows_robot_goal_path_and_loops(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, 'SIZE', (450, 360))
    monkeypatch.setattr('sys.argv', ['pictures', 'gripper', '-o', str(tmp_path / 'new')])
    assert pictures.main() == 0
    image = imread(tmp_path / 'new' / 'gripper.png')
    assert image.shape[:2] == (360, 450)
    assert share(image, pictures.RED) > 0.0003
    assert share(image, pictures.GREEN) > 0.0002
    assert share(image, (0.9, 0.48, 0.13)) > 0.01
    assert share(image, (0.18, 0.20, 0.24)) > 0.01
