"""The page about our robots: a card and a picture each, and the tool that draws them."""

import re

from ik_node.gallery import gallery_item, NAMES
import numpy as np
import pytest
from support.gallery_motion import loaded

pytest.importorskip('matplotlib')
from matplotlib.image import imread

from tools.pictures import __main__ as pictures
from tools.pictures.light import openness, shaded, TO_SUN
from tools.pictures.raster import rastered
from tools.pictures.solids import ball, box, cylinder, solids_of, tube
from tools.pictures.stage import FLOOR, Stage

UNIT = np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])


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
    """Return the share of pixels whose colour is nearly that one."""
    return float((np.abs(image[..., :3] - np.array(rgb)).max(axis=2) < 0.12).mean())


def test_picture_shows_robot_goal_path_and_loops(tmp_path, monkeypatch):
    """It shows the robot, the way of its goal, and where the loops close."""
    monkeypatch.setattr(pictures, 'SIZE', (450, 360))
    monkeypatch.setattr('sys.argv', ['pictures', 'gripper', '-o', str(tmp_path / 'new')])
    assert pictures.main() == 0
    image = imread(tmp_path / 'new' / 'gripper.png')
    assert image.shape[:2] == (360, 450)
    assert share(image, pictures.RED) > 0.0003
    assert share(image, pictures.GREEN) > 0.0002
    assert share(image, (0.9, 0.48, 0.13)) > 0.01
    assert share(image, (0.18, 0.20, 0.24)) > 0.01


def test_moving_picture_shows_one_cycle_within_its_size(tmp_path, monkeypatch):
    """Its frames differ, the last leads back to the first, and the file is as small as asked."""
    image = pytest.importorskip('PIL.Image')
    monkeypatch.setattr(pictures, 'MOVING_SIZE', (150, 120))
    monkeypatch.setattr(pictures, 'FRAMES', 6)
    sizes = []
    for most in (10**6, 1):
        monkeypatch.setattr(pictures, 'BYTES', most)
        monkeypatch.setattr('sys.argv', ['pictures', '--moving', 'delta', '-o', str(tmp_path)])
        assert pictures.main() == 0
        sizes.append((tmp_path / 'delta.webp').stat().st_size)
        with image.open(tmp_path / 'delta.webp') as moving:
            frames = []
            for number in range(moving.n_frames):
                moving.seek(number)
                frames.append(np.asarray(moving.convert('RGB'), dtype=float))
        assert len(frames) == 6
        after = frames[1:] + frames[:1]
        steps = [np.abs(b - a).mean() for a, b in zip(frames, after, strict=True)]
        assert min(steps) > 0.3
        assert steps[-1] < 2.0 * max(steps[:-1])
    assert sizes[1] < 0.8 * sizes[0]


def test_nearest_triangle_is_drawn_in_front():
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


def test_all_visuals_have_colours_of_their_materials(repository):
    """All visuals are there, in the colours of their materials."""
    path = repository / 'urdf' / 'gripper.urdf'
    solids = solids_of(path)
    assert len(solids) == path.read_text().count('<visual>')
    assert {solid.link for solid in solids} <= {*loaded('gripper').links}
    assert (0.93, 0.49, 0.13) in {solid.rgb for solid in solids}


def test_camera_shows_all_points_upright():
    """What must be seen is inside, upright, and what is nearer has the larger third number."""
    stage = Stage(UNIT, -1.0, 0.0, 20.0, (300, 200))
    flat = stage.project(UNIT)
    assert (flat[:, :2] > 0.0).all()
    assert (flat[:, :2] < (stage.columns, stage.rows)).all()
    top, bottom = stage.project(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]))
    assert top[1] < bottom[1]
    near, far = stage.project(np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]))
    assert near[2] > far[2]


def test_background_has_one_colour():
    """Where there is no line, no thing and no shadow, the ground has its one colour."""
    stage = Stage(UNIT, -1.0, -58.0, 35.0, (240, 180))
    image = stage.picture([box((1.0, 1.0, 2.0), (0.9, 0.5, 0.1))], [])
    # But for the lines of its grid, which fade.
    same = np.abs(image - FLOOR).max(axis=2) < 1e-9
    assert same.mean() > 0.2
    grey = np.ptp(image, axis=2) < 0.03
    assert (grey & (image.mean(axis=2) < 0.8)).mean() > 0.001


def test_ground_near_wall_is_dimmer():
    """Ground before a wall sees less of the sky than ground far away, which sees all of it."""
    places, normals = np.zeros((60, 80, 3)), np.zeros((60, 80, 3))
    columns, rows = np.meshgrid(np.arange(80.0), np.arange(60.0))
    places[..., 0], places[..., 1] = columns, rows
    normals[..., 2] = 1.0
    # From column 60 on a wall stands upright.
    places[:, 60:, 0], places[:, 60:, 2] = 60.0, columns[:, 60:] - 60.0
    normals[:, 60:] = (-1.0, 0.0, 0.0)
    seen = openness(places, normals, 20.0, 20.0)[30]
    assert seen[20] == pytest.approx(1.0, abs=1e-6)
    assert seen[58] < seen[50] < seen[45] < 1.0
    assert seen[58] < 0.9


def test_lit_faces_are_brighter_than_shaded_ones():
    """What faces the sun is brighter than what is in the shade, and that than a dark corner."""
    colour, eye = np.array([[0.5, 0.5, 0.5]]), np.array([0.0, 0.0, 1.0])
    one, none = np.ones(1), np.zeros(1)
    sunny = shaded(colour, TO_SUN[None], eye, one, one)
    away = shaded(colour, -TO_SUN[None], eye, one, one)
    shade = shaded(colour, TO_SUN[None], eye, none, one)
    corner = shaded(colour, TO_SUN[None], eye, none, 0.3 * one)
    assert (sunny > 1.2 * shade).all()
    assert (shade > away).all()
    assert (shade > 1.2 * corner).all()
    assert (corner > 0.0).all()
