"""Transforms on /tf that joint states cannot express, by tf2 if it is installed."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import TransformStamped
from ik_node.model.rotation import pose_from_matrix, pose_inverse
from ik_node.robot import Robot
from ik_node.ros.loading.loaded_model import LoadedModel, multi_dof_joint_links
from ik_node.ros.messages.convert import Pose
from ik_node.ros.messages.names import base_poses, frame_name, root_frame
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node


def multi_dof_joint_poses(robot: Robot, q: NDArray[np.float64]) -> dict[tuple[str, str], Pose]:
    """
    Return the link poses that do not follow from a joint state and the description.

    robot_state_publisher skips joints with several DoF (floating, planar, ball) and does not know
    a floating base. The result has the pose of the link in the frame, by frame and link; it is
    empty for most robots.
    """
    world = root_frame(robot)
    poses = {(world, link): pose for link, pose in base_poses(robot, q).items()}
    for parent, child in multi_dof_joint_links(robot):
        between: NDArray[np.float64] = pose_inverse(robot.forward(q, parent)) @ robot.forward(
            q, child
        )
        poses[parent, child] = pose_from_matrix(between)
    return poses


class TransformOutput:
    """
    The broadcaster of a floating base and of joints with several DoF.

    It sends nothing for other robots.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._broadcaster: Any = None

    def publish(
        self, model: LoadedModel, q: NDArray[np.float64], stamp: Any, prefix: str = ''
    ) -> None:
        """
        Send the transforms of one configuration.

        `prefix`: prefix of link names.
        """
        if not model.has_transforms or not self._has_broadcaster():
            return
        poses, links = multi_dof_joint_poses(model.robot, q), model.robot.links
        transforms = []
        for (parent, child), pose in poses.items():
            frames = frame_name(parent, prefix, links), frame_name(child, prefix, links)
            transforms.append(transform_message(*frames, pose, stamp))
        self._broadcaster.sendTransform(transforms)

    def _has_broadcaster(self) -> bool:
        if self._broadcaster is None:
            try:
                from tf2_ros import TransformBroadcaster
            except ImportError:
                self._node.get_logger().warning(
                    'no transforms on /tf for the floating base and for joints with several '
                    'degrees of freedom: the package tf2_ros is not installed',
                    once=True,
                )
                return False
            self._broadcaster = TransformBroadcaster(self._node)
        return True


def transform_message(parent: str, child: str, pose: Pose, stamp: Any) -> TransformStamped:
    """Return the pose of frame `child` in frame `parent` as a message."""
    message = TransformStamped()
    message.header.stamp = stamp
    message.header.frame_id = parent
    message.child_frame_id = child
    move, turn = message.transform.translation, message.transform.rotation
    (move.x, move.y, move.z), (turn.x, turn.y, turn.z, turn.w) = pose
    return message
