# flake8: noqa: E402, I100
"""The page about our robots: a row and a picture each, and the tool that draws them."""

import re

from gallery_motion import loaded
from ik_node.gallery import gallery_item, NAMES
import numpy as np
import pytest

pytest.importorskip('matplotlib')
from matplotlib.image import imread

from tools.pictures import __main__ as pictures
from tools.pictures.raster import rastered
from tools.pictures.solids import ball, box, cylinder, solids_of, tube
from tools.pictures.stage import Stage

UNIT = np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])


def test_every_robot_is_on_the_page(repository):
    """With its picture, what it shows, mobility, motors and command; and nothing else is."""
    text = (repository / 'docs' / 'gallery.md').read_text()
    words = (r'`(\w+)`', '(.*)', r'(\d+)', r'(\d+)', '`(.*)`')
    row = r' \| '.join((r'<img src="(\S+)" width="240" alt="(\w+)">', *words))
    rows = re.findall(rf'^\| {row} \|$', text, flags=re.MULTILINE)
    assert sorted(row[1] for row in rows) == sorted(NAMES)
    for image, alt, name, about, mobility, motors, command in rows:
        robot = loaded(name)
        assert (image, alt) == (f'gallery/{name}.png', name)
        assert about == gallery_item(name).about
        assert (int(mobility), int(motors)) == (robot.mobility, len(robot.actuated))
        assert command == f'python -m ik_node demo {name}'
        assert imread(repository / 'docs' / image).shape[:2] == pictures.SIZE[::-1]
    files = {path.stem for path in (repository / 'docs' / 'gallery').iterdir()}
    assert files == {*NAMES}
    assert 'needs a headset' in text


def share(image, rgb):
    """Return the share of pixels whose colour is nearly that one."""
    return float((np.abs(image[..., :3] - np.array(rgb)).max(axis=2) < 0.12).mean())


def test_a_picture_is_drawn(tmp_path, monkeypatch):
    """It shows the robot, the way of its goal, and where the loops close."""
    monkeypatch.setattr(pictures, 'SIZE', (300, 240))
    monkeypatch.setattr('sys.argv', ['pictures', 'gripper', '-o', str(tmp_path / 'new')])
    assert pictures.main() == 0
    image = imread(tmp_path / 'new' / 'gripper.png')
    assert image.shape[:2] == (240, 300)
    assert share(image, pictures.RED) > 0.0003
    assert share(image, pictures.GREEN) > 0.001
    assert share(image, (0.9, 0.48, 0.13)) > 0.01
    assert share(image, (0.18, 0.20, 0.24)) > 0.01


def test_the_nearest_is_in_front():
    """Whatever the order of two triangles, and only inside of them."""
    flat = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])
    near, far = (np.column_stack((flat, [depth] * 3)) for depth in (2.0, 1.0))
    up = np.tile((0.0, 0.0, 1.0), (2, 3, 1))
    for places, front in (((near, far), 0), ((far, near), 1)):
        layers = rastered(np.array(places), up, np.array([0, 1]), (24, 24))
        assert layers.index[3, 3] == front
        assert layers.nearness[3, 3] == pytest.approx(2.0)
        assert layers.index[20, 20] == -1
        np.testing.assert_allclose(layers.normal[3, 3], (0.0, 0.0, 1.0))


@pytest.mark.parametrize(
    ('solid', 'area'),
    [
        (box((1.0, 2.0, 3.0), (1, 0, 0)), 22.0),
        (cylinder(0.5, 2.0, (1, 0, 0)), 2.5 * np.pi),
        (ball(0.5, (1, 0, 0)), np.pi),
        (tube(np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 1]]), 0.1, (1, 0, 0)), 0.4 * np.pi),
    ],
)
def test_solids_are_closed_and_look_outwards(solid, area):
    """Their surface is as large as it should be, and normals point away from the inside."""
    a, b, c = (solid.corners[:, k] for k in range(3))
    assert 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() == pytest.approx(
        area, rel=0.05
    )
    np.testing.assert_allclose(np.linalg.norm(solid.normals, axis=2), 1.0, atol=1e-9)
    if len(solid.corners) != 32:
        assert (np.einsum('nij,nij->ni', solid.corners, solid.normals) > -1e-9).all()


def test_solids_of_a_description(repository):
    """All visuals are there, in the colours of their materials."""
    path = repository / 'urdf' / 'gripper.urdf'
    solids = solids_of(path)
    assert len(solids) == path.read_text().count('<visual>')
    assert {solid.link for solid in solids} <= {*loaded('gripper').links}
    assert (0.93, 0.49, 0.13) in {solid.rgb for solid in solids}


def test_the_camera_shows_all():
    """What must be seen is inside, upright, and what is nearer has the larger third number."""
    stage = Stage(UNIT, -1.0, 0.0, 20.0, (300, 200))
    flat = stage.project(UNIT)
    assert (flat[:, :2] > 0.0).all()
    assert (flat[:, :2] < (stage.columns, stage.rows)).all()
    top, bottom = stage.project(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]))
    assert top[1] < bottom[1]
    near, far = stage.project(np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]))
    assert near[2] > far[2]
