"""Cameras that see all of a robot, viewing rays through a pixel, and drags by a pointer."""

import asyncio
from contextlib import nullcontext
from types import SimpleNamespace

from ik_node.viewer.stage.cameras import Cameras, fitted, MARGIN, plane_view, view_of
from ik_node.viewer.stage.view_ray import pointer_translation, ViewRay
import numpy as np
import pytest


def seen(points, camera, view, aspect):
    right = np.cross(view.up, view.back)
    right /= np.linalg.norm(right)
    away = points - camera.eye
    depth = -away @ view.back
    high = np.tan(0.5 * view.fov)
    up = np.cross(view.back, right)
    return np.column_stack((away @ right / depth / high / aspect, away @ up / depth / high))


@pytest.mark.parametrize(
    ('aspect', 'size'),
    [(0.46, (1.0, 1.0, 3.0)), (1.2, (1e-2, 2e-2, 1e-3)), (2.5, (4.0, 0.1, 0.5))],
)
def test_robot_fills_the_view_within_the_margins(aspect, size):
    rng = np.random.default_rng(3)
    points = rng.random((200, 3)) * size + (5.0, -2.0, 1.0)
    view = view_of(points)
    camera = fitted(points, view, aspect)
    places = seen(points, camera, view, aspect)
    low, high = np.full(2, MARGIN - 1.0), np.full(2, 1.0 - MARGIN)
    assert (places > low - 1e-9).all()
    assert (places < high + 1e-9).all()
    touched = np.ptp(places, axis=0) / (high - low)
    assert touched.max() > 0.9
    np.testing.assert_allclose(camera.eye - camera.look_at, camera.distance * view.back)


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


BOX = np.array(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.1)))


class Browser:
    """A browser without a picture: it applies a camera when it is told to."""

    def __init__(self):
        self.client_id = 0
        self.atomic = nullcontext
        self.camera = SimpleNamespace(
            image_width=900, image_height=600, position=np.ones(3), look_at=np.zeros(3)
        )
        self.camera.on_update = lambda work: setattr(self, '_work', work)

    def report(self, eye, look_at, width=900):
        self.camera.position, self.camera.look_at = np.array(eye), np.array(look_at)
        self.camera.image_width = width
        asyncio.run(self._work(None))


@pytest.fixture
def browser():
    made, joined = Browser(), []
    server = SimpleNamespace(
        initial_camera=SimpleNamespace(),
        on_client_connect=joined.append,
        get_clients=lambda: {0: made},
    )
    cameras = Cameras(server)
    cameras.show(BOX, view_of(BOX))
    asyncio.run(joined[0](made))
    return made


def wanted(width):
    return fitted(BOX, view_of(BOX), width / 600)


def test_late_report_of_an_older_camera_is_fitted_again(browser):
    wide, narrow = wanted(900), wanted(899)
    assert 0.0 < np.abs(wide.eye - narrow.eye).max() < 1e-3 * wide.distance
    browser.report(wide.eye, wide.look_at, width=899)
    np.testing.assert_array_equal(browser.camera.position, narrow.eye)
    browser.report(wide.eye, wide.look_at, width=899)
    np.testing.assert_array_equal(browser.camera.position, narrow.eye)


def test_camera_that_a_user_moved_is_left_alone(browser):
    camera = wanted(900)
    moved = np.add(camera.eye, (0.0, 0.0, 0.01))
    browser.report(moved, camera.look_at, width=900)
    np.testing.assert_array_equal(browser.camera.position, moved)
    browser.report(moved, camera.look_at, width=500)
    np.testing.assert_array_equal(browser.camera.position, moved)


LOW = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
HIGH = [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]


def struck(eye, along, triangles=(LOW, HIGH)):
    event = SimpleNamespace(ray_origin=eye, ray_direction=along)
    return ViewRay.of(event).hit(np.array(triangles))


def test_ray_hits_the_nearest_triangle():
    assert struck((0.2, 0.3, 5.0), (0.0, 0.0, -1.0)) == pytest.approx((0.2, 0.3, 1.0))
    assert struck((0.2, 0.3, -5.0), (0.0, 0.0, 1.0)) == pytest.approx((0.2, 0.3, 0.0))
    along = np.array((0.1, 0.1, -1.0)) / np.sqrt(1.02)
    assert struck((0.1, 0.1, 2.0), along) == pytest.approx((0.2, 0.2, 1.0))


def translation(eye, held, pointer, axes):
    client = SimpleNamespace(camera=SimpleNamespace(position=eye))
    event = SimpleNamespace(end_position=pointer, client=client)
    return pointer_translation(event, held, axes)


EYE = np.array((0.0, -2.0, 1.0))
HELD = np.array((0.1, 0.2, 0.3))
AXES = np.eye(3)


def test_goal_dragged_on_a_line_is_nearest_to_the_ray():
    pointer = np.array((0.5, 0.4, 0.1))
    found = translation(EYE, HELD, pointer, AXES[:, :1])
    assert found[1] == found[2] == 0.0
    normal = np.cross(AXES[0], pointer - EYE)
    across = np.cross(normal, pointer - EYE)
    # The plane of the ray and the normal holds the foot.
    assert across @ (HELD + found - EYE) == pytest.approx(0.0, abs=1e-12)


def test_drag_without_intersection_gives_no_translation():
    assert translation(EYE, HELD, EYE + np.array((0.0, 1.0, 0.4)), AXES[:, :2]) is None
    level = HELD - 2.0 * AXES[1]
    assert translation(level, HELD, HELD + 0.1 * AXES[0], AXES[:, :2]) is None
