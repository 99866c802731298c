"""Publishers of commands to hardware, as trajectories and as plain numbers."""

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
    The commanded joint state at one time.

    Attributes
    ----------
    time : float
        Time from now [s].
    positions : ndarray, shape (n,)
        Positions [rad or m].
    velocities : ndarray, shape (n,)
        Velocities [rad/s or m/s].

    """

    time: float
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]


@dataclass(frozen=True)
class HardwareCommand:
    """
    A command: the joint positions to reach at the end of a period.

    Attributes
    ----------
    names : tuple of str
        Names of the joint values.
    positions : ndarray, shape (n,)
        Positions at the end of the period [rad or m].
    velocities : ndarray, shape (n,)
        Step of this tick divided by the period [rad/s or m/s].
    period : float
        Tick period [s].
    begin : CommandedState or None
        State at the start of the period; None without a horizon.
    stop : CommandedState or None
        State in which the joints stop if no further command follows; None without a horizon.
    efforts : ndarray, shape (n,), or None
        Efforts of the motors [N m or N]; None if none are commanded.

    """

    names: tuple[str, ...]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    period: float
    begin: CommandedState | None = None
    stop: CommandedState | None = None
    efforts: NDArray[np.float64] | None = None


_TOPICS = {
    'joint_trajectory': (JointTrajectory, '~/joint_trajectory'),
    'commands': (Float64MultiArray, '~/commands'),
}


class CommandPublishers:
    """
    The publishers of commands to controllers.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publishers: dict[str, Any] = {}
        self._interface = 'position'
        # Length of the last array of velocities or efforts; 0 if zeros were sent after it.
        self._moving = 0

    def set_type(self, output_type: str, interface: str = 'position') -> None:
        """Create the topics for `output.type` and `output.interface`, and remove all others."""
        if interface != self._interface or output_type not in ('commands', 'both'):
            self.publish(None)
        self._interface = interface
        for name, (kind, topic) in _TOPICS.items():
            wanted = output_type in (name, 'both')
            if wanted and name not in self._publishers:
                self._publishers[name] = add_publisher(self._node, kind, topic)
            elif not wanted and name in self._publishers:
                self._node.destroy_publisher(self._publishers.pop(name))

    def publish(self, command: HardwareCommand | None) -> None:
        """
        Publish one command on every existing topic.

        Without a command, stop drives that follow velocities or efforts, which would otherwise
        keep the last ones: send zeros once.
        """
        for name, publisher in self._publishers.items():
            if name == 'commands':
                self._publish_numbers(publisher, command)
            elif command is not None:
                publisher.publish(trajectory(command))

    def publish_trajectory(self, message: JointTrajectory) -> bool:
        """Publish a whole trajectory; return False if `output.type` has none."""
        publisher = self._publishers.get('joint_trajectory')
        if publisher is None:
            return False
        publisher.publish(message)
        return True

    def _publish_numbers(self, publisher: Any, command: HardwareCommand | None) -> None:
        message = None if command is None else numbers(command, self._interface)
        if message is None and self._moving:
            message = Float64MultiArray(data=[0.0] * self._moving)
            self._moving = 0
        elif message is not None and self._interface != 'position':
            self._moving = len(message.data)
        if message is not None:
            publisher.publish(message)


def trajectory(command: HardwareCommand) -> JointTrajectory:
    """
    Return a trajectory with the point to reach one period from now; its stamp 0 means now.

    With a horizon, a point before it holds the present command, and a point after it the state in
    which the joints stop.
    """
    next_point = CommandedState(command.period, command.positions, command.velocities)
    states = (command.begin, next_point, command.stop)
    points = [_point(state) for state in states if state is not None]
    if command.efforts is not None:
        for point in points:
            point.effort = command.efforts.tolist()
    return JointTrajectory(joint_names=list(command.names), points=points)


def _point(state: CommandedState) -> JointTrajectoryPoint:
    point = JointTrajectoryPoint()
    point.positions = state.positions.tolist()
    point.velocities = state.velocities.tolist()
    seconds, nanoseconds = divmod(round(1e9 * state.time), 1_000_000_000)
    point.time_from_start.sec, point.time_from_start.nanosec = seconds, nanoseconds
    return point


def numbers(command: HardwareCommand, interface: str = 'position') -> Float64MultiArray | None:
    """Return positions, velocities or efforts in the order of `output.joints`; None if unknown."""
    values = {
        'position': command.positions,
        'velocity': command.velocities,
        'effort': command.efforts,
    }[interface]
    return None if values is None else Float64MultiArray(data=values.tolist())
