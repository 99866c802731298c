"""Joints with several degrees of freedom: joint states have room for one value a joint."""

from __future__ import annotations

from ik_node.model.link import Link
from ik_node.model.rotation import pose_inverse
from ik_node.robot import Robot
from ik_node.ros.messages.convert import Pose, pose_from_matrix
from ik_node.ros.messages.floating_base import base_poses, root_frame
import numpy as np
from numpy.typing import NDArray


def wide_joint_poses(robot: Robot, q: NDArray[np.float64]) -> dict[tuple[str, str], Pose]:
    """
    Return what nobody can work out from a joint state and the description.

    robot_state_publisher passes over joints of several DoF (floating, planar, balls), and knows
    nothing of a base that floats.

    Parameters
    ----------
    robot : Robot
        Any.
    q : ndarray, shape (nq,)
        [rad or m]

    Returns
    -------
    dict of (str, str) to (position, quat_xyzw)
        Frame and link to the pose of the link in the frame; empty for most robots.

    """
    world = root_frame(robot)
    poses = {(world, link): pose for link, pose in base_poses(robot, q).items()}
    for parent, child in wide_joint_ends(robot):
        between: NDArray[np.float64] = pose_inverse(robot.forward(q, parent)) @ robot.forward(
            q, child
        )
        poses[parent, child] = pose_from_matrix(between)
    return poses


def wide_joint_ends(robot: Robot) -> list[tuple[str, str]]:
    """Return the links before and behind every such joint within the robot."""
    return [
        (joint.parent.name, joint.child.name)
        for joint in robot.joint_order
        if len(joint.dof) > 1 and isinstance(joint.parent, Link) and joint.child is not None
    ]
