"""What the node publishes: joint states, commands to hardware, and diagnostics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses
from dataclasses import dataclass, replace
from itertools import pairwise
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TransformStamped
from ik_node.errors import IkError, listed
from ik_node.model.collisions import CONTACT, Distance
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import Array, pose_from_matrix, pose_inverse
from ik_node.robot import Robot
from ik_node.ros.loading import LoadedModel, multi_dof_joint_links
from ik_node.ros.messages import (
    at_origin,
    ERROR,
    fill_diagnostics,
    fill_pose,
    OK,
    Pose,
    put_pose,
    StatusRow,
    WARN,
)
from ik_node.ros.parameters.settings import Outlet, split
from ik_node.ros.process import add_publisher, LATCHED, NamedEntities, NodeCounts, optional
from ik_node.solver import Solution, SolveResult, SolverOptions
from ik_node.transmission.state import Singularity
import numpy as np
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, String
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
        return replace(
            self,
            names=tuple(joints),
            positions=self.positions[indices],
            velocities=self.velocities[indices],
            begin=self.begin and self.begin.of(indices),
            stop=self.stop and self.stop.of(indices),
            efforts=None if self.efforts is None else self.efforts[indices],
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
        takers, reason = split([*self._plan_publishers()], list(message.joint_names))
        for outlet in takers:
            self.outlets[outlet].publish_plan(message)
        return reason

    def stop_plan(self, message: JointTrajectory) -> None:
        """Publish the trajectory that ends a plan; `close` waits until controllers have it."""
        if not self.publish_trajectory(message):
            for publisher in self._plan_publishers().values():
                publisher.ended, publisher.repeats = True, _REPEATS
            self._repeat_later()

    def leave_to_plan(self) -> None:
        """Send no more zeros in trajectories, because controllers begin to follow a plan."""
        for publisher in self._plan_publishers().values():
            publisher.forget()

    def _plan_publishers(self) -> dict[Outlet, _Publisher]:
        kind = 'joint_trajectory'
        return {each: made for each, made in self.outlets.items() if each.kind == kind}

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
        plain = self._outlet.kind != 'joint_trajectory'
        part = None if command is None else command.of(self._outlet.joints)
        message: Any = None
        if part is not None:
            message = numbers(part, interface) if plain else trajectory(part)
        if message is None or part is None:
            self._end()
            return
        if part.names != self._joints:
            # Zeros for other joints do not stop those that were commanded before.
            self._end()
            _finish([self])
        self._joints, self.repeats = part.names, 0
        self._last = None if plain and interface == 'position' else message
        self.publisher.publish(message)

    def publish_plan(self, message: JointTrajectory) -> None:
        """Publish a whole trajectory, which replaces the last command."""
        self._end_message = part_of(message, self._outlet.joints)
        self.publisher.publish(self._end_message)
        self.forget()

    def forget(self) -> None:
        """Send no end of the last command, because a plan replaces it."""
        self._last, self.repeats = None, 0

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


@dataclass(slots=True)
class TickReport:
    """The result of one tick, or of a measurement that is answered between ticks."""

    # Configuration to publish (nq,) [rad or m], with closed loops and within limits.
    q: NDArray[np.float64]
    # Difference to the last tick divided by the time between them, or to the answer to the last
    # measurement divided by the difference of their stamps (nq,) [rad/s or m/s].
    velocity: NDArray[np.float64]
    # The solver's result, also if it is reused from an earlier tick; None without a solve.
    solution: Solution | None
    held: str = ''  # Why `q` is that of the last tick, or why there was no solve; '' otherwise.
    notes: tuple[str, ...] = ()  # Further information for the user, for example about stale input.
    under_way: bool = False  # True if `q` is on the way to the solution, at the velocity limits.
    # Poses of the solved goals, root frame [m].
    goals: Mapping[str, Pose] = dataclasses.field(default_factory=dict)
    stale: bool = False  # True if input was stale and its age is not ignored.
    silent: bool = False  # True if joint states must not be published.
    # Efforts from measured ones (nq,) [N m or N]; None = unknown.
    effort: NDArray[np.float64] | None = None

    @property
    def converged(self) -> bool:
        """Return True if `q` meets every goal and closes every loop."""
        return (
            not self.held
            and not self.under_way
            and self.solution is not None
            and (self.solution.status.name == 'CONVERGED')
        )


_LEVELS = {'CONVERGED': OK, 'STALLED': WARN, 'TIMEOUT': WARN, 'DIVERGED': ERROR}


def solve_rows(report: TickReport) -> list[StatusRow]:
    """
    Return one row per chain.

    The message starts with CONVERGED only if the chain's goals are met, its loops are closed and
    this configuration is published.
    """
    solution = report.solution
    if solution is None:
        return [StatusRow(WARN, 'chain', f'not solved: {report.held}')]
    if not solution.chains:
        message = '; '.join(['CONVERGED: no goal and no loop', *report.notes])
        return [StatusRow(WARN if report.notes else OK, 'no chain', message)]
    rows = [_chain_row(chain, report) for chain in solution.chains]
    if solution.nearest is not None:
        for row in rows:
            row.values.update(_nearest_values(solution.nearest))
    return rows


def _chain_row(chain: SolveResult, report: TickReport) -> StatusRow:
    status = chain.status.name
    level = _LEVELS[status]
    if report.held:
        # The published configuration is not the one that the status describes.
        shown = 'STALLED' if status == 'CONVERGED' else status
        message = f'{shown}: holding the last configuration, {report.held}'
        level = ERROR
    elif report.under_way:
        message, level = 'STALLED: moving to the solution at the velocity limits', WARN
    elif status == 'CONVERGED':
        message = status
    else:
        message = chain.message
    if report.notes:
        level = max(level, WARN)
        message = '; '.join([message, *report.notes])
    values = {
        'iterations': str(chain.iterations),
        'starts': str(chain.starts),
        'solve_time': f'{chain.solve_time:.3g}',
    }
    for kind, errors in (('goal', chain.goal_errors), ('closure', chain.closure_errors)):
        for name, error in errors.items():
            values[f'{kind}.{name}.position'] = f'{error.position:.3g}'
            values[f'{kind}.{name}.orientation'] = f'{error.orientation:.3g}'
    values['active_limits'] = ' '.join(chain.active_limits)
    label = listed(chain.goal_errors or chain.closure_errors)
    return StatusRow(level, label, message, values)


def model_row(
    model: LoadedModel | None, refused: str, building: bool, released: Collection[str] = ()
) -> StatusRow:
    """Return the row of the model, and of why the last description was refused."""
    name = 'model'
    values: dict[str, str] = {'building': str(building).lower()}
    if model is None:
        if refused:
            return StatusRow(ERROR, name, f'no model: {refused}', values)
        if building:
            return StatusRow(WARN, name, 'building the first model', values)
        return StatusRow(WARN, name, 'waiting for robot_description', values)
    robot = model.robot
    values['robot'] = robot.name
    values['joints'] = str(len(model.joint_names))
    values['loops'] = str(len(robot.closures))
    values['goals'] = ' '.join(robot.goals)
    values['mobility'] = str(model.mobility)
    if released:
        values['released'] = ' '.join(sorted(released))
    if refused:
        message = f'keeping {robot.name}; the last description was refused: {refused}'
        return StatusRow(ERROR, name, message, values)
    return StatusRow(OK, name, f'robot {robot.name}', values)


def transmission_row(singularity: Singularity | None, warning: str, note: str) -> StatusRow:
    """Return the row of the joint space; `note` says why there is no transmission."""
    name = 'transmission'
    if singularity is None:
        return StatusRow(ERROR, name, f'no joint space: {note}')
    values = {
        'nearness': f'{singularity.nearness:.3g}',
        'condition': f'{singularity.condition:.3g}',
    }
    values |= {name: f'{getattr(singularity, name):.3g}' for name in ('ratio_1', 'ratio_2')}
    for kind in ('type_1', 'type_2'):
        least, largest = getattr(singularity, kind)
        values |= {f'{kind}.smallest': f'{least:.3g}', f'{kind}.largest': f'{largest:.3g}'}
    return StatusRow(WARN if warning else OK, name, warning or 'no singularity is near', values)


def collision_rows(
    model: LoadedModel, q: NDArray[np.float64], options: SolverOptions
) -> list[StatusRow]:
    """Return the diagnostic row of the least distance of bodies, if collisions are avoided."""
    collisions = model.robot.collisions
    if not collisions.avoided(options.avoid_collisions):
        return []
    name, nearest = 'collisions', collisions.nearest(q)
    values = {'obstacles': str(len(collisions.obstacles)), 'pairs': str(len(collisions.pairs))}
    if nearest is None:
        return [StatusRow(OK, name, 'no pair of bodies', values)]
    values |= _nearest_values(nearest)
    level = WARN if nearest.d < options.collision_margin - CONTACT else OK
    return [StatusRow(level, name, str(nearest), values)]


def _nearest_values(nearest: Distance) -> dict[str, str]:
    return {'nearest.distance': f'{nearest.d:.6g}', 'nearest.pair': ' '.join(nearest.pair)}


def rate_row(rate: float, target: float, counts: NodeCounts) -> StatusRow:
    """
    Return the diagnostic row of the tick rate [Hz] and of the message counts.

    It warns if more than one tick in twenty is missing. The count of one second is inexact by one.
    """
    late = rate < max(0.95 * target - 1.0, 0.5 * target)
    values = {
        'rate': f'{rate:.1f}',
        'wanted_rate': f'{target:g}',
        'ticks': str(counts.ticks),
        'missed_ticks': str(counts.missed_ticks),
        'longest_interval': f'{counts.longest_interval:.3g}',
        'goals': str(counts.goals),
        'joint_states': str(counts.joint_states),
    }
    message = f'{rate:.1f} of {target:g} Hz'
    if late:
        message += f': ticks are late, by up to {counts.longest_interval:.3g} s between two'
    return StatusRow(WARN if late else OK, 'ticks', message, values)


def twist_row(note: str) -> StatusRow:
    """Return the diagnostic row of goals by velocity; `note` says which one cannot follow."""
    return StatusRow(WARN if note else OK, 'twists', note or 'every goal follows')


def output_row(commanding: bool, note: str, fault: str = '') -> StatusRow:
    """Return the row of the outputs: why they do not follow the goals, or do not follow at all."""
    if not commanding:
        return StatusRow(WARN, 'output', f'silent: {note}')
    level = ERROR if fault else WARN if note else OK
    return StatusRow(level, 'output', ': '.join(filter(None, ('commanding', fault or note))))


def input_row(counts: Mapping[str, int], last: str, new: int) -> StatusRow:
    """Return the diagnostic row of refused messages: counts, last reason, number of new ones."""
    values = {topic: str(count) for topic, count in counts.items()}
    values['last'] = last
    message = f'{sum(counts.values())} messages refused' if counts else 'no message refused'
    return StatusRow(WARN if new else OK, 'input', message, values)


def multi_dof_joint_poses(robot: Robot, root: str, q: Array) -> dict[tuple[str, str], Pose]:
    """
    Return the link poses that do not follow from a joint state and the description.

    robot_state_publisher skips joints with several DoF (floating, planar, ball) and does not know
    a floating base, or one that is not at the origin of the frame `root`. The result has the pose
    of the link in the frame, by frame and link; it is empty for most robots.
    """
    poses = {}
    for base in robot.description.roots:
        link = base.child if isinstance(base, Joint) else base
        if isinstance(link, Link) and (link is not base or not at_origin(link)):
            poses[root, link.name] = pose_from_matrix(robot.forward(q, link.name))
    for parent, child in multi_dof_joint_links(robot):
        between: Array = pose_inverse(robot.forward(q, parent)) @ robot.forward(q, child)
        poses[parent, child] = pose_from_matrix(between)
    return poses


class TransformOutput:
    """The broadcaster of a floating base and of joints with several DoF."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._broadcaster: Any = None

    def publish(self, model: LoadedModel, q: Array, stamp: Any) -> None:
        """Send the transforms of one configuration."""
        if not model.has_transforms or not self._has_broadcaster():
            return
        names = model.frames
        poses = multi_dof_joint_poses(model.robot, names.root, q)
        self._broadcaster.sendTransform(
            [
                transform_message(names.frame(parent), names.frame(child), pose, stamp)
                for (parent, child), pose in poses.items()
            ]
        )

    def _has_broadcaster(self) -> bool:
        if self._broadcaster is None:
            lost = 'no transforms on /tf of a floating base and of joints with several axes'
            tf2_ros = optional('tf2_ros', self._node.get_logger().warning, lost)
            self._broadcaster = tf2_ros and tf2_ros.TransformBroadcaster(self._node)
        return self._broadcaster is not None


def transform_message(parent: str, child: str, pose: Pose, stamp: Any) -> TransformStamped:
    """Return the pose of frame `child` in frame `parent` as a message."""
    message = TransformStamped()
    message.header.stamp = stamp
    message.header.frame_id = parent
    message.child_frame_id = child
    put_pose(message.transform.translation, message.transform.rotation, pose)
    return message


class DescriptionOutput:
    """Publisher of the robot as URDF with its loops, for RViz and the browser page."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._publisher: Publisher | None = None
        self._text = ''

    def publish(self, robot: Robot) -> None:
        """Publish a robot, latched."""
        try:
            self._text = robot.to_urdf()
        except IkError as error:
            self._node.get_logger().warning(f'robot_description is not published: {error}')
            return
        if self._publisher is None:
            self._publisher = self._node.create_publisher(String, 'robot_description', LATCHED)
        self._publisher.publish(String(data=self._text))

    def is_own(self, text: str) -> bool:
        """Return True if a description is the published one."""
        return text == self._text


class NodeOutputs:
    """The publishers of each tick. Messages without subscribers are not computed."""

    def __init__(self, node: Node) -> None:
        self._name = node.get_fully_qualified_name().lstrip('/')
        self._joint_states = add_publisher(node, JointState, '~/joint_states')
        self._diagnostics = add_publisher(node, DiagnosticArray, '/diagnostics')
        self._status = add_publisher(node, DiagnosticArray, '~/solve_status')
        self._residuals = add_publisher(node, Float64MultiArray, '~/residuals')
        # One publisher `~/reached/<name>` for each goal.
        self.goal_topics = NamedEntities(
            *(node, 'publisher', 'goal', '~/reached/{}'),
            lambda name, topic: add_publisher(node, PoseStamped, topic),
        )
        # Messages are reused, because only some of their parts change.
        self._joint_state = JointState()
        self._solve_status, self._told = DiagnosticArray(), tuple[object, ...]()

    def set_model(self, model: LoadedModel) -> None:
        """Use the joint names of this model from now on."""
        self._joint_state = JointState(name=list(model.joint_names))

    def publish_state(
        self, report: TickReport, model: LoadedModel, stamp: Any, joints: bool
    ) -> None:
        """Publish `~/reached/<name>` and, if `joints` is True, `~/joint_states` of a report."""
        if joints:
            message = self._joint_state
            message.header.stamp = stamp
            message.position, message.velocity = report.q.tolist(), report.velocity.tolist()
            message.effort = [] if report.effort is None else report.effort.tolist()
            self._joint_states.publish(message)
        for name, publisher in self.goal_topics.entities.items():
            if publisher.get_subscription_count() and name in model.robot.goals:
                reached = PoseStamped()
                reached.header.stamp, reached.header.frame_id = stamp, model.root_frame
                fill_pose(reached.pose, model.reached(name, report.q))
                publisher.publish(reached)

    def publish_status(self, report: TickReport, model: LoadedModel, stamp: Any) -> None:
        """Publish `~/solve_status` and `~/residuals` of a tick."""
        if self._status.get_subscription_count():
            told = (report.solution, report.held, report.notes, report.under_way, model.robot.name)
            self._solve_status.header.stamp = stamp
            if told != self._told:
                self._told, rows = told, solve_rows(report)
                fill_diagnostics(self._solve_status, self._name, rows, stamp, model.robot.name)
            self._status.publish(self._solve_status)
        solution = report.solution
        if solution is not None and self._residuals.get_subscription_count():
            errors = [*solution.goal_errors.items(), *solution.closure_errors.items()]
            label, count = ','.join(name for name, _ in errors), len(errors)
            message = Float64MultiArray(data=[float(part) for _, each in errors for part in each])
            message.layout.dim = [
                MultiArrayDimension(label=label, size=count, stride=2 * count),
                MultiArrayDimension(label='position [m],orientation [rad]', size=2, stride=2),
            ]
            self._residuals.publish(message)

    def publish_diagnostics(self, rows: Sequence[StatusRow], stamp: Any, hardware_id: str) -> None:
        """Publish rows on /diagnostics."""
        message = DiagnosticArray()
        fill_diagnostics(message, self._name, rows, stamp, hardware_id)
        self._diagnostics.publish(message)
