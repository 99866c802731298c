"""Conversion of pose matrices to positions and quaternions in plain floats."""

from __future__ import annotations

from ik_node.model.rotation import cross
from ik_node.scene.shapes import Point, Quat
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
PlainPose = tuple[Point, Quat]

# Rotations (3, 3) that map z to x, y or z; right-handed permutations.
_ONTO = (
    np.array(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))),
    np.array(((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))),
    np.eye(3),
)


def plain_poses(frames: Array) -> list[PlainPose]:
    """Return the positions [m] and quaternions (xyzw) of poses (n, 4, 4)."""
    points = frames[:, :3, 3].tolist()
    quats = quats_of(frames[:, :3, :3]).tolist()
    return [
        ((px, py, pz), (x, y, z, w))
        for (px, py, pz), (x, y, z, w) in zip(points, quats, strict=True)
    ]


def quats_of(rotations: Array) -> Array:
    """
    Return the quaternions (n, 4), xyzw with w >= 0, of rotations (n, 3, 3).

    Notes
    -----
    Every row of the symmetric matrix 4 q q^T is a multiple of q. The row with the largest diagonal
    element is the longest, which avoids division by small numbers.

    """
    m = rotations
    rows = np.empty((len(m), 4, 4))
    x, y, z = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    rows[:, 0, 0] = 1.0 + x - y - z
    rows[:, 1, 1] = 1.0 - x + y - z
    rows[:, 2, 2] = 1.0 - x - y + z
    rows[:, 3, 3] = 1.0 + x + y + z
    rows[:, 0, 1] = rows[:, 1, 0] = m[:, 1, 0] + m[:, 0, 1]
    rows[:, 0, 2] = rows[:, 2, 0] = m[:, 2, 0] + m[:, 0, 2]
    rows[:, 1, 2] = rows[:, 2, 1] = m[:, 2, 1] + m[:, 1, 2]
    rows[:, 0, 3] = rows[:, 3, 0] = m[:, 2, 1] - m[:, 1, 2]
    rows[:, 1, 3] = rows[:, 3, 1] = m[:, 0, 2] - m[:, 2, 0]
    rows[:, 2, 3] = rows[:, 3, 2] = m[:, 1, 0] - m[:, 0, 1]
    largest = np.argmax(np.einsum('nii->ni', rows), axis=1)
    longest = rows[np.arange(len(m)), largest]
    lengths = np.copysign(np.sqrt(np.einsum('ni,ni->n', longest, longest)), longest[:, 3])
    quats: Array = longest / lengths[:, None]
    return quats


def z_onto(frame: Array, axis: int) -> Array:
    """Return a pose (4, 4) whose z axis is the x, y or z axis (0, 1, 2) of another one."""
    laid = frame.copy()
    laid[:3, :3] = frame[:3, :3] @ _ONTO[axis]
    return laid


def z_along(place: Array, way: Array) -> Array:
    """Return the pose (4, 4) at a point whose z axis is along `way`; no rotation for zero."""
    pose = np.eye(4)
    pose[:3, 3] = place
    length = float(np.sqrt(way @ way))
    if length > 0.0:
        z = way / length
        # The coordinate axis farthest from z gives a well-defined x.
        x = np.eye(3)[int(np.argmin(np.abs(z)))]
        x = x - (x @ z) * z
        pose[:3, 0] = x / np.sqrt(x @ x)
        pose[:3, 1] = cross(z, pose[:3, 0])
        pose[:3, 2] = z
    return pose


def point(place: Array) -> Point:
    """Return a position as plain floats."""
    x, y, z = place.tolist()
    return x, y, z


def along(frame: Array, distance: float) -> Point:
    """Return the point at a distance along z from the origin of a pose (4, 4) [m]."""
    return point(frame[:3, 3] + distance * frame[:3, 2])
