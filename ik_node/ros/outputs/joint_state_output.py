"""~/joint_states."""

from __future__ import annotations

from typing import Any

from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import fill_joint_state
from ik_node.ros.messages.marker_bytes import blank_stamp, NUMBER
from ik_node.ros.messages.stamped_bytes import StampedBytes
from ik_node.ros.process.add_publisher import add_publisher
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import JointState

Array = NDArray[np.float64]


class JointStateOutput:
    """
    Publish positions and velocities; the names stay from tick to tick.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._publisher = add_publisher(node, JointState, '~/joint_states')
        self._message = JointState()
        self._bytes: StampedBytes | None = None

    def set_model(self, model: LoadedModel) -> None:
        """Write this model's joint names from now on."""
        count = len(model.joint_names)
        message = JointState(name=list(model.joint_names))
        blanks = np.full(count, NUMBER)
        fill_joint_state(message, blank_stamp(), blanks, blanks)
        self._bytes = StampedBytes(message, count, count)
        self._message = message

    def publish(self, position: Array, velocity: Array, stamp: Any) -> None:
        """
        Publish one configuration.

        Parameters
        ----------
        position : ndarray, shape (nq,)
            [rad, m]
        velocity : ndarray, shape (nq,)
            [rad/s, m/s]
        stamp : builtin_interfaces.msg.Time
            Time of the tick or of the measurement.

        """
        if self._bytes is not None and self._bytes.usable:
            self._publisher.publish(self._bytes.filled(stamp, position, velocity))
        else:
            fill_joint_state(self._message, stamp, position, velocity)
            self._publisher.publish(self._message)
