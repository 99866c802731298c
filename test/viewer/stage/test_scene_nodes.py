"""Shapes as nodes: alike ones together, moved in place, hidden when they are gone."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

from ik_node.gallery import NAMES
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.scene import IKRootsHelper, LAYERS, mesh_of
from ik_node.scene.shapes import Sector, Segment, Sphere, Text
from ik_node.viewer.sessions.library_session import gallery_session
from ik_node.viewer.stage.scene_nodes import SceneNodes
from ik_node.viewer.stage.shape_meshes import form_of, meshes_of, SEAM, settled
import numpy as np
import pytest

PLACE = ((1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0))
RED = (1.0, 0.0, 0.0, 1.0)
SECTOR = Sector('limits/hip', 'limits', 'hip', *PLACE, RED, 0.0, 0.5, 0.0, -1.0, 1.0, 0.3, 24)
LINE = Segment('goals/way', 'goals', 'hand', *PLACE, RED, 0.0, 2.0, 0.1)
BALL = Sphere('links/a/b', 'links', 'arm', *PLACE, RED, 0.0, 0.1, 12)
TEXT = Text('closures/gap', 'closures', 'loop', *PLACE, RED, 0.0, '3 mm', 0.1)


def revolute(lower, upper):
    """Return a hinge with limits that carries a link."""
    joint = Joint('hinge')
    joint.set_dof('EZ')
    joint.min_dof_limit[DOF.EZ], joint.max_dof_limit[DOF.EZ] = lower, upper
    joint.add_child(Link('arm'))
    return joint


def corners(node):
    """Return the corners of every triangle of a batch in the root frame, (k, 3)."""
    found = []
    scales = node.batched_scales
    scales = np.ones((len(node.batched_positions), 3)) if scales is None else scales
    for (w, x, y, z), place, scale in zip(
        node.batched_wxyzs, node.batched_positions, scales, strict=True
    ):
        turn = np.array(
            (
                (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
                (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
                (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
            )
        )
        found.append((node.vertices[node.faces.ravel()] * scale) @ turn.T + place)
    return np.concatenate(found)


def all_corners(scene):
    """Return the corners of all that is visible but lines, in an order made the same for all."""
    shown = [
        node
        for node in scene.nodes.values()
        if node.kind == 'batch' and node.visible and node.batched_scales is None
    ]
    return in_order(np.concatenate([np.zeros((0, 3)), *map(corners, shown)]))


def in_order(points):
    """Return points sorted by where they are, as coarse as single precision."""
    rounded = np.round(points, 5) + 0.0
    return rounded[np.lexsort(rounded.T)]


@pytest.mark.parametrize('name', NAMES)
def test_page_shows_all_triangles_of_the_scene(scene, name):
    """All triangles are those of `mesh_of`, wherever the robot goes, and no node is made anew."""
    session = gallery_session(name)
    session.update(0.0)
    helper = IKRootsHelper(session.source, layers=LAYERS)
    nodes = SceneNodes(scene, lambda link, ray: None)
    session.play(True)
    moments = []
    for step in range(4):
        session.update(0.4 * step)
        moments.append(helper.shapes(session.q))
        nodes.draw(moments[-1])
    drawn = [settled(shape) for shape in moments[-1]]
    # Lines are stretched, see below: `mesh_of` divides them by their length.
    wanted = [mesh_of(shape)[0] for shape in drawn if not isinstance(shape, Segment)]
    wanted = in_order(np.concatenate(wanted).reshape(-1, 3))
    found = all_corners(scene)
    assert found.shape == wanted.shape
    # Rounding may swap neighbours: sums over the whole do not mind.
    np.testing.assert_allclose(found.sum(axis=0), wanted.sum(axis=0), atol=1e-5 * len(found))
    np.testing.assert_allclose(np.sort(found, axis=0), np.sort(wanted, axis=0), atol=3e-5)
    labels = [node for node in scene.nodes.values() if node.kind == 'label']
    assert len(labels) == sum(isinstance(shape, Text) for shape in drawn)
    assert len(scene.nodes) - len(labels) < 0.6 * len(drawn)
    batches = [node for node in scene.nodes.values() if node.kind == 'batch']
    for shapes in moments:
        nodes.draw(shapes)
    assert [node for node in scene.nodes.values() if node.kind == 'batch'] == batches


@pytest.mark.parametrize('limits', [(-2 * np.pi, 2 * np.pi), (-3.1416, 3.1416), (-9.0, np.inf)])
def test_limits_beyond_a_turn_need_few_meshes(scene, limits):
    """What follows the hand goes in steps; a limit stays where it is, to the last bit."""
    joint = revolute(*limits)
    helper = IKRootsHelper([joint], layers=['limits'])
    nodes = SceneNodes(scene, lambda link, ray: None)
    for value in np.linspace(-6.2, 6.2, 997).clip(*limits):
        joint.set_dof_values(float(value))
        (shape,) = helper.shapes()
        drawn = settled(shape)
        for now, then, limit in zip(
            (drawn.lower, drawn.upper), (shape.lower, shape.upper), limits, strict=True
        ):
            if then == limit:
                assert now == limit or drawn.upper - drawn.lower == pytest.approx(2 * np.pi)
        assert drawn.upper - drawn.lower <= 2 * np.pi + SEAM
        nodes.draw([shape])
    assert scene.made < 40


def test_hand_of_a_limit_turns(scene):
    """A joint that moves turns its hand; neither face nor hand is made anew."""
    nodes = SceneNodes(scene, lambda link, ray: None)
    for value in (0.3, -0.8):
        nodes.draw([replace(SECTOR, value=value)])
        face, hand = (corners(node) for node in scene.nodes.values())
        tip = hand.mean(axis=0) - PLACE[0]
        assert np.arctan2(tip[1], tip[0]) == pytest.approx(value)
        assert np.abs(face - PLACE[0]).max() == pytest.approx(0.5)
    assert scene.made == 2


def test_line_that_grows_is_stretched(scene):
    """The way to a goal changes with every move; it is one node all the time."""
    nodes = SceneNodes(scene, lambda link, ray: None)
    nodes.draw([LINE])
    nodes.draw([replace(LINE, length=0.5), replace(LINE, length=3.0)])
    (node,) = scene.nodes.values()
    assert scene.made == 1
    assert np.ptp(corners(node)[:, 2]) == pytest.approx(3.0)
    assert len(node.batched_positions) == 2


def test_balls_of_one_size_share_a_node_unless_transparent(scene):
    """Balls of one size share a node whatever their colour, but not with those seen through."""
    nodes = SceneNodes(scene, lambda link, ray: None)
    # Half of full green is 0.214 of its light.
    blue, green = (0.0, 0.5, 1.0, 1.0), (0.0, 1.0, 0.0, 0.5)
    nodes.draw([BALL, replace(BALL, rgba=blue), replace(BALL, rgba=green)])
    opaque, clear = scene.nodes.values()
    assert opaque.batched_colors.tolist() == [[255, 0, 0], [0, 55, 255]]
    assert (opaque.opacity, clear.opacity) == (None, 0.5)


def test_removed_shapes_are_hidden_and_shown_again(scene):
    """Nothing is drawn twice or left behind; `clear` takes all of it away."""
    nodes = SceneNodes(scene, lambda link, ray: None)
    nodes.draw([BALL, SECTOR, TEXT])
    nodes.draw([TEXT])
    assert len(all_corners(scene)) == 0
    nodes.draw([BALL, replace(TEXT, text='4 mm')])
    assert len(all_corners(scene)) == 3 * len(mesh_of(BALL)[0])
    assert scene.made == 4
    (label,) = (node for node in scene.nodes.values() if node.kind == 'label')
    assert label.text == '4 mm'
    nodes.draw([BALL])
    assert 'label' not in {node.kind for node in scene.nodes.values()}
    nodes.clear()
    assert scene.nodes == {}


def test_click_returns_the_link_that_was_hit(scene):
    """Of all links in one node, the one that was hit; marks are not clicked."""
    clicked = []
    nodes = SceneNodes(scene, lambda link, ray: clicked.append((link, ray.eye[2])))
    nodes.draw([BALL, replace(BALL, of='hand'), SECTOR])
    for node in scene.nodes.values():
        for work in node.clicks:
            for hit in (1, 0, 7, None):
                ray = {'ray_origin': (0.0, 0.0, 9.0), 'ray_direction': (0.0, 0.0, -1.0)}
                asyncio.run(work(SimpleNamespace(instance_index=hit, **ray)))
    assert clicked == [('hand', 9.0), ('arm', 9.0)]


def test_only_size_and_colour_need_another_mesh():
    """Place, name, text, hand and a line's length need no other mesh; size and colour do."""
    assert form_of(SECTOR) == form_of(replace(SECTOR, value=0.0, position=(0, 0, 0), name='x'))
    assert form_of(SECTOR) != form_of(replace(SECTOR, upper=2.0))
    assert form_of(LINE) == form_of(replace(LINE, length=9.0))
    assert form_of(TEXT) == form_of(replace(TEXT, text='x'))
    assert form_of(BALL) != form_of(replace(BALL, rgba=(0, 0, 0, 1)))
    assert form_of(BALL) != form_of(LINE)
    assert meshes_of(TEXT) == []
