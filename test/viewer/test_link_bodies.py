"""Links as their description draws them."""

import asyncio

from ik_node.gallery.description_path import description_path
from ik_node.robot import load_robot
from ik_node.viewer.link_bodies import LinkBodies
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
    on_click = [].append if clicked is None else clicked.append
    return robot, LinkBodies(scene, robot, on_click, lambda link, event: on_click((link, event)))


def test_bodies_follow_their_links(scene):
    """Every body is where its link is."""
    robot = load_robot(description_path('hexapod.urdf'))
    bodies = LinkBodies(scene, robot, lambda link: None, lambda link, event: None)
    q = robot.q + 0.003
    bodies.draw(q, visible=True)
    assert len(bodies.drawn) > 10
    for link in bodies.drawn:
        node = scene.nodes[f'/bodies/{link}']
        np.testing.assert_allclose(node.position, robot.forward(q, link)[:3, 3], atol=1e-12)
    bodies.remove()
    assert scene.nodes == {}


def test_mesh_is_read_and_scaled(scene, tmp_path):
    """A mesh that is found is shown in its size."""
    pytest.importorskip('trimesh')
    (tmp_path / 'c.stl').write_text(CUBE)
    _, bodies = bodies_of(scene, ROBOT.format(mesh=tmp_path / 'c.stl'))
    (mesh,) = (node for node in scene.nodes.values() if node.kind == 'trimesh')
    assert np.ptp(mesh.mesh.vertices, axis=0) == pytest.approx((2.0, 2.0, 0.0))
    assert bodies.drawn == {'base', 'arm'}
    assert bodies.missing == []


@pytest.mark.parametrize('content', [None, 'no mesh', ''])
def test_mesh_that_cannot_be_shown(scene, tmp_path, content):
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
    asyncio.run(scene.nodes['/bodies/base/0'].clicks[0](None))
    assert clicked == ['base']


def test_some_links_are_dragged(scene):
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
