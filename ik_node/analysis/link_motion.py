"""How links move: in a plane, or by motors."""

from __future__ import annotations

from ik_node.mechanism import Mechanism
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Number of random configurations, and largest joint values in them [rad or m].
TRIES, FAR = 12, 1.0
# Deviations from the plane below this share of the motion count as zero.
FLAT = 1e-9


def plane_of_point(robot: Mechanism, link: str, point: ArrayLike) -> Array | None:
    """
    Return the plane in which a point of a link moves.

    Loops are ignored: a motion that is planar with open loops is planar with closed loops.

    `point` (3,): the point in the frame of the link [m]. Returns shape (3, 2), two unit vectors,
    root frame; None = the motion is spatial, or along a line.
    """
    rng = np.random.default_rng(0)
    lower, upper = np.maximum(robot.lower, -FAR), np.minimum(robot.upper, FAR)
    offset = np.append(point, 1.0)
    places = []
    for _ in range(TRIES):
        q = lower + rng.random(len(lower)) * np.maximum(0.0, upper - lower)
        places.append((robot.forward(q, link) @ offset)[:3])
    *_, sizes, directions = np.linalg.svd(places - np.mean(places, axis=0))
    if sizes[1] <= FLAT * max(sizes[0], 1e-300) or sizes[2] > FLAT * sizes[0]:
        return None
    plane: Array = directions[:2].T
    return plane


def motor_values(robot: Mechanism) -> frozenset[str]:
    """Return the names of the actuated values; all of them if the description names none."""
    named = set(robot.actuated)
    joints = [joint for joint in robot.joint_order if not named or joint.name in named]
    return frozenset(name for joint in joints for name in joint.value_names)
