"""Where a base that floats is, and what the frame is called in which that counts."""

from __future__ import annotations

from ik_node.description.description import WORLD
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.robot import Robot
from ik_node.ros.messages.convert import Pose, pose_from_matrix
import numpy as np
from numpy.typing import NDArray

# The first that is no link of the robot's.
_WORLD = (WORLD, 'map', 'odom', 'ik_node_world')


def root_frame(robot: Robot) -> str:
    """Return the frame that poses count in: the root link, or the world that it is in."""
    root = robot.description.root
    if isinstance(root, Link) and _at_origin(root):
        return root.name
    if any(each.name == WORLD for each in robot.description.roots):
        # That link is the world, and stands still.
        return WORLD
    return next((name for name in _WORLD if name not in robot.links), root.name)


def base_poses(robot: Robot, q: NDArray[np.float64]) -> dict[str, Pose]:
    """
    Return where the bases are that float, or stand elsewhere than at the origin.

    Parameters
    ----------
    robot : Robot
        With a floating root, or without.
    q : ndarray, shape (nq,)
        [rad or m]

    Returns
    -------
    dict of str to (position, quat_xyzw)
        Link to its pose in `root_frame`; empty for a robot that is fixed at the origin.

    """
    poses = {}
    for root in robot.description.roots:
        link = root.child if isinstance(root, Joint) else root
        if isinstance(link, Link) and (link is not root or not _at_origin(link)):
            poses[link.name] = pose_from_matrix(robot.forward(q, link.name))
    return poses


def _at_origin(root: Link) -> bool:
    """Say whether a root link's frame is the root frame; SDFormat can have it elsewhere."""
    return bool(np.allclose(root.matrix, np.eye(4), atol=1e-12))
