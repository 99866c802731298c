"""Slice and surface of a map as nodes of the page."""

from ik_node.analysis.reach.volume import ReachVolume
from ik_node.viewer.panels.reach_panel import Wanted
from ik_node.viewer.stage.reach_marks import colours_of, ReachMarks, slice_cells
import numpy as np
import pytest


@pytest.fixture
def ball():
    """Return the map of a ball of 0.5 m around (1, 0, 0), half of whose cells have two turns."""
    at = np.stack(np.meshgrid(*[np.arange(11)] * 3, indexing='ij'), axis=-1) - 5.0
    one = np.linalg.norm(at, axis=-1) <= 5.0
    reached = np.stack((one, one & (at[..., 0] < 0.0))).ravel()
    return ReachVolume(
        robot='r',
        link='hand',
        joint_names=['a'],
        cell=0.1,
        origin=np.array((0.5, -0.5, -0.5)),
        shape=(11, 11, 11),
        quats_xyzw=np.array(((0.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))),
        roll=True,
        reached=reached,
        q=np.zeros((np.count_nonzero(reached), 1)),
        complete=True,
    )


def test_surface_and_slice_are_drawn_and_removed(scene, ball):
    """Each is a node, which goes when it is not wanted."""
    marks = ReachMarks(scene)
    marks.draw(Wanted(ball, 0.3, '', 0.0))
    assert [*scene.nodes] == ['/reach/surface']
    radii = np.linalg.norm(scene.nodes['/reach/surface'].vertices - (1.0, 0.0, 0.0), axis=1)
    assert 0.4 < radii.min() < radii.max() < 0.6
    marks.draw(Wanted(ball, None, 'y', 0.0))
    assert [*scene.nodes] == ['/reach/slice']
    marks.draw(Wanted(ball, 0.3, 'y', 0.0))
    assert {*scene.nodes} == {'/reach/slice', '/reach/surface'}
    marks.clear()
    assert not scene.nodes


def test_nothing_is_sent_again_while_nothing_changes(scene, ball):
    """A slice that moves leaves the surface as it is."""
    marks = ReachMarks(scene)
    marks.draw(Wanted(ball, 0.3, 'y', 0.0))
    made, surface = scene.made, scene.nodes['/reach/surface']
    marks.draw(Wanted(ball, 0.3, 'y', 0.0))
    assert scene.made == made
    marks.draw(Wanted(ball, 0.3, 'y', 0.1))
    assert scene.made == made + 1
    assert scene.nodes['/reach/surface'] is surface


def test_higher_share_has_a_smaller_surface(scene, ball):
    """With both orientations only half of the ball is left."""
    marks = ReachMarks(scene)
    marks.draw(Wanted(ball, 0.8, '', 0.0))
    assert scene.nodes['/reach/surface'].vertices[:, 0].max() < 1.1


@pytest.mark.parametrize('axis', ['x', 'y', 'z'])
def test_slice_has_a_square_for_each_reached_cell(scene, ball, axis):
    """At its middle, perpendicular to the axis, with the colour of its share."""
    along, at = 'xyz'.index(axis), ball.origin['xyz'.index(axis)] + 0.3
    wanted = Wanted(ball, None, axis, float(at))
    ReachMarks(scene).draw(wanted)
    node = scene.nodes['/reach/slice']
    layer = np.take(ball.share, 3, axis=along)
    assert len(node.batched_positions) == np.count_nonzero(layer)
    np.testing.assert_allclose(node.batched_positions[:, along], at)
    assert ball.contains(node.batched_positions).all()
    assert (node.vertices[:, along] == 0.0).all()
    positions, shares = slice_cells(wanted)
    np.testing.assert_allclose(shares, ball.capability(positions))
    assert len(np.unique(node.batched_colors, axis=0)) == len(np.unique(shares))


def test_colours_go_from_dark_to_bright():
    """A larger share is brighter."""
    bright = colours_of(np.linspace(0.0, 1.0, 20)).sum(axis=1)
    assert (np.diff(bright) > 0.0).all()
