"""Cameras of browsers: fitted while they load, left alone once a user moves them."""

import asyncio
from contextlib import nullcontext
from types import SimpleNamespace

from ik_node.viewer.stage.camera_fit import fitted, view_of
from ik_node.viewer.stage.cameras import Cameras
import numpy as np
import pytest

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
        """Report a camera to the server, which then sees it as the present one."""
        self.camera.position, self.camera.look_at = np.array(eye), np.array(look_at)
        self.camera.image_width = width
        asyncio.run(self._work(None))


@pytest.fixture
def browser():
    """Return a browser that has just connected to a server that shows a box."""
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
    """Return the fitted camera of a width."""
    return fitted(BOX, view_of(BOX), width / 600)


def test_late_report_of_an_older_camera_is_fitted_again(browser):
    """Even if both are nearly the same."""
    wide, narrow = wanted(900), wanted(899)
    assert 0.0 < np.abs(wide.eye - narrow.eye).max() < 1e-3 * wide.distance
    browser.report(wide.eye, wide.look_at, width=899)
    np.testing.assert_array_equal(browser.camera.position, narrow.eye)
    browser.report(wide.eye, wide.look_at, width=899)
    np.testing.assert_array_equal(browser.camera.position, narrow.eye)


def test_camera_that_a_user_moved_is_left_alone(browser):
    """Also when the window changes its size."""
    camera = wanted(900)
    moved = np.add(camera.eye, (0.0, 0.0, 0.01))
    browser.report(moved, camera.look_at, width=900)
    np.testing.assert_array_equal(browser.camera.position, moved)
    browser.report(moved, camera.look_at, width=500)
    np.testing.assert_array_equal(browser.camera.position, moved)
