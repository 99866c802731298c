"""Links as their description draws them."""

import asyncio
import io
from types import SimpleNamespace

from ik_node.description.files import description_path
from ik_node.robot import load_robot
from ik_node.viewer.stage.link_bodies import LinkBodies
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


def bodies_of(scene, text, clicked=None):
    """Return the robot of a text and its bodies."""
    robot = load_robot(text)
    told = [] if clicked is None else clicked
    return robot, LinkBodies(
        scene,
        robot,
        lambda link, ray: told.append((link, ray)),
        lambda link, event: told.append((link, event)),
    )


def test_bodies_follow_their_links(scene):
    """Every body is where its link is."""
    robot = load_robot(description_path('hexapod.urdf'))
    bodies = LinkBodies(scene, robot, lambda link, ray: None, lambda link, event: None)
    q = robot.q + 0.003
    bodies.draw(q, visible=True)
    assert len(bodies.drawn) > 10
    for link in bodies.drawn:
        node = scene.nodes[f'/bodies/{link}']
        np.testing.assert_allclose(node.position, robot.forward(q, link)[:3, 3], atol=1e-12)
    bodies.remove()
    assert scene.nodes == {}


def test_moving_bodies_cast_shadows_on_fixed_ones(scene):
    """The base is shaded by the platform, and nothing by itself."""
    robot = load_robot(description_path('hexapod.urdf'))
    LinkBodies(scene, robot, lambda link, ray: None, lambda link, event: None)
    base, platform = (
        next(node for at, node in scene.nodes.items() if at.startswith(f'/bodies/{name}_link/'))
        for name in ('base', 'platform')
    )
    assert (base.cast_shadow, base.receive_shadow) == (False, True)
    assert (platform.cast_shadow, platform.receive_shadow) == (True, False)


def test_extent_leaves_out_the_ground(scene):
    """The walker's plate is much larger than the walker, and not above the floor."""
    robot = load_robot(description_path('walker.urdf'))
    bodies = LinkBodies(scene, robot, lambda link, ray: None, lambda link, event: None)
    points, height = bodies.extent(robot.q)
    assert np.ptp(points, axis=0).max() < 1.5
    assert height <= points[:, 2].min()


def test_mesh_is_read_and_scaled(scene, tmp_path):
    """A mesh that is found is shown in its size."""
    pytest.importorskip('trimesh')
    (tmp_path / 'c.stl').write_text(CUBE)
    _, bodies = bodies_of(scene, ROBOT.format(mesh=tmp_path / 'c.stl'))
    (mesh,) = (node for node in scene.nodes.values() if node.kind == 'glb')
    trimesh = pytest.importorskip('trimesh')
    shown = trimesh.load_mesh(io.BytesIO(mesh.glb), file_type='glb')
    assert np.ptp(shown.vertices, axis=0) == pytest.approx((2.0, 2.0, 0.0))
    assert bodies.drawn == {'base', 'arm'}
    assert bodies.missing == []


@pytest.mark.parametrize('content', [None, 'no mesh', ''])
def test_unreadable_mesh_is_named_and_link_drawn_as_rod(scene, tmp_path, content):
    """It is named, and its link is to be drawn as a rod."""
    pytest.importorskip('trimesh')
    if content is not None:
        (tmp_path / 'c.stl').write_text(content)
    _, bodies = bodies_of(scene, ROBOT.format(mesh=tmp_path / 'c.stl'))
    assert bodies.missing == [str(tmp_path / 'c.stl')]
    assert bodies.bare == {'arm'}
    assert bodies.drawn == {'base'}


def test_bodies_are_hidden_and_clicked(scene, tmp_path):
    """Hidden ones stay where they are; a click says whose body it is."""
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
    """Those that may be say so; dragging the others turns the view."""
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
