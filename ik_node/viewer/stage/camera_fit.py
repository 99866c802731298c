"""Camera positions from which a robot fills the view."""

from __future__ import annotations

from math import cos, radians, sin, tan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Vertical angle of view [deg]: small, so that parallel lines look parallel. In 2-D, the camera is
# so far away that the picture is orthographic to a pixel.
FOV, FLAT_FOV = 30.0, 1.0
# Free margins as shares of half the view: at the sides, above, and below (the window State).
MARGINS = (0.1, 0.1, 0.16)
# Direction of the camera from the robot [deg]: about z from x, and above the ground. Flat robots
# are seen from higher up.
AZIMUTH, ELEVATION, HIGH = -55.0, 22.0, 48.0
# Robots are flat if their height is below this share of their width.
FLAT = 0.2


class View(NamedTuple):
    """
    A direction of the camera, and its angle of view.

    Attributes
    ----------
    back, up : ndarray, shape (3,)
        Unit vectors in the root frame: from the robot to the camera, and the upward direction.
    fov : float
        Vertical angle of view [rad].

    """

    back: Array
    up: Array
    fov: float


class Camera(NamedTuple):
    """
    A position of the camera.

    Attributes
    ----------
    eye, look_at : ndarray, shape (3,)
        Root frame [m].
    distance : float
        Distance between them [m].

    """

    eye: Array
    look_at: Array
    distance: float


def view_of(points: Array) -> View:
    """Return the direction from which a robot is seen at first."""
    x, y, z = np.ptp(points, axis=0)
    up, around = radians(HIGH if z < FLAT * max(x, y) else ELEVATION), radians(AZIMUTH)
    back = np.array((cos(up) * cos(around), cos(up) * sin(around), sin(up)))
    return View(back, np.array((0.0, 0.0, 1.0)), radians(FOV))


def plane_view(plane: Array) -> View:
    """
    Return the view onto a plane, as orthographic as a perspective camera can be.

    Parameters
    ----------
    plane : ndarray, shape (3, 2)
        Two unit vectors of the plane, root frame.

    """
    back = np.cross(plane[:, 0], plane[:, 1])
    # A horizontal plane is seen from above, an upright one from the side of the usual view.
    usual = view_of(np.zeros((1, 3))).back
    back *= np.sign(back @ (usual if abs(back[2]) < 0.9 else (0.0, 0.0, 1.0))) or 1.0
    above = np.array((0.0, 1.0, 0.0) if abs(back[2]) > 0.9 else (0.0, 0.0, 1.0))
    up = above - (above @ back) * back
    return View(back, up / np.linalg.norm(up), radians(FLAT_FOV))


def fitted(points: Array, view: View, aspect: float) -> Camera:
    """
    Return the nearest camera that sees all points within the margins.

    A point with the coordinates x, y, z along right, up and back of the camera is seen within a
    margin if its distance from the axis is at most t (z_eye - z), where t is the tangent of the
    angle of that margin. The largest of these bounds define the eye.

    Parameters
    ----------
    points : ndarray, shape (n, 3)
        What must be in the picture, root frame [m].
    view : View
        Direction of the camera.
    aspect : float
        Width of the picture divided by its height.

    """
    right = np.cross(view.up, view.back)
    right /= np.linalg.norm(right)
    axes = np.column_stack((right, np.cross(view.back, right), view.back))
    x, y, z = (points @ axes).T
    side, above, below = MARGINS
    high = tan(0.5 * view.fov)
    wide = high * aspect * (1.0 - side)
    spans = []
    for along, low_slope, high_slope in (
        (x, wide, wide),
        (y, high * (1.0 - below), high * (1.0 - above)),
    ):
        upper = float((along + high_slope * z).max())
        lower = float((-along + low_slope * z).max())
        spans.append((upper, lower, high_slope, low_slope))
    depth = max((upper + lower) / (up + down) for upper, lower, up, down in spans)
    at = [0.5 * (upper - up * depth + down * depth - lower) for upper, lower, up, down in spans]
    middle = 0.5 * float(z.max() + z.min())
    eye = axes @ np.array((*at, depth))
    distance = max(depth - middle, 1e-6)
    return Camera(eye, eye - distance * view.back, distance)
