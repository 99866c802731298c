"""Links that stay in one plane, whatever the joints do."""

from __future__ import annotations

from ik_node.model.goal import Goal
from ik_node.robot import Robot
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Configurations that are tried, and how far a joint goes in them at most [rad or m].
TRIES, FAR = 12, 1.0
# What leaves the plane by less than this share of the way is in it.
FLAT = 1e-9


def plane_of(robot: Robot, goal: Goal) -> Array | None:
    """
    Return the plane in which a goal's link moves.

    Loops are taken as open: what is planar then is so when they are closed.

    Parameters
    ----------
    robot : Robot
        Whose goal it is.
    goal : Goal
        Of kind frame, in the root frame.

    Returns
    -------
    ndarray, shape (3, 2), or None
        Two unit vectors, root frame; None = it moves in space, or along a line.

    """
    if goal.child is None or goal.parent is not None or goal.kind != 'frame':
        return None
    rng = np.random.default_rng(0)
    lower, upper = np.maximum(robot.lower, -FAR), np.minimum(robot.upper, FAR)
    offset = np.append(goal.offset_position, 1.0)
    link, places = goal.child.name, []
    for _ in range(TRIES):
        q = lower + rng.random(len(lower)) * np.maximum(0.0, upper - lower)
        places.append((robot.forward(q, link) @ offset)[:3])
    *_, sizes, directions = np.linalg.svd(places - np.mean(places, axis=0))
    if sizes[1] <= FLAT * max(sizes[0], 1e-300) or sizes[2] > FLAT * sizes[0]:
        return None
    plane: Array = directions[:2].T
    return plane
