"""Publishers of commands to hardware, as trajectories and as plain numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
import time
from typing import Any

from ik_node.ros.parameters.settings import Outlet, split
from ik_node.ros.process import add_publisher
import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


@dataclass(frozen=True)
class CommandedState:
    """The commanded joint state at one time."""

    time: float  # Time from now [s].
    positions: NDArray[np.float64]  # Positions (n,) [rad or m].
    velocities: NDArray[np.float64]  # Velocities (n,) [rad/s or m/s].

    def of(self, indices: Sequence[int]) -> CommandedState:
        """Return the state of some of the joints, by their places."""
        return CommandedState(self.time, self.positions[indices], self.velocities[indices])


def between(before: CommandedState, after: CommandedState, time: float) -> CommandedState:
    """Return the state at a time between two others, on the cubic that controllers use."""
    span = after.time - before.time
    share, change = (time - before.time) / span, after.positions - before.positions
    # The cubic a s + b s^2 + c s^3, with the velocities of both states, of s = share.
    a = span * before.velocities
    b = 3.0 * change - 2.0 * a - span * after.velocities
    c = a + span * after.velocities - 2.0 * change
    positions = before.positions + share * (a + share * (b + share * c))
    return CommandedState(time, positions, (a + share * (2.0 * b + 3.0 * share * c)) / span)


@dataclass(frozen=True)
class HardwareCommand:
    """A command: the joint positions to reach, and when."""

    names: tuple[str, ...]  # Names of the joint values.
    positions: NDArray[np.float64]  # Positions to reach (n,) [rad or m].
    # Step of this tick divided by the time since the last one (n,) [rad/s or m/s].
    velocities: NDArray[np.float64]
    period: float  # Time from now until the positions are reached [s], at least the tick period.
    # State at the start of the period; None without a horizon.
    begin: CommandedState | None = None
    # State in which the joints stop if no further command follows; None without a horizon.
    stop: CommandedState | None = None
    # Efforts of the motors (n,) [N m or N]; None if none are commanded.
    efforts: NDArray[np.float64] | None = None
    # Velocity of a trajectory that reaches the positions in time, as a multiple of `velocities`.
    pace: float = 1.0

    @property
    def states(self) -> list[CommandedState]:
        """Return the states of a trajectory: the next one, with a horizon between two others."""
        next_state = CommandedState(self.period, self.positions, self.pace * self.velocities)
        return [each for each in (self.begin, next_state, self.stop) if each is not None]

    def state(self, time: float) -> CommandedState:
        """Return the state of the trajectory `time` [s] after it began, as controllers do."""
        states = self.states
        for before, after in pairwise(states):
            if before.time <= time < after.time:
                return between(before, after, time)
        return states[0 if time < states[0].time else -1]

    def later(self, time: float) -> HardwareCommand:
        """Return the same command as it is `time` [s] later; not after its period."""
        begin, stop = self.begin, self.stop
        if begin is not None:
            begin = self.state(max(time, begin.time))
            begin = replace(begin, time=begin.time - time)
        if stop is not None:
            stop = replace(stop, time=stop.time - time)
        return replace(self, period=self.period - time, begin=begin, stop=stop)

    def of(self, joints: Sequence[str]) -> HardwareCommand:
        """Return the command of some of the joints; without joints, the same command."""
        if not joints or tuple(joints) == self.names:
            return self
        indices = [self.names.index(name) for name in joints]
        return HardwareCommand(
            tuple(joints),
            self.positions[indices],
            self.velocities[indices],
            self.period,
            None if self.begin is None else self.begin.of(indices),
            None if self.stop is None else self.stop.of(indices),
            None if self.efforts is None else self.efforts[indices],
            self.pace,
        )


_KINDS: dict[str, type] = {'joint_trajectory': JointTrajectory, 'commands': Float64MultiArray}
# Longest wait for a controller to acknowledge that its drives stop, before its topic ends [s].
_LONGEST_WAIT = 0.5
# The controllers of ros2_control take commands without a guarantee of delivery, and a drive whose
# last message is lost goes on. So the message that ends commands is sent so often, so far apart.
_REPEATS, _REPEATED_EVERY = 4, 0.02
# Time from the last message of a topic to its end [s].
_LINGER = 0.1


class CommandPublishers:
    """
    The publishers of commands to controllers.

    Drives that follow velocities or efforts keep the last number that they get. So whenever
    commands end, those that move are followed by zeros, five times within 80 ms.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._interface = 'position'
        # The outlets that have a topic, each with its publisher.
        self.outlets: dict[Outlet, _Publisher] = {}
        # Simulated time may stand still.
        clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(
            _REPEATED_EVERY, self._repeat, clock=clock, autostart=False
        )

    def set_outlets(self, outlets: Iterable[Outlet], interface: str = 'position') -> None:
        """Create the topics of these outlets for `output.interface`, and remove all others."""
        kept = [each for each in outlets if each.kind in _KINDS]
        self._end([each for each in self.outlets if each not in kept])
        if interface != self._interface:
            self.publish(None)
            _finish(list(self.outlets.values()))
        self._interface = interface
        for outlet in kept:
            if outlet not in self.outlets:
                made = add_publisher(self._node, _KINDS[outlet.kind], outlet.topic)
                self.outlets[outlet] = _Publisher(outlet, made)

    def publish(self, command: HardwareCommand | None) -> None:
        """Publish one command on every topic; None ends the commands."""
        for publisher in self.outlets.values():
            publisher.publish(command, self._interface)
        self._repeat_later()

    def publish_trajectory(self, message: JointTrajectory) -> str:
        """Publish a whole trajectory; return the reason why there are no topics for it, or ''."""
        topics = [each for each in self.outlets if each.kind == 'joint_trajectory']
        takers, reason = split(topics, list(message.joint_names))
        for outlet in takers:
            self.outlets[outlet].publish_plan(message)
        return reason

    def stop_plan(self, message: JointTrajectory) -> None:
        """Publish the trajectory that ends a plan; `close` waits until controllers have it."""
        if not self.publish_trajectory(message):
            for publisher in self.outlets.values():
                publisher.repeat_plan()
            self._repeat_later()

    def leave_to_plan(self) -> None:
        """Send no more zeros in trajectories, because controllers begin to follow a plan."""
        for publisher in self.outlets.values():
            publisher.leave_to_plan()

    def close(self) -> None:
        """End the commands, wait until controllers know it, and remove all topics."""
        self._end(list(self.outlets))

    def _end(self, outlets: Sequence[Outlet]) -> None:
        """End the commands of some outlets, wait until controllers know it, remove the topics."""
        ended = [self.outlets.pop(outlet) for outlet in outlets]
        for publisher in ended:
            publisher.publish(None, self._interface)
        _finish(ended)
        for publisher in ended:
            publisher.wait()
        if any(publisher.ended for publisher in ended):
            # What a subscriber has not taken yet is lost with the publisher.
            time.sleep(_LINGER)
        for publisher in ended:
            self._node.destroy_publisher(publisher.publisher)

    def _repeat_later(self) -> None:
        if any(each.repeats for each in self.outlets.values()) and self._timer.is_canceled():
            self._timer.reset()

    def _repeat(self) -> None:
        for publisher in self.outlets.values():
            publisher.repeat()
        if not any(each.repeats for each in self.outlets.values()):
            self._timer.cancel()


def _finish(publishers: Sequence[_Publisher]) -> None:
    """Repeat the end of the commands of some outlets now, because their topics change."""
    while any(publisher.repeats for publisher in publishers):
        time.sleep(_REPEATED_EVERY)
        for publisher in publishers:
            publisher.repeat()


class _Publisher:
    """The publisher of one outlet, and the message whose motion must be ended."""

    def __init__(self, outlet: Outlet, publisher: Any) -> None:
        self.publisher = publisher
        self._outlet = outlet
        self._joints: tuple[str, ...] = ()
        # The last command, if drives may move on after it.
        self._last: Any = None
        # The last message of commands that have ended, or of a plan.
        self._end_message: Any = None
        self.repeats = 0  # How often the end of the commands is still to be sent.
        self.ended = False  # True once the end of commands has been sent.

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
        if part.names != self._joints:
            _finish([self])
        self._joints, self.repeats = part.names, 0
        moves = self._outlet.kind == 'joint_trajectory' or interface != 'position'
        self._last = message if moves else None
        self.publisher.publish(message)

    def publish_plan(self, message: JointTrajectory) -> None:
        """Publish a whole trajectory, which replaces the last command."""
        self._end_message = part_of(message, self._outlet.joints)
        self.publisher.publish(self._end_message)
        self._last, self.repeats = None, 0

    def leave_to_plan(self) -> None:
        """Send no end of the last command, if a plan replaces it."""
        if self._outlet.kind == 'joint_trajectory':
            self._last, self.repeats = None, 0

    def repeat_plan(self) -> None:
        """Repeat the plan that was just published, because it ends another one."""
        if self._outlet.kind == 'joint_trajectory':
            self.ended, self.repeats = True, _REPEATS

    def repeat(self) -> None:
        """Send the end of the commands once more, if it is to be repeated."""
        if self.repeats:
            self.repeats -= 1
            self._end_message = sooner(self._end_message, _REPEATED_EVERY)
            self.publisher.publish(self._end_message)

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
            self._end_message, self.repeats, self.ended = message, _REPEATS, True


def sooner(message: Any, seconds: float) -> Any:
    """Return a message that ends commands, with less time until its points [s], or as it is."""
    if isinstance(message, Float64MultiArray):
        return message
    points = []
    for each in message.points:
        span = Duration.from_msg(each.time_from_start).nanoseconds * 1e-9
        time = max(span - seconds, min(span, seconds))
        parts = {'positions': each.positions, 'velocities': each.velocities}
        points.append(point_at(time, **parts, effort=each.effort))
    return JointTrajectory(joint_names=message.joint_names, points=points)


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
    indices = [list(message.joint_names).index(name) for name in joints]
    points = []
    for whole in message.points:
        point = JointTrajectoryPoint(time_from_start=whole.time_from_start)
        for field in ('positions', 'velocities', 'accelerations', 'effort'):
            values = getattr(whole, field)
            if len(values):
                setattr(point, field, [values[each] for each in indices])
        points.append(point)
    return JointTrajectory(header=message.header, joint_names=list(joints), points=points)


def trajectory(command: HardwareCommand) -> JointTrajectory:
    """
    Return a trajectory with the point to reach at the end of the period; its stamp 0 means now.

    With a horizon, a point before it holds the present command, and a point after it the state in
    which the joints stop.
    """
    effort = [] if command.efforts is None else command.efforts.tolist()
    points = [
        point_at(
            each.time,
            positions=each.positions.tolist(),
            velocities=each.velocities.tolist(),
            effort=effort,
        )
        for each in command.states
    ]
    return JointTrajectory(joint_names=list(command.names), points=points)


def point_at(time: float, **parts: Sequence[float]) -> JointTrajectoryPoint:
    """Return a point of a trajectory at a time from its start [s]."""
    point = JointTrajectoryPoint(**parts)
    seconds, nanoseconds = divmod(round(1e9 * time), 1_000_000_000)
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
