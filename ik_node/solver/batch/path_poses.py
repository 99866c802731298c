"""Poses between two others."""

from __future__ import annotations

from math import acos, sin

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pose = tuple[Array, Array]

# Below this angle on the sphere of quaternions a straight line is the arc [rad].
STRAIGHT = 1e-6


def between(start: Pose, end: Pose, share: float) -> Pose:
    """
    Return the pose on the way: a straight line, turning at a constant rate the shorter way.

    Parameters
    ----------
    start, end : (ndarray, ndarray)
        Position (3,) [m] and unit quaternion xyzw (4,).
    share : float
        0 = start, 1 = end, exactly.

    """
    if share >= 1.0:
        return end
    position = start[0] + share * (end[0] - start[0])
    cosine = float(start[1] @ end[1])
    last = end[1] if cosine >= 0.0 else -end[1]
    angle = acos(min(abs(cosine), 1.0))
    if angle < STRAIGHT:
        quat = start[1] + share * (last - start[1])
    else:
        quat = (sin((1.0 - share) * angle) * start[1] + sin(share * angle) * last) / sin(angle)
    return position, quat / np.linalg.norm(quat)
