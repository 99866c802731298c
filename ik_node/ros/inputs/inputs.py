"""Subscriptions to goals, joint states, commands and descriptions, and what they received."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import combinations
import time
from typing import Any, Literal, NamedTuple

from geometry_msgs.msg import PoseStamped, TwistStamped
from ik_node.errors import listed
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.robot import Robot
from ik_node.ros.inputs.obstacle_inputs import ObstacleInputs
from ik_node.ros.inputs.transform_lookup import TransformLookup, TransformNotYetError
from ik_node.ros.loading import JointRoles, LoadedModel
from ik_node.ros.messages import (
    check_position,
    command_from_message,
    JointValues,
    measurement_from_message,
    Pose,
    pose_from_message,
    pose_in_root,
    positions_from_message,
    Refusals,
    RefusedInputError,
    seconds_from_stamp,
    twist_from_message,
)
from ik_node.ros.process import LATCHED, NamedEntities, NodeCounts, NodeTime
import numpy as np
from numpy.typing import NDArray
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

# Largest number of joints that are stored before the robot is known.
_MOST_EARLY = 100_000
# Largest number of reported unknown names; the limit bounds the memory that a sender can use.
_MOST_REPORTED = 20_000


class _Measured(NamedTuple):
    """The last measurement of a joint; None = unknown."""

    value: float
    time: float
    arrival: int  # Number of its joint state.
    velocity: float | None
    effort: float | None


class MeasuredState:
    """The last measured positions, from complete and partial joint states, in [rad] and [m]."""

    def __init__(self) -> None:
        # Time of the last joint state [s]; None before the first one.
        self.time: float | None = None
        self.arrivals = 0  # Number of joint states so far.
        self.has_efforts = False  # True if the last joint state had efforts.
        self._joint_names: tuple[str, ...] = ()
        self._known: frozenset[str] | None = None
        self._last: dict[str, _Measured] = {}
        self._reported: set[str] = set()

    def set_joint_names(self, names: Sequence[str]) -> None:
        """Set the joints of the model, and drop the values of all other joints."""
        self._joint_names = tuple(names)
        known = self._known = frozenset(names)
        self._last = {
            name: each._replace(velocity=None, effort=None)
            for name, each in self._last.items()
            if name in known
        }
        self._reported.clear()

    def update(self, values: JointValues, time: float) -> tuple[str, ...]:
        """
        Store values measured at `time` [s].

        Return names that the model does not have, each only the first time, up to 20,000.
        """
        self.time = time
        self.arrivals += 1
        velocities, efforts = values.velocities, values.efforts
        self.has_efforts = bool(efforts)
        known = self._known
        unknown = []
        for name, position in values.positions.items():
            if name in known if known is not None else len(self._last) < _MOST_EARLY:
                self._last[name] = _Measured(
                    position, time, self.arrivals, velocities.get(name), efforts.get(name)
                )
            elif name not in self._reported and len(self._reported) < _MOST_REPORTED:
                self._reported.add(name)
                unknown.append(name)
        return tuple(unknown)

    def values(self, names: Iterable[str]) -> dict[str, float]:
        """Return the last value of each of these joints, without those never measured."""
        return self.values_since(names, 0)

    def velocities(self, names: Sequence[str]) -> list[float] | None:
        """Return the last velocity of each of these joints; None if one is unknown."""
        return self._all_of('velocity', names)

    def efforts(self, names: Sequence[str]) -> list[float] | None:
        """Return the last effort of each of these joints; None if one is unknown."""
        return self._all_of('effort', names)

    def _all_of(self, part: str, names: Sequence[str]) -> list[float] | None:
        values = [getattr(self._last[name], part) for name in names if name in self._last]
        return values if len(values) == len(names) > 0 and None not in values else None

    def values_since(self, names: Iterable[str], arrivals: int) -> dict[str, float]:
        """Return the values of these joints that arrived after joint state number `arrivals`."""
        last = self._last
        return {n: last[n].value for n in names if n in last and last[n].arrival > arrivals}

    def is_stale(self, now: float, timeout: float) -> bool:
        """Return True if the last joint state is older than `timeout` [s]; 0 = never."""
        return timeout > 0.0 and self.time is not None and now - self.time > timeout

    def stale(self, names: Iterable[str], now: float, timeout: float) -> tuple[str, ...]:
        """Return those of the joints whose own last value is older than `timeout` [s]."""
        if timeout <= 0.0:
            return ()
        last = self._last
        return tuple(name for name in names if name in last and now - last[name].time > timeout)

    def start(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a copy of `q` in which every measured joint has its measured value."""
        measured = q.copy()
        for index, name in enumerate(self._joint_names):
            if name in self._last:
                measured[index] = self._last[name].value
        return measured


class JointTargets:
    """
    The last target of each joint value [rad or m]; kept when the model is replaced.

    Targets come from a parameter, and from messages or services; for each joint the last one
    counts. `flag` is an attribute of joints that have a target of this kind.
    """

    def __init__(
        self,
        flag: Literal['target_set', 'rest_pose_set'] = 'target_set',
        set_value: Callable[[Joint, DOF, float], object] = Joint.set_target_value,
    ) -> None:
        self._flag, self._set_value = flag, set_value
        self._configured: dict[str, float] = {}
        self._received: dict[str, float] = {}

    def configure(self, values: Mapping[str, float]) -> None:
        """
        Replace the targets of the parameter.

        If they changed, they also replace the received targets of the same joint values, or a
        whole rest pose.
        """
        if dict(values) != self._configured:
            self._configured = dict(values)
            kept = {} if self._flag == 'rest_pose_set' else self._received
            self._received = {n: v for n, v in kept.items() if n not in values}

    def update(self, values: Mapping[str, float]) -> None:
        """Use the targets of a message, or a saved rest pose; the others stay."""
        self._received.update(values)

    def apply(self, robot: Robot) -> None:
        """
        Set them on the joints of a robot, and remove all others of the same kind.

        Names that the robot does not have are ignored. A joint has targets for all of its values
        or for none: the others get their present value as target.
        """
        values = {**self._configured, **self._received}
        for joint in robot.joint_order:
            setattr(joint, self._flag, False)
            if any(name in values for name in joint.value_names):
                for name, dof in zip(joint.value_names, joint.dof, strict=True):
                    self._set_value(joint, dof, values.get(name, joint.dof_values[dof]))

    def forget(self) -> None:
        """Forget all targets but those of the parameter."""
        self._received.clear()


# A command with velocities or efforts is stale after this time if goal_timeout is 0 [s]: nobody
# shall move on because its sender is gone.
VELOCITY_TIMEOUT = 0.5


class JointCommands:
    """The last command on `~/joint_command`, in force until the next command or goal."""

    def __init__(self) -> None:
        self.command: JointValues | None = None  # None if no command is in force.
        self.time = 0.0  # Time of the command [s].
        self._ranges: dict[str, tuple[float, float]] = {}

    def configure(self, model: LoadedModel, roles: JointRoles) -> None:
        """Accept commands for the joint space of this model, and drop one for other joints."""
        indices = [model.joint_names.index(name) for name in roles.joint_space]
        limits = zip(model.lower[indices].tolist(), model.upper[indices].tolist(), strict=True)
        self._ranges = dict(zip(roles.joint_space, limits, strict=True))
        if self.command is not None and not self._ranges.keys() >= self.command.names:
            self.clear()

    def put(self, command: JointValues, time: float, topic: str = 'joint_command') -> None:
        """Replace the command by one of `time` [s]; RefusedInputError if it is impossible."""
        for name in command.names:
            if name not in self._ranges:
                known = ', '.join(self._ranges) or 'empty'
                reason = f'it is not among transmission.joints, which are {known}'
                raise RefusedInputError(topic, 'name', name, reason)
        for name, value in command.positions.items():
            lower, upper = self._ranges[name]
            if not lower <= value <= upper:
                reason = f'its limits are {lower:.6g} and {upper:.6g}'
                raise RefusedInputError(topic, f'position of {name}', value, reason)
        self.command, self.time = command, time

    def clear(self) -> None:
        """Drop the command."""
        self.command = None

    def is_stale(self, now: float, timeout: float) -> bool:
        """Return True if the command is older than `timeout` [s]; 0 = never, for positions."""
        if timeout <= 0.0:
            command = self.command
            moves = command is not None and any(
                (*command.velocities.values(), *command.efforts.values())
            )
            timeout = VELOCITY_TIMEOUT if moves else float('inf')
        return now - self.time > timeout


# Of commands that are sent again and again only the newest counts, from any sender: a subscription
# with best effort receives from reliable senders as well.
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# The parameters qos_overrides.<topic>.subscription.* may change history, depth and reliability.
OVERRIDABLE_QOS = QoSOverridingOptions.with_default_policies()
# Longest time that a goal message waits for the transform of its stamp [s], and the largest
# number of waiting messages of one goal.
_LONGEST_WAIT = 1.0
_MOST_WAITING = 200


class Twist(NamedTuple):
    """The velocity of a goal's frame, root axes."""

    linear: NDArray[np.float64]  # (3,) [m/s]
    angular: NDArray[np.float64]  # (3,) [rad/s]


@dataclass
class _Goal:
    """What was accepted for a goal."""

    time: float  # Time of the last pose or twist [s].
    pose: Pose | None = None
    twist: Twist | None = None
    held: Pose | None = None  # Where its link was when it became stale.


class GoalInbox:
    """
    The last accepted pose or twist of each goal, in the root frame.

    A pose replaces an earlier pose or twist of the same goal. A twist moves the pose of its goal.
    Times are seconds of the node's clock.
    """

    def __init__(self) -> None:
        self.late: dict[str, float] = {}  # Goals whose last twist was too old, and its time [s].
        self._goals: dict[str, _Goal] = {}

    def put(self, name: str, pose: Pose, time: float) -> None:
        """Store the pose of a goal, valid at `time` [s]."""
        self._goals[name] = _Goal(time, pose)
        self.late.pop(name, None)

    def put_twist(self, name: str, twist: Twist, time: float) -> None:
        """Store the velocity of a goal, valid at `time` [s]."""
        goal = self._goals.setdefault(name, _Goal(time))
        goal.twist, goal.time, goal.held = twist, time, None

    def twists(self, now: float, timeout: float) -> Mapping[str, Twist]:
        """Return the twists that are not older than `timeout` [s], and drop the others."""
        for name, goal in self._goals.items():
            if goal.twist is not None and now - goal.time > timeout:
                goal.twist, self.late[name] = None, goal.time
        return {n: goal.twist for n, goal in self._goals.items() if goal.twist is not None}

    def age(self, name: str, now: float) -> float:
        """Return the age of a goal's pose or twist [s]."""
        return max(now - self._goals[name].time, 0.0)

    def names(self) -> set[str]:
        """Return the goals that have a pose or a twist."""
        return {name for name, goal in self._goals.items() if goal.pose or goal.twist}

    def move(self, name: str, pose: Pose) -> None:
        """Move the pose of a goal that has a twist."""
        self._goals[name].pose = pose

    def clear(self) -> None:
        """Remove the poses of all goals."""
        self.keep(())

    def keep(self, names: Collection[str]) -> None:
        """Remove the poses of all goals except those named."""
        self._goals = {name: goal for name, goal in self._goals.items() if name in names}
        self.late = {name: time for name, time in self.late.items() if name in names}

    def stale(self, now: float, timeout: float) -> tuple[str, ...]:
        """Return the goals older than `timeout` [s]; with a timeout of 0 no goal is stale."""
        if timeout <= 0.0:
            return ()
        return tuple(name for name, goal in self._goals.items() if now - goal.time > timeout)

    def hold(self, names: Collection[str], reached: Callable[[str], Pose]) -> None:
        """Replace each of these goals by the pose that its link has now, until its next pose."""
        for goal, name in [(self._goals[name], name) for name in names]:
            if goal.held is None:
                goal.held = reached(name)

    def poses(self) -> Mapping[str, Pose]:
        """Return the pose of each goal, received or held."""
        known = {name: goal.held or goal.pose for name, goal in self._goals.items()}
        return {name: pose for name, pose in known.items() if pose is not None}


class GoalInputs:
    """
    The subscriptions `~/goals/<name>`, from the callback to the pose in the root frame.

    A goal that arrives before the robot, or before the transform of its frame, waits. The node
    tries it again on every tick.
    """

    def __init__(
        self,
        node: Node,
        counts: NodeCounts,
        lookup: TransformLookup,
        time: NodeTime,
        refuse: Callable[[str, str], None],
    ) -> None:
        self.inbox = GoalInbox()  # The accepted poses.
        self._node, self._time = node, time
        self._counts = counts
        self._lookup = lookup
        self._refuse = refuse
        self._best_effort: set[str] = set()
        self._model: LoadedModel | None = None
        self._present_q: Callable[[], NDArray[np.float64]] = lambda: np.zeros(0)
        # Goals that wait for a robot or for their frame, with the time of their arrival [s],
        # oldest first.
        self._early: dict[str, deque[tuple[PoseStamped, float]]] = {}
        self.twist_topics = NamedEntities(
            *(node, 'subscription', 'goal', '~/goals/{}/twist'),
            lambda name, topic: node.create_subscription(
                TwistStamped, topic, partial(self.take_twist, name), NEWEST
            ),
        )
        # One subscription `~/goals/<name>` and one `~/goals/<name>/twist` for each goal.
        self.topics = NamedEntities(node, 'subscription', 'goal', '~/goals/{}', self._subscribe)

    def _subscribe(self, name: str, topic: str) -> Any:
        """Subscribe reliably, or with best effort if a sender offers only that."""
        reliable = name not in self._best_effort
        kind = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
        return self._node.create_subscription(
            PoseStamped,
            topic,
            partial(self.take_goal, name),
            QoSProfile(depth=1, reliability=kind),
            event_callbacks=SubscriptionEventCallbacks(
                incompatible_qos=partial(self._on_incompatible_qos, name, topic)
            ),
            qos_overriding_options=OVERRIDABLE_QOS if reliable else None,
        )

    def _on_incompatible_qos(self, name: str, topic: str, event: Any) -> None:
        """Subscribe again with best effort, which receives from reliable senders as well."""
        log = self._node.get_logger()
        if event.last_policy_kind != QoSPolicyKind.RELIABILITY or name in self._best_effort:
            log.warning(f'{topic}: a sender offers incompatible QoS; its goals are not received')
            return
        log.info(
            f'{topic}: a sender is best effort; the node subscribes with best effort from now on'
        )
        self._best_effort.add(name)
        self.topics.renew(name)

    def set_goals(self, names: Collection[str]) -> None:
        """Keep the poses of these goals only."""
        self.inbox.keep(names)
        self._best_effort.intersection_update(names)
        for name in [name for name in self._early if name not in names]:
            del self._early[name]

    def set_robot(self, model: LoadedModel, present_q: Callable[[], NDArray[np.float64]]) -> None:
        """Read goals for another robot; `present_q` returns its configuration (nq,) [rad or m]."""
        self._model, self._present_q = model, present_q

    def forget(self) -> None:
        """Drop all goals until they are sent again."""
        self.inbox.clear()
        self._early.clear()

    def take_goal(self, name: str, message: PoseStamped) -> None:
        """Accept, delay or refuse a pose for a goal. This is the callback of `~/goals/<name>`."""
        arrival = time.monotonic()
        failure = self._accept(name, message, arrival)
        if failure is None:
            # This pose also replaces earlier ones that still wait.
            self._early.pop(name, None)
        elif failure:
            waiting = self._early.setdefault(name, deque(maxlen=_MOST_WAITING))
            if not isinstance(failure, TransformNotYetError):
                waiting.clear()
            waiting.append((message, arrival))

    def take_twist(self, name: str, message: TwistStamped) -> None:
        """Accept or refuse a twist for a goal. This is the callback of `~/goals/<name>/twist`."""
        topic, model, header = f'goals/{name}/twist', self._model, message.header
        try:
            linear, angular = twist_from_message(topic, message.twist)
            if model is None:
                raise RefusedInputError(topic, 'twist', list(linear), 'no robot yet')
            frame = model.frames.pose(header.frame_id, self._present_q(), self._lookup.pose)
        except RefusedInputError as error:
            self._refuse(topic, str(error))
        except LookupError as error:
            # A sender of twists repeats them, so none waits for its frame.
            if not self._lookup.is_starting:
                self._refuse(topic, self._frame_error(topic, header.frame_id, error))
        else:
            rotation = np.eye(3) if frame is None else frame[:3, :3]
            self._counts.goals += 1
            twist = Twist(rotation @ linear, rotation @ angular)
            self.inbox.put_twist(name, twist, self._time.sent(message))

    def take_early_goals(self) -> None:
        """Try again to accept the goals that wait; the node calls this on every tick."""
        if self._early and self._model is not None:
            for name, waiting in list(self._early.items()):
                # The oldest comes first, so that the newest wins.
                while waiting and not self._accept(name, *waiting[0]):
                    waiting.popleft()
                if not waiting and self._early.get(name) is waiting:
                    del self._early[name]

    def _accept(
        self, name: str, message: PoseStamped, arrival: float
    ) -> LookupError | Literal[False] | None:
        """Accept a goal, or refuse it and return False, or return why it must wait."""
        topic = f'goals/{name}'
        try:
            self._store(name, message)
        except RefusedInputError as error:
            self._refuse(topic, str(error))
            return False
        except LookupError as failure:
            if self._may_wait(failure, arrival):
                return failure
            self._refuse(topic, self._frame_error(topic, message.header.frame_id, failure))
            return False
        return None

    def _store(self, name: str, message: PoseStamped) -> None:
        """Put a goal into the inbox; raise LookupError if its frame is not known."""
        model, header, topic = self._model, message.header, f'goals/{name}'
        pose = pose_from_message(topic, message.pose)
        if model is None:
            raise LookupError('')
        times = [self._time.sent(message)]

        def lookup(target: str, source: str) -> Any:
            pose, valid_at = self._lookup.pose_at(target, source, header.stamp)
            # A goal is as old as the transform that places it in the root frame.
            times.append(self._time.of(valid_at))
            return pose

        frame = model.frames.pose(header.frame_id, self._present_q(), lookup)
        if frame is not None:
            pose = pose_in_root(pose, frame)
            check_position(topic, pose[0])
        self._counts.goals += 1
        self.inbox.put(name, pose, min(times))

    def _may_wait(self, failure: LookupError, arrival: float) -> bool:
        """Return True if the robot or the transform may still arrive for a goal."""
        if isinstance(failure, TransformNotYetError):
            return time.monotonic() - arrival <= _LONGEST_WAIT
        return self._model is None or self._lookup.is_starting

    def _frame_error(self, topic: str, frame_id: str, failure: LookupError) -> str:
        """Return why a frame is not known; without a frame_id, `base_frame` names it."""
        reason = str(failure.args[0])
        if frame_id:
            return str(RefusedInputError(topic, 'header.frame_id', frame_id, reason))
        base = self._model and self._model.frames.base
        return str(RefusedInputError(topic, 'base_frame', base, reason))


# Largest number of joints whose messages are counted; it bounds the memory that a sender can use.
_MOST_JOINTS = 20_000


class JointStateSenders:
    """
    The publishers whose joint states arrive, and the joints that they name.

    Several publishers may each measure a part of the joints. If two name the same joint, such as
    joint_state_publisher beside a driver, the measured robot seems to jump between them.

    rclpy of ROS 2 Kilted tells the publisher of a message. That of ROS 2 Jazzy tells only the
    number that the publisher gave it: the numbers of one publisher rise, so those of a joint that
    two publish fall again and again. The warning then names all publishers of the topic.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        # The joints of each publisher, by its identifier in the middleware: since the last check,
        # and before it.
        self._new: dict[bytes, Sequence[str]] = {}
        self._old: dict[bytes, Sequence[str]] = {}
        # The number of the last message about each joint; the joints whose numbers fell since the
        # last check, and before it.
        self._numbers: dict[str, int] = {}
        self._new_falls: set[str] = set()
        self._old_falls: set[str] = set()

    def add(self, names: Sequence[str], info: Mapping[str, Any]) -> None:
        """Note the sender of a message that names these joints."""
        sender = info.get('publisher_gid')
        number = info.get('publication_sequence_number')
        if sender is not None:
            self._new[sender['data']] = names
        elif number is not None:
            if len(self._numbers) > _MOST_JOINTS:
                self._numbers.clear()
            numbers = self._numbers
            self._new_falls.update(name for name in names if number <= numbers.get(name, -1))
            numbers.update(dict.fromkeys(names, number))

    def fault(self) -> str:
        """Return a message if two publishers name a joint."""
        # A publisher that was restarted is not there twice: both must go on.
        active = {sender: names for sender, names in self._new.items() if sender in self._old}
        falls = sorted(self._new_falls & self._old_falls)
        self._old, self._new = self._new, {}
        self._old_falls, self._new_falls = self._new_falls, set()
        result = []
        for (one, first), (other, second) in combinations(active.items(), 2):
            shared = sorted(set(first).intersection(second))
            if shared:
                nodes = sorted(map(self._node_of, (one, other)))
                result.append(f'{nodes[0]} and {nodes[1]} both publish {listed(shared, 5)}')
        if falls:
            nodes = sorted(self._publishers().values())
            both = len(nodes) == 2
            which = f'{nodes[0]} and {nodes[1]} both' if both else f'several of {listed(nodes)}'
            result.append(f'{which} publish {listed(falls, 5)}')
        if not result:
            return ''
        return (
            f'joint_states: {"; ".join(sorted(result))}. The last message counts, so the measured '
            'robot jumps between them: stop one, or remap its topic'
        )

    def _publishers(self) -> dict[bytes, str]:
        """Return the full names of the nodes that publish joint states, by identifier."""
        topic = self._node.resolve_topic_name('joint_states')
        return {
            bytes(each.endpoint_gid): f'{each.node_namespace.rstrip("/")}/{each.node_name}'
            for each in self._node.get_publishers_info_by_topic(topic)
        }

    def _node_of(self, sender: bytes) -> str:
        """Return the full name of the node of a publisher."""
        for identifier, name in self._publishers().items():
            # The identifier of an endpoint may be longer than that of a message.
            if identifier[: len(sender)] == sender:
                return name
        return 'an unknown node'


class Inputs:
    """
    The subscriptions to goals, joint states, joint targets and robot descriptions.

    `on_measurement` is called with the joint names and the stamp of each joint state, after its
    values are in `measured`. For a message without a stamp, the stamp is the node's time.
    """

    def __init__(
        self,
        node: Node,
        counts: NodeCounts,
        on_description: Callable[[str], None],
        on_measurement: Callable[[Sequence[str], Any], None],
    ) -> None:
        self.measured = MeasuredState()  # The measured joint values.
        self.targets = JointTargets()  # The joint targets.
        self.commands = JointCommands()  # The joint-space command.
        self.refusals = Refusals()  # Counts of refused messages.
        self.senders = JointStateSenders(node)  # The publishers of joint_states.
        self.lookup = TransformLookup(node)  # Source of frames that do not belong to the robot.
        self.time = NodeTime(node, self.lookup.rewind)
        # The subscriptions to goals.
        self.goal_inputs = GoalInputs(node, counts, self.lookup, self.time, self.refuse)
        self.goals = self.goal_inputs.inbox  # The accepted goal poses.
        self.obstacles = ObstacleInputs(node, self.lookup, self.refuse)
        self._node = node
        self._on_measurement = on_measurement
        self._counts = counts
        self._model: LoadedModel | None = None
        subscribe = node.create_subscription
        subscribe(
            String, 'robot_description', lambda message: on_description(message.data), LATCHED
        )
        subscribe(
            JointState,
            'joint_states',
            self._take_joint_state,
            QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT),
            qos_overriding_options=OVERRIDABLE_QOS,
        )
        subscribe(JointState, '~/joint_targets', self._take_joint_targets, 1)
        subscribe(JointState, '~/joint_command', self._take_joint_command, NEWEST)
        with suppress(ImportError):
            from control_msgs.msg import JointJog

            subscribe(JointJog, '~/joint_jog', self._take_joint_jog, NEWEST)

    def set_robot(self, model: LoadedModel, present_q: Callable[[], NDArray[np.float64]]) -> None:
        """Read messages for another robot, whose configuration (nq,) `present_q` returns."""
        self._model = model
        self.goal_inputs.set_robot(model, present_q)
        self.obstacles.set_robot(model, present_q)
        self.measured.set_joint_names(model.joint_names)

    def forget(self) -> None:
        """Drop goals and joint targets until they are sent again."""
        self.goal_inputs.forget()
        self.commands.clear()
        if self._model is not None:
            self.targets.forget()
            self.targets.apply(self._model.robot)

    def refuse(self, topic: str, reason: str) -> None:
        """Count a refused message, and log it unless one on the same topic was just logged."""
        if self.refusals.add(topic, reason, time.monotonic()):
            self._node.get_logger().warning(reason)

    def _take_joint_state(self, message: JointState, info: Mapping[str, Any]) -> None:
        try:
            read = measurement_from_message('joint_states', message)
        except RefusedInputError as error:
            self.refuse('joint_states', str(error))
            return
        names = tuple(read.positions)
        self.senders.add(names, info)
        self._counts.joint_states += 1
        if len(set(message.name)) < len(message.name):
            twice = [name for name, count in Counter(message.name).items() if count > 1]
            self._node.get_logger().warning(
                f'joint_states: one message names {listed(twice, 5)} more than once; the last '
                'position counts',
                throttle_duration_sec=10.0,
            )
        unknown = self.measured.update(read, self.time.sent(message))
        if unknown:
            count = f' ({len(unknown)} in all)' if len(unknown) > 5 else ''
            self._node.get_logger().warning(
                f'joint_states: the robot has no joint {listed(unknown, 5)}{count}; ignored'
            )
        stamp = message.header.stamp
        if not seconds_from_stamp(stamp):
            stamp = self._node.get_clock().now().to_msg()
        self._on_measurement(names, stamp)

    def _take_joint_command(self, message: JointState, topic: str = 'joint_command') -> None:
        try:
            command = command_from_message(topic, message)
            if self._model is None:
                raise RefusedInputError(topic, 'name', list(message.name), 'no robot yet')
            self.commands.put(command, self.time.sent(message), topic)
        except RefusedInputError as error:
            self.refuse(topic, str(error))
        else:
            # The newer of goals and commands leads the robot.
            self.goals.clear()

    def _take_joint_jog(self, message: Any) -> None:
        """Take a control_msgs/JointJog as a command of velocities."""
        if len(message.displacements):
            given = ('displacements', list(message.displacements))
            error = RefusedInputError('joint_jog', *given, 'only velocities are taken')
            self.refuse('joint_jog', str(error))
            return
        names, velocities = message.joint_names, message.velocities
        velocities = JointState(header=message.header, name=names, velocity=velocities)
        self._take_joint_command(velocities, 'joint_jog')

    def _take_joint_targets(self, message: JointState) -> None:
        topic = 'joint_targets'
        try:
            positions = positions_from_message(topic, message)
            if self._model is not None:
                known = self._model.joint_names
                for name in positions:
                    if name not in known:
                        raise RefusedInputError(topic, 'name', name, 'the robot has no such joint')
        except RefusedInputError as error:
            self.refuse(topic, str(error))
            return
        self.targets.update(positions)
        if self._model is not None:
            self.targets.apply(self._model.robot)
