"""The cameras of all browsers, fitted to the robot and to the size of their views."""

from __future__ import annotations

from typing import Any

from ik_node.viewer.stage.camera_fit import Camera, fitted, View, view_of
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Width divided by height of a view that no browser has reported yet.
ASPECT = 1.2
# Nearest and farthest visible point, as multiples of the distance of the camera.
NEAR, FAR = 0.02, 6.0
# How far a user can move away, as a multiple of the distance at first.
AWAY = 4.0
# Number of sent cameras that are remembered for each browser.
KEPT = 6
# A camera within this share of its distance from a fitted one has not been moved by a user.
UNMOVED = 1e-3
# A browser has applied a camera if it reports it to this share of its distance.
APPLIED = 1e-5


class Cameras:
    """
    The cameras of all browsers.

    A camera is fitted when its browser connects, when another robot is shown, and when the size of
    its view changes before the user moves it.

    Parameters
    ----------
    server : viser.ViserServer

    """

    def __init__(self, server: Any) -> None:
        self._server = server
        self._points: Array = np.array(((-0.5, -0.5, 0.0), (0.5, 0.5, 1.0)))
        self._view = view_of(self._points)
        # For each browser, the cameras that it has been sent, and the aspect of the last one.
        self._sent: dict[int, tuple[list[Camera], float]] = {}
        self._views: dict[int, View] = {}
        self._initial = fitted(self._points, self._view, ASPECT)
        server.on_client_connect(self._connected)

    @property
    def view(self) -> View:
        """Return the direction of all cameras at first."""
        return self._view

    def show(self, points: Array, view: View) -> None:
        """Look at a robot, given by points (n, 3) in the root frame [m], from a direction."""
        self._points, self._view = points, view
        self._initial = fitted(points, view, ASPECT)
        initial, camera = self._server.initial_camera, self._initial
        initial.fov, initial.up = view.fov, tuple(view.up)
        initial.near, initial.far = NEAR * camera.distance, FAR * camera.distance
        initial.position, initial.look_at = camera.eye, camera.look_at
        self._sent.clear()
        self._views.clear()
        for client in self._server.get_clients().values():
            self._fit(client)

    def look(self, client: int, view: View | None = None) -> None:
        """Fit the camera of a browser again, from a direction or from the one at first."""
        handle = self._server.get_clients().get(client)
        if handle is not None:
            self._views[client] = self._view if view is None else view
            self._fit(handle)

    def forget(self, client: int) -> None:
        """Forget a disconnected browser."""
        self._sent.pop(client, None)
        self._views.pop(client, None)

    async def _connected(self, client: Any) -> None:
        self._sent[client.client_id] = ([self._initial], ASPECT)
        self._fit(client)

        async def moved(_: object) -> None:
            self._follow(client)

        client.camera.on_update(moved)

    def _follow(self, client: Any) -> None:
        """
        Fit a camera to the changed size of its view, unless a user has moved it.

        A browser that is still loading may apply an older camera after the last one; this one is
        fitted again.
        """
        cameras, aspect = self._sent.get(client.client_id, ([], 0.0))
        resized = abs(_aspect(client) - aspect) > 1e-3 * aspect
        unmoved = any(_is_at(client, camera, UNMOVED) for camera in cameras)
        if unmoved and (resized or not _is_at(client, cameras[-1], APPLIED)):
            self._fit(client)

    def _fit(self, client: Any) -> None:
        aspect = _aspect(client)
        view = self._views.get(client.client_id, self._view)
        camera = fitted(self._points, view, aspect)
        cameras, _ = self._sent.get(client.client_id, ([], 0.0))
        if not cameras or np.abs(cameras[-1].eye - camera.eye).max() > 0.0:
            cameras = [*cameras, camera][-KEPT:]
        self._sent[client.client_id] = (cameras, aspect)
        handle = client.camera
        with client.atomic():
            handle.near, handle.far = NEAR * camera.distance, FAR * camera.distance
            handle.max_orbit_distance = AWAY * camera.distance
            handle.fov = view.fov
            handle.up_direction = view.up
            handle.position, handle.look_at = camera.eye, camera.look_at


def _is_at(client: Any, camera: Camera, share: float) -> bool:
    """Return True if a browser has this camera, to a share of its distance."""
    near = share * camera.distance
    apart = np.abs(client.camera.position - camera.eye).max()
    turned = np.abs(client.camera.look_at - camera.look_at).max()
    return bool(max(apart, turned) < near)


def _aspect(client: Any) -> float:
    return float(client.camera.image_width) / max(float(client.camera.image_height), 1.0)
