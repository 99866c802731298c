"""Where a base that floats is, and what the frame is called in which that counts."""

from __future__ import annotations

from ik_node.description.description import WORLD
from ik_node.model.joint import Joint
from ik_node.robot import Robot
from ik_node.ros.convert import Pose, pose_from_matrix
import numpy as np
from numpy.typing import NDArray

# The first that is no link of the robot's.
_WORLD = (WORLD, 'map', 'odom', 'ik_node_world')


def root_frame(robot: Robot) -> str:
    """Return the frame that poses count in: the root link, or the world that it floats in."""
    root = robot.description.root
    if not isinstance(root, Joint):
        return root.name
    if any(each.name == WORLD for each in robot.description.roots):
        # That link is the world, and stands still.
        return WORLD
    return next((name for name in _WORLD if name not in robot.links), root.name)


def base_poses(robot: Robot, q: NDArray[np.float64]) -> dict[str, Pose]:
    """
    Return where the bases are that float.

    Parameters
    ----------
    robot : Robot
        With a floating root, or without.
    q : ndarray, shape (nq,)
        [rad or m]

    Returns
    -------
    dict of str to (position, quat_xyzw)
        Link to its pose in `root_frame`; empty for a robot that is fixed.

    """
    poses = {}
    for root in robot.description.roots:
        if isinstance(root, Joint) and root.child is not None:
            poses[root.child.name] = pose_from_matrix(robot.forward(q, root.child.name))
    return poses
