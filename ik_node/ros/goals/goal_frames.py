"""The frame of a goal message, in the root frame."""

from __future__ import annotations

from collections.abc import Callable

from ik_node.robot import Robot
from ik_node.ros.joints.floating_base import root_frame
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def frame_in_root(
    frame_id: str, base_frame: str, robot: Robot, q: Array, lookup: Callable[[str, str], Array]
) -> Array | None:
    """
    Return the pose of a goal's frame, 4x4.

    Parameters
    ----------
    frame_id : str
        Of the message; '' stands for `base_frame`, and that one's '' for the root frame.
    base_frame : str
        The parameter.
    robot : Robot
        Knows its own links.
    q : ndarray, shape (nq,)
        Where the robot's links are at present.
    lookup : callable
        (target, source) -> pose of a frame that is not the robot's; raises LookupError.

    Returns
    -------
    ndarray or None
        None when it is the root frame itself.

    Raises
    ------
    LookupError
        If nobody knows the frame.

    """
    name = (frame_id or base_frame).lstrip('/')
    root = root_frame(robot)
    if name in ('', root):
        return None
    if name in robot.links:
        pose: Array = robot.forward(q, name)
        return pose
    return lookup(root, name)
