"""~/joint_states."""

from __future__ import annotations

from typing import Any

from ik_node.ros.convert import fill_joint_state
from ik_node.ros.model.loaded_model import LoadedModel
from ik_node.ros.outputs.add_publisher import add_publisher
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

    def set_model(self, model: LoadedModel) -> None:
        """Write this model's joint names from now on."""
        self._message = JointState(name=list(model.joint_names))

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
        fill_joint_state(self._message, stamp, position, velocity)
        self._publisher.publish(self._message)
