"""Bodies, obstacles and nearest points are drawn where they are."""

import ik_node as ik
from ik_node.scene import IKRootsHelper, mesh_of
from ik_node.scene.look import COLOURS, IN_CONTACT, NEAREST, OBSTACLE
import numpy as np
import pytest
from scipy.spatial import ConvexHull

TURN = (0.5, -0.5, 0.1, 0.7)
CORNERS = [(0.0, 0.0, 0.0), (0.2, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.4)]


def shapes_of(robot, q=None):
    """Return the shapes of the layer, by name."""
    found = IKRootsHelper(robot, layers='collisions', resolution=96).shapes(q)
    return {shape.name.removeprefix('collisions/'): shape for shape in found}


@pytest.mark.parametrize(
    ('shape', 'volume'),
    [
        (ik.Sphere(0.1), 4.0 / 3.0 * np.pi * 1e-3),
        (ik.Capsule(0.1, 0.3), np.pi * 0.01 * 0.3 + 4.0 / 3.0 * np.pi * 1e-3),
        (ik.Cylinder(0.1, 0.3), np.pi * 0.01 * 0.3),
        (ik.Box((0.1, 0.2, 0.3)), 0.006),
        (ik.Hull(CORNERS), 0.004),
    ],
    ids=lambda value: type(value).__name__,
)
def test_drawn_body_fills_the_space_that_the_distances_count(shape, volume):
    """A drawn body has the volume of its shape, and its surface is at distance zero."""
    robot = ik.load_robot('arm6')
    robot.collisions.add_obstacle(shape, ((0.3, 0.6, 0.4), TURN), 'thing')
    corners = mesh_of(shapes_of(robot)['thing'])[0].reshape(-1, 3)
    assert ConvexHull(corners).volume == pytest.approx(volume, rel=5e-3)
    probe = ik.Sphere(1e-3)
    robot.collisions.add_body(
        'tool_link',
        probe,
        np.linalg.inv(robot.forward(robot.q, 'tool_link')) @ [*corners[5], 1.0] @ np.eye(4, 3),
    )
    assert robot.collisions.distances()[0].d == pytest.approx(-1e-3, abs=1e-4)


def test_bodies_move_with_links_and_a_plane_lies_below_the_origin():
    """A body is where its link is at any configuration; of a half-space a square is drawn."""
    robot = ik.load_robot('arm6')
    robot.collisions.add_body('tool_link', ik.Box((0.1, 0.1, 0.1)), (0.0, 0.0, 0.2))
    robot.collisions.add_obstacle(ik.HalfSpace(), (3.0, 4.0, -0.1), 'floor')
    q = np.full(6, 0.3)
    shapes = shapes_of(robot, q)
    place = robot.forward(q, 'tool_link') @ (0.0, 0.0, 0.2, 1.0)
    np.testing.assert_allclose(shapes['tool_link'].position, place[:3], atol=1e-12)
    np.testing.assert_allclose(shapes['floor'].position, (0.0, 0.0, -0.1), atol=1e-12)
    assert shapes['tool_link'].rgba == COLOURS['collisions']


def test_nearest_pair_is_marked_and_red_in_contact():
    """Both bodies and their nearest points have the colour of a warning, another obstacle not."""
    robot = ik.load_robot('arm6')
    robot.collisions.add_body('tool_link', ik.Sphere(0.05))
    here = robot.forward(robot.q, 'tool_link')[:3, 3]
    ball = robot.collisions.add_obstacle(ik.Sphere(0.1), here + np.array((0.18, 0.0, 0.0)), 'ball')
    robot.collisions.add_obstacle(ik.Sphere(0.1), here + np.array((0.0, 2.0, 0.0)), 'far')
    for distance, rgb in ((0.18, NEAREST), (0.14, IN_CONTACT)):
        ball.set_pose(here + np.array((distance, 0.0, 0.0)))
        shapes = shapes_of(robot)
        assert shapes['tool_link'].rgba[:3] == shapes['ball'].rgba[:3] == rgb[:3]
        assert shapes['far'].rgba == OBSTACLE
        line = shapes['tool_link ball/line']
        assert line.rgba[:3] == rgb[:3]
        assert line.length == pytest.approx(abs(distance - 0.15), abs=1e-9)
    ball.set_pose(here + np.array((0.5, 0.0, 0.0)))
    assert {*shapes_of(robot)} == {'tool_link', 'ball', 'far'}


def test_layer_is_drawn_by_default_once_collisions_are_avoided():
    """A picture shows the bodies as soon as there is an obstacle."""
    robot = ik.load_robot('arm6')
    assert 'collisions' not in IKRootsHelper(robot).layers
    robot.collisions.add_obstacle(ik.Sphere(0.1), name='ball')
    for source in (robot, ik.Solver(robot)):
        assert 'ball' in [shape.of for shape in IKRootsHelper(source).shapes()]
