"""Cameras that see all of a robot, as large as the view allows."""

from ik_node.viewer.stage.camera_fit import fitted, MARGINS, plane_view, view_of
import numpy as np
import pytest


def seen(points, camera, view, aspect):
    """Return where points are in the picture: right and up, from -1 to 1."""
    right = np.cross(view.up, view.back)
    right /= np.linalg.norm(right)
    away = points - camera.eye
    depth = -away @ view.back
    high = np.tan(0.5 * view.fov)
    up = np.cross(view.back, right)
    return np.column_stack((away @ right / depth / high / aspect, away @ up / depth / high))


@pytest.mark.parametrize('aspect', [0.46, 1.2, 2.5])
@pytest.mark.parametrize('size', [(1.0, 1.0, 3.0), (4.0, 0.1, 0.5), (1e-2, 2e-2, 1e-3)])
def test_robot_fills_the_view_within_the_margins(aspect, size):
    """No point is in a margin, and two opposite margins are touched."""
    rng = np.random.default_rng(3)
    points = rng.random((200, 3)) * size + (5.0, -2.0, 1.0)
    view = view_of(points)
    camera = fitted(points, view, aspect)
    places = seen(points, camera, view, aspect)
    side, above, below = MARGINS
    low, high = np.array((side - 1.0, below - 1.0)), np.array((1.0 - side, 1.0 - above))
    assert (places > low - 1e-9).all()
    assert (places < high + 1e-9).all()
    touched = np.ptp(places, axis=0) / (high - low)
    assert touched.max() > 0.9
    np.testing.assert_allclose(camera.eye - camera.look_at, camera.distance * view.back)


def test_flat_robot_is_seen_from_higher_up():
    """A table of 1 m by 1 m shows more of its top than a cube."""
    cube = np.array(((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)))
    assert view_of(cube * (1.0, 1.0, 0.1)).back[2] > 1.5 * view_of(cube).back[2]


@pytest.mark.parametrize(
    ('plane', 'back', 'up'),
    [
        (((1, 0), (0, 1), (0, 0)), (0, 0, 1), (0, 1, 0)),
        (((0, 1), (1, 0), (0, 0)), (0, 0, 1), (0, 1, 0)),
        (((1, 0), (0, 0), (0, 1)), (0, -1, 0), (0, 0, 1)),
        (((0, 0), (1, 0), (0, 1)), (1, 0, 0), (0, 0, 1)),
    ],
)
def test_flat_view_is_onto_the_plane_and_nearly_orthographic(plane, back, up):
    """Distances along the view change the picture by less than a pixel in a thousand."""
    view = plane_view(np.array(plane, dtype=float))
    np.testing.assert_allclose(view.back, back, atol=1e-12)
    np.testing.assert_allclose(view.up, up, atol=1e-12)
    points = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    camera = fitted(points, view, 1.2)
    places = seen(points, camera, view, 1.2)
    near = np.isclose(points @ view.back, (points @ view.back).max())
    shift = np.abs(np.sort(places[near], axis=0) - np.sort(places[~near], axis=0)).max()
    assert shift < 0.02
