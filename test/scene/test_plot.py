"""Pictures of scenes: they are drawn, to scale, and show what they are to show."""

import sys

from ik_node import load_robot
from ik_node.description.files import description_path
from ik_node.errors import OptionError
from ik_node.scene import IKRootsHelper, plot_shapes
from ik_node.scene.look import COLOURS, OPEN
import numpy as np
import pytest
from support.mechanisms import MECHANISMS

pytest.importorskip('matplotlib')
from ik_node.scene.plot import picture_maker
from matplotlib.image import imread


@pytest.fixture
def picture(tmp_path):
    """Return a function that draws shapes and returns the picture, (height, width, 3)."""

    def draw(shapes, **options):
        path = tmp_path / 'picture.png'
        plot_shapes(shapes, path, **options)
        return imread(path)[..., :3]

    return draw


def share_of(image, rgba):
    """Return the share of a picture whose hue is that of a colour, bright or in the shade."""
    wanted = np.array(rgba[:3]) / np.linalg.norm(rgba[:3])
    length = np.linalg.norm(image, axis=2)
    along = image @ wanted
    return float(((along > 0.998 * length) & (length > 0.3)).mean())


def test_open_loop_is_drawn_red(picture):
    """A closed hexapod has green and no red; with one leg pulled in there is red."""
    robot = load_robot(description_path('hexapod.urdf'))
    helper = IKRootsHelper(robot, resolution=10, layers='links closures')
    closed = picture(helper.shapes())
    assert share_of(closed, COLOURS['closures']) > 1e-4
    assert share_of(closed, OPEN) == 0.0
    robot.joints['leg0'].set_dof_values(-0.015)
    opened = picture(helper.shapes())
    assert share_of(opened, OPEN) > 2e-4
    assert share_of(opened, COLOURS['closures']) > 1e-4


def test_draw_through_shows_hidden_shapes(picture):
    m = MECHANISMS['ball']()
    helper = IKRootsHelper(m.roots, layers='links limits', color='#808080', resolution=10)
    helper.set_color('#00ffff', 'limits')
    m.joints['elbow'].set_limits('EY', 0.0, 2.5)
    helper.set_color('#808080', 'links')
    plain = picture(helper.shapes(), size=(4, 4))
    helper.set_draw_through(0.9)
    through = picture(helper.shapes(), size=(4, 4))
    assert np.abs(plain - through).max() > 0.1


def test_size_and_title_are_used(picture):
    shapes = IKRootsHelper(MECHANISMS['arm6']().roots, layers='axes labels').shapes()
    plain = picture(shapes, size=(5, 4))
    assert plain.shape == (400, 500, 3)
    assert np.abs(picture(shapes, size=(5, 4), title='an arm') - plain).max() > 0.5
    assert np.abs(picture(shapes, size=(5, 4), azimuth=30.0) - plain).max() > 0.5
    assert np.abs(picture(shapes, size=(5, 4), elevation=80.0) - plain).max() > 0.5


def test_missing_matplotlib_is_reported(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, 'matplotlib.figure', None)
    with pytest.raises(OptionError, match=r'plot: .*only with matplotlib: `pip install'):
        plot_shapes([], tmp_path / 'picture.png')


def test_unusable_picture_paths_are_refused(tmp_path):
    """An ending that says nothing, a folder that is not there; known endings are listed."""
    for name, reason in [
        ('scene.xyz', r"plot: '.*scene\.xyz'.*\.png"),
        ('scene', 'a file that ends in'),
        ('no_such_folder/scene.png', 'a file that can be written'),
    ]:
        with pytest.raises(OptionError, match=reason):
            plot_shapes([], tmp_path / name)
    for name in ('a.guess', 'png'):
        with pytest.raises(
            OptionError, match=r'^--plot: .*a file that ends in \..*\.png'
        ) as error:
            picture_maker('--plot', name)
        assert error.value.name == '--plot'
