"""/tf of what joint states cannot show, through tf2 where it is installed."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import TransformStamped
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import Pose
from ik_node.ros.messages.frame_names import frame_name
from ik_node.ros.outputs.multi_dof_joints import wide_joint_ends, wide_joint_poses
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node


class TransformOutput:
    """
    Broadcast a floating base, and joints with several DoF; for other robots nothing is sent.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._broadcaster: Any = None
        self._model: LoadedModel | None = None
        self._wanted = False

    def publish(
        self, model: LoadedModel, q: NDArray[np.float64], stamp: Any, prefix: str = ''
    ) -> None:
        """
        Send the transforms of one configuration.

        Parameters
        ----------
        model : LoadedModel
            The one that moves.
        q : ndarray, shape (nq,)
            [rad or m]
        stamp : builtin_interfaces.msg.Time
            Of the tick or of the measurement.
        prefix : str
            Before the names of links.

        """
        if model is not self._model:
            self._model = model
            self._wanted = model.request.root != 'fixed' or bool(wide_joint_ends(model.robot))
        if not self._wanted or not self._has_broadcaster():
            return
        poses, links = wide_joint_poses(model.robot, q), model.robot.links
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
                    'no /tf of the floating base and of joints with several degrees of freedom: '
                    'the package tf2_ros is not installed',
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
