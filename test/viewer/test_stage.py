"""The 3D view: link bodies, shapes as nodes, and the map of a reach."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

from ik_node.analysis.reach.volume import ReachVolume
from ik_node.description.files import description_path
from ik_node.robot import load_robot
from ik_node.scene import IKRootsHelper, LAYERS, mesh_of
from ik_node.scene.shapes import Sector, Segment, Sphere, Text
from ik_node.viewer.panels.view_panel import ReachView
from ik_node.viewer.sessions.library_session import gallery_session
from ik_node.viewer.stage import link_bodies
from ik_node.viewer.stage.link_bodies import LinkBodies
from ik_node.viewer.stage.reach_marks import ReachMarks, slice_cells
from ik_node.viewer.stage.scene_nodes import SceneNodes, settled
from ik_node.viewer.stage.view_ray import ViewRay
import numpy as np
import pytest

CUBE = """solid c
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid c
"""
ROBOT = """
<robot name="r">
  <link name="base"><visual><geometry><box size="0.1 0.2 0.3"/></geometry></visual></link>
  <link name="arm">
    <visual><geometry><mesh filename="{mesh}" scale="2 2 2"/></geometry></visual>
  </link>
  <joint name="hip" type="continuous"><parent link="base"/><child link="arm"/>
    <origin xyz="0 0 1"/><axis xyz="0 0 1"/></joint>
</robot>
"""


def bodies_of(scene, source, told=None):
    robot = load_robot(source)
    heard = [] if told is None else told

    def tell(*what):
        heard.append(what)

    return robot, LinkBodies(scene, robot, tell, tell)


def test_bodies_follow_their_links(scene):
    robot, bodies = bodies_of(scene, description_path('hexapod.urdf'))
    q = robot.q + 0.003
    bodies.draw(q, visible=True)
    assert len(bodies.drawn) > 10
    for link in bodies.drawn:
        node = scene.nodes[f'/bodies/{link}']
        np.testing.assert_allclose(node.position, robot.forward(q, link)[:3, 3], atol=1e-12)
    bodies.remove()
    assert scene.nodes == {}


def test_mesh_is_read_and_scaled(scene, tmp_path):
    (tmp_path / 'c.stl').write_text(CUBE)
    _, bodies = bodies_of(scene, ROBOT.format(mesh=tmp_path / 'c.stl'))
    (mesh,) = (node for node in scene.nodes.values() if node.kind == 'trimesh')
    assert np.ptp(mesh.mesh.vertices, axis=0) == pytest.approx((2.0, 2.0, 0.0))
    assert bodies.drawn == {'base', 'arm'}
    assert bodies.missing == []


@pytest.mark.parametrize('content', [None, 'no mesh', ''])
def test_unreadable_mesh_is_named_and_link_drawn_as_rod(scene, tmp_path, content):
    if content is not None:
        (tmp_path / 'c.stl').write_text(content)
    _, bodies = bodies_of(scene, ROBOT.format(mesh=tmp_path / 'c.stl'))
    assert bodies.missing == [str(tmp_path / 'c.stl')]
    assert bodies.bare == {'arm'}
    assert bodies.drawn == {'base'}


def test_bodies_are_hidden_and_clicked(scene, tmp_path):
    clicked = []
    robot, bodies = bodies_of(scene, ROBOT.format(mesh='none.stl'), clicked)
    bodies.draw(robot.q, visible=False)
    assert not scene.nodes['/bodies/base'].visible
    bodies.draw(robot.q, visible=True)
    assert scene.nodes['/bodies/base'].visible
    event = SimpleNamespace(ray_origin=(0.01, 0.02, 5.0), ray_direction=(0.0, 0.0, -1.0))
    asyncio.run(scene.nodes['/bodies/base/0'].clicks[0](event))
    ((link, ray),) = clicked
    assert link == 'base'
    assert bodies.hit(robot.q, link, ray) == pytest.approx((0.01, 0.02, 0.15))
    assert bodies.hit(robot.q, 'arm', ray) is None


SDF = """
<sdf version="1.9"><model name="m">
  <link name="a">
    <visual name="c">
      <geometry><capsule><radius>0.1</radius><length>0.4</length></capsule></geometry>
      <material><diffuse>1 0 0 0.5</diffuse></material></visual>
    <visual name="e">
      <geometry><ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid></geometry></visual>
    <visual name="p"><geometry><plane><size>2 1</size></plane></geometry></visual>
  </link>
  <link name="b"><pose>0 0 1 0 0 0</pose>
    <visual name="h"><geometry><heightmap/></geometry></visual></link>
  <link name="c"><pose>0 0 2 0 0 0</pose></link>
  <link name="d"><pose>0 0 3 0 0 0</pose></link>
  <joint name="j" type="revolute"><parent>a</parent><child>b</child>
    <axis><xyz>0 1 0</xyz></axis></joint>
  <joint name="k" type="revolute"><parent>b</parent><child>c</child>
    <axis><xyz>0 1 0</xyz></axis></joint>
  <joint name="f" type="fixed"><parent>a</parent><child>d</child></joint>
</model></sdf>
"""


def test_shapes_of_other_description_formats_are_drawn(scene):
    """Round ones are triangles of their size; what is bare, but for what a body carries, a rod."""
    robot, bodies = bodies_of(scene, SDF)
    capsule, ellipsoid, plane = (scene.nodes[f'/bodies/a/{at}'] for at in range(3))
    for node, size in ((capsule, (0.2, 0.2, 0.6)), (ellipsoid, (0.2, 0.4, 0.6))):
        assert np.ptp(node.vertices, axis=0) == pytest.approx(size, rel=0.03)
    assert np.ptp(plane.vertices, axis=0) == pytest.approx((2.0, 1.0, 0.0))
    assert capsule.opacity == 0.5
    assert (bodies.drawn, bodies.bare) == ({'a'}, {'b', 'c'})
    assert bodies.missing == ['<heightmap> of b']
    ray = ViewRay(np.array((0.05, 0.0, 9.0)), np.array((0.0, 0.0, -1.0)))
    assert bodies.hit(robot.q, 'a', ray)[2] == pytest.approx(0.3, abs=0.05)


def test_only_draggable_links_accept_drags(scene):
    told = []
    _, bodies = bodies_of(scene, ROBOT.format(mesh='none.stl'), told)
    node = scene.nodes['/bodies/base/0']
    assert node.drags == []
    for _ in range(2):
        bodies.let_pull({'base', 'arm', 'nobody'})
        (drag,) = node.drags
        asyncio.run(drag('event'))
    assert told == [('base', 'event')] * 2
    bodies.let_pull(set())
    assert node.drags == []


def test_large_mesh_files_are_not_read(scene, tmp_path, monkeypatch):
    path = tmp_path / 'c.stl'
    path.write_text(CUBE)
    for limit in ('MAX_BYTES', 'MAX_ROBOT_BYTES'):
        with monkeypatch.context() as patch:
            patch.setattr(link_bodies, limit, len(CUBE) - 1)
            _, bodies = bodies_of(scene, ROBOT.format(mesh=path))
        assert bodies.missing == [str(path)]
        bodies.remove()


PLACE = ((1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0))
RED = (1.0, 0.0, 0.0, 1.0)
SECTOR = Sector('limits/hip', 'limits', 'hip', *PLACE, RED, 0.0, 0.5, 0.0, -1.0, 1.0, 0.3, 24)
BALL = Sphere('links/a/b', 'links', 'arm', *PLACE, RED, 0.0, 0.1, 12)
TEXT = Text('closures/gap', 'closures', 'loop', *PLACE, RED, 0.0, '3 mm', 0.1)


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
    rounded = np.round(points, 5) + 0.0
    return rounded[np.lexsort(rounded.T)]


@pytest.mark.parametrize('name', ['gripper', 'rocker_bogie', 'two_arms_one_box', 'arm_at_shelf'])
def test_page_shows_all_triangles_of_the_scene(scene, name):
    """All triangles are those of `mesh_of`, wherever the robot goes, and no node is made anew."""
    session = gallery_session(name)
    session.update(0.0)
    helper = IKRootsHelper(session.source, layers=LAYERS)
    nodes = SceneNodes(scene, lambda link, ray: None)
    session.playing = True
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


def test_removed_shapes_are_hidden_and_shown_again(scene):
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
    clicked = []
    nodes = SceneNodes(scene, lambda link, ray: clicked.append((link, ray.eye[2])))
    nodes.draw([BALL, replace(BALL, of='hand'), SECTOR])
    for node in scene.nodes.values():
        for work in node.clicks:
            for hit in (1, 0, 7, None):
                ray = {'ray_origin': (0.0, 0.0, 9.0), 'ray_direction': (0.0, 0.0, -1.0)}
                asyncio.run(work(SimpleNamespace(instance_index=hit, **ray)))
    assert clicked == [('hand', 9.0), ('arm', 9.0)]


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
    marks = ReachMarks(scene)
    marks.draw(ReachView(ball, 0.3, '', 0.0))
    assert [*scene.nodes] == ['/reach/surface']
    radii = np.linalg.norm(scene.nodes['/reach/surface'].vertices - (1.0, 0.0, 0.0), axis=1)
    assert 0.4 < radii.min() < radii.max() < 0.6
    marks.draw(ReachView(ball, None, 'y', 0.0))
    assert [*scene.nodes] == ['/reach/slice']
    marks.draw(ReachView(ball, 0.3, 'y', 0.0))
    assert {*scene.nodes} == {'/reach/slice', '/reach/surface'}
    marks.draw(None)
    assert not scene.nodes


@pytest.mark.parametrize('axis', ['x', 'z'])
def test_slice_has_a_square_for_each_reached_cell(scene, ball, axis):
    """At its middle, perpendicular to the axis, with the colour of its share."""
    along, at = 'xyz'.index(axis), ball.origin['xyz'.index(axis)] + 0.3
    wanted = ReachView(ball, None, axis, float(at))
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
