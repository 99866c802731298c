"""The subscriptions of the node, and the last accepted values of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
import time
from typing import Any

from ik_node.errors import listed
from ik_node.ros.inputs.goal_inputs import clock_time, GoalInputs, NEWEST, OVERRIDABLE_QOS, time_of
from ik_node.ros.inputs.joint_inputs import JointCommands, JointTargets, MeasuredState
from ik_node.ros.inputs.obstacle_inputs import ObstacleInputs
from ik_node.ros.inputs.transform_lookup import TransformLookup
from ik_node.ros.loading import LoadedModel
from ik_node.ros.messages import (
    command_from_message,
    measurement_from_message,
    positions_from_message,
    Refusals,
    RefusedInputError,
    seconds_from_stamp,
    status_name,
    StatusRow,
    WARN,
)
from ik_node.ros.process import LATCHED, NodeCounts
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String

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
        self._logged = ''

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

    def status_row(self) -> StatusRow | None:
        """Return a row for /diagnostics if two publishers name a joint; log it once."""
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
            return None
        message = (
            f'joint_states: {"; ".join(sorted(result))}. The last message counts, so the measured '
            'robot jumps between them: stop one, or remap its topic'
        )
        if message != self._logged:
            self._logged = message
            self._node.get_logger().warning(message)
        return StatusRow(WARN, f'{status_name(self._node)}: joint_states', message)

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

    `on_description` is called with the text of each robot_description. `on_measurement` is called
    with the joint names and the stamp (builtin_interfaces.msg.Time) of each joint state, after its
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
        # The subscriptions to goals.
        self.goal_inputs = GoalInputs(node, counts, self.lookup, self.refuse)
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

    def rewind(self, now: float) -> None:
        """Count ages from `now` [s], after the clock has jumped back."""
        self.goal_inputs.rewind(now)
        self.measured.rewind(now)
        self.commands.rewind(now)

    def now(self) -> float:
        """Return the time of the node's clock [s]."""
        return clock_time(self._node)

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
        names = read.names
        self.senders.add(names, info)
        self._counts.joint_states += 1
        if len(set(names)) < len(names):
            twice = [name for name, count in Counter(names).items() if count > 1]
            self._node.get_logger().warning(
                f'joint_states: one message names {listed(twice, 5)} more than once; the last '
                'position counts',
                throttle_duration_sec=10.0,
            )
        unknown = self.measured.update(
            names, read.positions, time_of(self._node, message), read.velocities, read.efforts
        )
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
            self.commands.put(command, time_of(self._node, message), topic)
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
            names, positions = positions_from_message(topic, message)
            if self._model is not None:
                known = self._model.joint_names
                for name in names:
                    if name not in known:
                        raise RefusedInputError(topic, 'name', name, 'the robot has no such joint')
        except RefusedInputError as error:
            self.refuse(topic, str(error))
            return
        self.targets.update(dict(zip(names, positions, strict=True)))
        if self._model is not None:
            self.targets.apply(self._model.robot)
