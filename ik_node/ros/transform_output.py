"""/tf of a base that floats, through tf2 where it is installed."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import TransformStamped
from ik_node.ros.convert import Pose
from ik_node.ros.floating_base import base_poses
from ik_node.ros.loaded_model import LoadedModel
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node


class TransformOutput:
    """
    Broadcast where the floating base is; for a robot that is fixed nothing is made or sent.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._broadcaster: Any = None

    def publish(self, model: LoadedModel, q: NDArray[np.float64], stamp: Any) -> None:
        """
        Send the transforms of one tick.

        Parameters
        ----------
        model : LoadedModel
            The one that moves.
        q : ndarray, shape (nq,)
            [rad or m]
        stamp : builtin_interfaces.msg.Time
            Of the tick.

        """
        if model.request.root == 'fixed' or not self._has_broadcaster():
            return
        poses = base_poses(model.robot, q)
        transforms = [
            transform_message(model.root_frame, link, pose, stamp) for link, pose in poses.items()
        ]
        self._broadcaster.sendTransform(transforms)

    def _has_broadcaster(self) -> bool:
        if self._broadcaster is None:
            try:
                from tf2_ros import TransformBroadcaster
            except ImportError:
                self._node.get_logger().warning(
                    'no /tf of the floating base: the package tf2_ros is not installed', once=True
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
