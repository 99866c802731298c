"""What the node subscribes to, checked at the door."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
from ik_node.ros.convert import (
    pose_from_message,
    pose_in_root,
    positions_from_message,
    seconds_from_stamp,
)
from ik_node.ros.goals.goal_frames import frame_in_root
from ik_node.ros.goals.goal_inbox import GoalInbox
from ik_node.ros.goals.transform_lookup import TransformLookup
from ik_node.ros.joints.joint_targets import JointTargets
from ik_node.ros.joints.measured_state import MeasuredState
from ik_node.ros.node_counts import NodeCounts
from ik_node.ros.outputs.latched import LATCHED
from ik_node.ros.parameters.names import topic_parts
from ik_node.ros.rare_callbacks import RareCallbacks
from ik_node.ros.refusals import Refusals
from ik_node.ros.refused_input import RefusedInputError
from ik_node.ros.tracker import Tracker
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String


class Inputs:
    """
    Own the subscriptions; keep the last good goal poses and measured joint values.

    Parameters
    ----------
    node : rclpy.node.Node
    counts : NodeCounts
        Where accepted messages are counted.
    on_description : callable
        Takes the text of each robot_description.
    rare : RareCallbacks
        Takes what may wait for a moment.

    Attributes
    ----------
    goals : GoalInbox
    measured : MeasuredState
    targets : JointTargets
    refusals : Refusals
    lookup : TransformLookup

    """

    def __init__(
        self,
        node: Node,
        counts: NodeCounts,
        on_description: Callable[[str], None],
        rare: RareCallbacks,
    ) -> None:
        self.goals = GoalInbox()
        self.measured = MeasuredState()
        self.targets = JointTargets()
        self.refusals = Refusals()
        self._node = node
        self._counts = counts
        self._rare = rare
        self._tracker: Tracker | None = None
        self._base_frame = ''
        self.lookup = TransformLookup(node)
        self._subscriptions: dict[str, Any] = {}
        self._early: dict[str, PoseStamped] = {}
        rare.take(
            self._subscribe(
                String, 'robot_description', lambda message: on_description(message.data), LATCHED
            )
        )
        self._subscribe(
            JointState,
            'joint_states',
            self._take_joint_state,
            QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT),
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )
        self._subscribe(JointState, '~/joint_targets', self._take_joint_targets, 1)

    def _subscribe(
        self, kind: type, topic: str, take: Callable[..., None], *qos: Any, **more: Any
    ) -> Any:
        subscription = self._node.create_subscription(kind, topic, take, *qos, **more)
        # They say that a sender's QoS or type does not fit.
        self._rare.take(*subscription.event_handlers)
        return subscription

    def set_goals(self, names: Iterable[str], base_frame: str) -> None:
        """Listen to one `~/goals/<name>` for each of these goals."""
        self._base_frame = base_frame
        parts = topic_parts(names, 'goal')
        for name in [name for name in self._subscriptions if name not in parts]:
            self._node.destroy_subscription(self._subscriptions.pop(name))
            self._early.pop(name, None)
        self.goals.keep(parts)
        for name, part in parts.items():
            if name not in self._subscriptions:
                self._subscriptions[name] = self._subscribe(
                    PoseStamped, f'~/goals/{part}', partial(self.take_goal, name), 1
                )

    def set_tracker(self, tracker: Tracker) -> None:
        """Take up a model."""
        self._tracker = tracker
        self.measured.set_joint_names(tracker.model.joint_names)

    def take_early_goals(self) -> None:
        """Take what could not be read yet, without a robot or its frame; to be tried each tick."""
        if self._early and self._tracker is not None:
            early, self._early = self._early, {}
            for name, message in early.items():
                self.take_goal(name, message)

    def forget(self) -> None:
        """Drop goals and wishes until they are sent again."""
        self.goals.clear()
        self._early.clear()
        if self._tracker is not None:
            self.targets.clear(self._tracker.model.robot)

    def rewind(self, now: float) -> None:
        """Count ages from `now` [s]: the clock has jumped back."""
        self.goals.rewind(now)
        self.measured.rewind(now)
        self.lookup.rewind()

    def now(self) -> float:
        """Return the time of the node's clock [s]."""
        return 1e-9 * float(self._node.get_clock().now().nanoseconds)

    def _time_of(self, message: Any) -> float:
        """Return when a message was sent [s]; nothing comes from the future."""
        now = self.now()
        return min(seconds_from_stamp(message.header.stamp) or now, now)

    def refuse(self, topic: str, reason: str) -> None:
        """Count an input that cannot be used; log it unless one of its kind just was."""
        if self.refusals.add(topic, reason, time.monotonic()):
            self._node.get_logger().warning(reason)

    def take_goal(self, name: str, message: PoseStamped) -> None:
        """Take a pose for a goal, or refuse it: what ~/goals/<name> calls."""
        topic = f'goals/{name}'
        try:
            pose = pose_from_message(topic, message.pose)
            # The last wins, also over one that waits.
            self._early.pop(name, None)
            tracker = self._tracker
            if tracker is None:
                self._early[name] = message
                return
            frame_id = message.header.frame_id
            try:
                frame = frame_in_root(
                    frame_id, self._base_frame, tracker.model.robot, tracker.q, self.lookup.pose
                )
            except LookupError as error:
                if self.lookup.is_new:
                    self._early[name] = message
                    return
                raise RefusedInputError(
                    topic, 'header.frame_id', frame_id, str(error.args[0])
                ) from None
        except RefusedInputError as error:
            self.refuse(topic, str(error))
            return
        if frame is not None:
            pose = pose_in_root(pose, frame)
        self._counts.goals += 1
        self.goals.put(name, pose, self._time_of(message))

    def _take_joint_state(self, message: JointState) -> None:
        try:
            names, positions = positions_from_message('joint_states', message)
        except RefusedInputError as error:
            self.refuse('joint_states', str(error))
            return
        self._counts.joint_states += 1
        unknown = self.measured.update(names, positions, self._time_of(message))
        if unknown:
            self._node.get_logger().warning(
                'joint_states: the robot has no joint ' + ', '.join(unknown) + '; ignored'
            )

    def _take_joint_targets(self, message: JointState) -> None:
        topic = 'joint_targets'
        try:
            names, positions = positions_from_message(topic, message)
            if self._tracker is not None:
                known = self._tracker.model.joint_names
                for name in names:
                    if name not in known:
                        raise RefusedInputError(topic, 'name', name, 'the robot has no such joint')
        except RefusedInputError as error:
            self.refuse(topic, str(error))
            return
        self.targets.update(names, positions)
        if self._tracker is not None:
            self.targets.apply(self._tracker.model.robot)
