"""The cameras of all browsers, fitted to the robot and to the size of their views."""

from __future__ import annotations

from math import cos, radians, sin, tan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Vertical angle of view [deg]: small, so that parallel lines look parallel. In 2-D, the camera is
# so far away that the picture is orthographic to a pixel.
FOV, FLAT_FOV = 30.0, 1.0
# Free margin on each side, as a share of half the view.
MARGIN = 0.1
# Direction of the camera from the robot [deg]: about z from x, and above the ground. Flat robots
# are seen from higher up.
AZIMUTH, ELEVATION, HIGH = -55.0, 22.0, 48.0
# Robots are flat if their height is below this share of their width.
FLAT = 0.2
# Width divided by height of a view that no browser has reported yet.
ASPECT = 1.2
# Nearest and farthest visible point, and how far a user can move away, as multiples of the first
# distance of the camera.
NEAR, FAR, AWAY = 0.02, 6.0, 4.0
# Number of sent cameras that are remembered for each browser.
KEPT = 6
# A camera within this share of its distance from a fitted one has not been moved by a user.
UNMOVED = 1e-3
# A browser has applied a camera if it reports it to this share of its distance.
APPLIED = 1e-5


class View(NamedTuple):
    """A direction of the camera: unit vectors to the camera and upwards, angle of view [rad]."""

    back: Array
    up: Array
    fov: float


class Camera(NamedTuple):
    """A position of the camera and the point it looks at [m], and the distance between them."""

    eye: Array
    look_at: Array
    distance: float


def view_of(points: Array) -> View:
    """Return the direction from which a robot, given by points (n, 3), is seen at first."""
    x, y, z = np.ptp(points, axis=0)
    up, around = radians(HIGH if z < FLAT * max(x, y) else ELEVATION), radians(AZIMUTH)
    back = np.array((cos(up) * cos(around), cos(up) * sin(around), sin(up)))
    return View(back, np.array((0.0, 0.0, 1.0)), radians(FOV))


def plane_view(plane: Array) -> View:
    """Return the nearly orthographic view onto a plane, given by two unit vectors (3, 2)."""
    back = np.cross(plane[:, 0], plane[:, 1])
    # A horizontal plane is seen from above, an upright one from the side of the usual view.
    usual = view_of(np.zeros((1, 3))).back
    back *= np.sign(back @ (usual if abs(back[2]) < 0.9 else (0.0, 0.0, 1.0))) or 1.0
    above = np.array((0.0, 1.0, 0.0) if abs(back[2]) > 0.9 else (0.0, 0.0, 1.0))
    up = above - (above @ back) * back
    return View(back, up / np.linalg.norm(up), radians(FLAT_FOV))


def fitted(points: Array, view: View, aspect: float) -> Camera:
    """
    Return the nearest camera that sees all points (n, 3) within the margins.

    A point with the coordinates x, y, z along right, up and back of the camera is seen within a
    margin if its distance from the axis is at most t (z_eye - z), where t is the tangent of the
    angle of that margin. The largest of these bounds define the eye. `aspect` is the width of the
    picture divided by its height.
    """
    right = np.cross(view.up, view.back)
    right /= np.linalg.norm(right)
    axes = np.column_stack((right, np.cross(view.back, right), view.back))
    x, y, z = (points @ axes).T
    high = (1.0 - MARGIN) * tan(0.5 * view.fov)
    spans = [
        (float((along + slope * z).max()), float((slope * z - along).max()), slope)
        for along, slope in ((x, high * aspect), (y, high))
    ]
    depth = max(0.5 * (upper + lower) / slope for upper, lower, slope in spans)
    index = [0.5 * (upper - lower) for upper, lower, _ in spans]
    middle = 0.5 * float(z.max() + z.min())
    eye = axes @ np.array((*index, depth))
    distance = max(depth - middle, 1e-6)
    return Camera(eye, eye - distance * view.back, distance)


class Cameras:
    """
    The cameras of all browsers of a viser server.

    A camera is fitted when its browser connects, when another robot is shown, and when the size of
    its view changes before the user moves it.
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
