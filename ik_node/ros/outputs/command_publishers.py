"""Commands as messages for controllers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ik_node.ros.process.named_entities import add_publisher
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


@dataclass(frozen=True)
class CommandedState:
    """
    Where commanded joints are at some time.

    Attributes
    ----------
    time : float
        From now on [s].
    positions : ndarray, shape (n,)
        [rad or m]
    velocities : ndarray, shape (n,)
        [rad/s or m/s]

    """

    time: float
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]


@dataclass(frozen=True)
class HardwareCommand:
    """
    Where joints are to be at the end of a period.

    Attributes
    ----------
    names : tuple of str
        Of the joint values.
    positions : ndarray, shape (n,)
        [rad or m]
    velocities : ndarray, shape (n,)
        Step of this tick over the period [rad/s or m/s].
    period : float
        [s]
    begin : CommandedState or None
        Where the joints are at the beginning of the period; None without a horizon.
    stop : CommandedState or None
        Where they come to rest when no further command follows; None without a horizon.

    """

    names: tuple[str, ...]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    period: float
    begin: CommandedState | None = None
    stop: CommandedState | None = None


_TOPICS = {
    'joint_trajectory': (JointTrajectory, '~/joint_trajectory'),
    'commands': (Float64MultiArray, '~/commands'),
}


class CommandPublishers:
    """
    Own the topics that controllers listen to.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publishers: dict[str, Any] = {}

    def set_type(self, output_type: str) -> None:
        """Have the topics of a value of `output.type`, and no others."""
        for name, (kind, topic) in _TOPICS.items():
            wanted = output_type in (name, 'both')
            if wanted and name not in self._publishers:
                self._publishers[name] = add_publisher(self._node, kind, topic)
            elif not wanted and name in self._publishers:
                self._node.destroy_publisher(self._publishers.pop(name))

    def publish(self, command: HardwareCommand) -> None:
        """Publish one command on every topic there is."""
        for name, publisher in self._publishers.items():
            fill = trajectory if name == 'joint_trajectory' else numbers
            publisher.publish(fill(command))


def trajectory(command: HardwareCommand) -> JointTrajectory:
    """
    Return the point to be reached one period from now; a stamp of 0 means now.

    With a horizon there is a point before it, the one to be reached now, and one after it, where
    the joints come to rest.
    """
    next_point = CommandedState(command.period, command.positions, command.velocities)
    states = (command.begin, next_point, command.stop)
    return JointTrajectory(
        joint_names=list(command.names),
        points=[_point(state) for state in states if state is not None],
    )


def _point(state: CommandedState) -> JointTrajectoryPoint:
    point = JointTrajectoryPoint()
    point.positions = state.positions.tolist()
    point.velocities = state.velocities.tolist()
    seconds, nanoseconds = divmod(round(1e9 * state.time), 1_000_000_000)
    point.time_from_start.sec, point.time_from_start.nanosec = seconds, nanoseconds
    return point


def numbers(command: HardwareCommand) -> Float64MultiArray:
    """Return the positions alone; their order is that of `output.joints`."""
    return Float64MultiArray(data=command.positions.tolist())
