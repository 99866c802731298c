"""Publishers of commands to hardware, as trajectories and as plain numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ik_node.ros.parameters.output_settings import Outlet, split
from ik_node.ros.process.named_entities import add_publisher
import numpy as np
from numpy.typing import NDArray
from rclpy.duration import Duration
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

    def of(self, at: Sequence[int]) -> CommandedState:
        """Return the state of some of the joints, by their places."""
        return CommandedState(self.time, self.positions[at], self.velocities[at])


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
        Step of this tick divided by the time since the last one [rad/s or m/s].
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

    def of(self, joints: Sequence[str]) -> HardwareCommand:
        """Return the command of some of the joints; without joints, the same command."""
        if not joints or tuple(joints) == self.names:
            return self
        at = [self.names.index(name) for name in joints]
        return HardwareCommand(
            tuple(joints),
            self.positions[at],
            self.velocities[at],
            self.period,
            None if self.begin is None else self.begin.of(at),
            None if self.stop is None else self.stop.of(at),
            None if self.efforts is None else self.efforts[at],
        )


_KINDS: dict[str, type] = {'joint_trajectory': JointTrajectory, 'commands': Float64MultiArray}
# Longest wait for a controller to acknowledge that its drives stop, before its topic ends [s].
_LONGEST_WAIT = 0.5


class CommandPublishers:
    """
    The publishers of commands to controllers.

    Drives that follow velocities or efforts keep the last number that they get. So whenever
    commands end, those that move are followed by zeros, once.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._interface = 'position'
        self._outlets: dict[Outlet, _Publisher] = {}

    def set_outlets(self, outlets: Iterable[Outlet], interface: str = 'position') -> None:
        """Create the topics of these outlets for `output.interface`, and remove all others."""
        wanted = [each for each in outlets if each.kind in _KINDS]
        self._end([each for each in self._outlets if each not in wanted])
        if interface != self._interface:
            self.publish(None)
        self._interface = interface
        for outlet in wanted:
            if outlet not in self._outlets:
                made = add_publisher(self._node, _KINDS[outlet.kind], outlet.topic)
                self._outlets[outlet] = _Publisher(outlet, made)

    def publish(self, command: HardwareCommand | None) -> None:
        """Publish one command on every topic; None ends the commands."""
        for publisher in self._outlets.values():
            publisher.publish(command, self._interface)

    def publish_trajectory(self, message: JointTrajectory) -> str:
        """Publish a whole trajectory; return the reason why there are no topics for it, or ''."""
        topics = [each for each in self._outlets if each.kind == 'joint_trajectory']
        takers, reason = split(topics, list(message.joint_names))
        for outlet in takers:
            self._outlets[outlet].publish_plan(message)
        return reason

    def stop_plan(self, message: JointTrajectory) -> None:
        """Publish the trajectory that ends a plan; `close` waits until controllers have it."""
        if not self.publish_trajectory(message):
            for publisher in self._outlets.values():
                publisher.ended = True

    def leave_to_plan(self) -> None:
        """Send no more zeros in trajectories, because controllers begin to follow a plan."""
        for publisher in self._outlets.values():
            publisher.leave_to_plan()

    def close(self) -> None:
        """End the commands, wait until controllers know it, and remove all topics."""
        self._end(list(self._outlets))

    def _end(self, outlets: Sequence[Outlet]) -> None:
        """End the commands of some outlets, wait until controllers know it, remove the topics."""
        ended = [self._outlets.pop(outlet) for outlet in outlets]
        for publisher in ended:
            publisher.publish(None, self._interface)
        for publisher in ended:
            publisher.wait()
            self._node.destroy_publisher(publisher.publisher)


class _Publisher:
    """The publisher of one outlet, and the message whose motion must be ended."""

    def __init__(self, outlet: Outlet, publisher: Any) -> None:
        self.publisher = publisher
        self._outlet = outlet
        self._joints: tuple[str, ...] = ()
        # The last command, if drives may move on after it.
        self._last: Any = None
        self.ended = False

    def publish(self, command: HardwareCommand | None, interface: str) -> None:
        """Publish a command, or the end of the last one."""
        part = None if command is None else command.of(self._outlet.joints)
        message: Any = None
        if part is not None and self._outlet.kind == 'joint_trajectory':
            message = trajectory(part)
        elif part is not None:
            message = numbers(part, interface)
        # Zeros for other joints do not stop those that were commanded before.
        if message is None or part is None or part.names != self._joints:
            self._end()
        if message is None or part is None:
            return
        self._joints = part.names
        moves = self._outlet.kind == 'joint_trajectory' or interface != 'position'
        self._last = message if moves else None
        self.publisher.publish(message)

    def publish_plan(self, message: JointTrajectory) -> None:
        """Publish a whole trajectory, which replaces the last command."""
        self.publisher.publish(part_of(message, self._outlet.joints))
        self._last = None

    def leave_to_plan(self) -> None:
        """Send no end of the last command, if a plan replaces it."""
        if self._outlet.kind == 'joint_trajectory':
            self._last = None

    def wait(self) -> None:
        """Wait until everybody has the end of the commands, but not for ever."""
        if self.ended:
            self.publisher.wait_for_all_acked(Duration(seconds=_LONGEST_WAIT))

    def _end(self) -> None:
        """Stop the drives once, if they would move on."""
        last, self._last = self._last, None
        message = None if last is None else end_of(last)
        if message is not None:
            self.publisher.publish(message)
            self.ended = True


def end_of(last: Any) -> Any:
    """Return the message after which no drive moves on; None if none does after the last one."""
    if isinstance(last, Float64MultiArray):
        return Float64MultiArray(data=[0.0] * len(last.data))
    point = last.points[-1]
    if not any(point.velocities) and not any(point.effort):
        return None
    rest = JointTrajectoryPoint(positions=point.positions, time_from_start=point.time_from_start)
    rest.velocities = [0.0] * len(point.velocities)
    rest.effort = [0.0] * len(point.effort)
    return JointTrajectory(joint_names=last.joint_names, points=[rest])


def part_of(message: JointTrajectory, joints: Sequence[str]) -> JointTrajectory:
    """Return the trajectory of some of the joints; without joints, the same trajectory."""
    if not joints or list(joints) == list(message.joint_names):
        return message
    at = [list(message.joint_names).index(name) for name in joints]
    points = []
    for whole in message.points:
        point = JointTrajectoryPoint(time_from_start=whole.time_from_start)
        for field in ('positions', 'velocities', 'accelerations', 'effort'):
            values = getattr(whole, field)
            if len(values):
                setattr(point, field, [values[each] for each in at])
        points.append(point)
    return JointTrajectory(header=message.header, joint_names=list(joints), points=points)


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
