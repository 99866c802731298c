"""What the node subscribes to, checked at the door."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from functools import partial
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
from ik_node.errors import listed
from ik_node.ros.inputs.goal_inbox import GoalInbox
from ik_node.ros.inputs.joint_targets import JointTargets
from ik_node.ros.inputs.measured_state import MeasuredState
from ik_node.ros.inputs.transform_lookup import TransformLookup, TransformNotYetError
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import (
    pose_from_message,
    pose_in_root,
    positions_from_message,
    seconds_from_stamp,
)
from ik_node.ros.messages.frame_names import frame_in_root
from ik_node.ros.messages.refusals import Refusals, RefusedInputError
from ik_node.ros.process.named_entities import LATCHED, NamedEntities
from ik_node.ros.process.node_counts import NodeCounts
import numpy as np
from numpy.typing import NDArray
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

# Parameters qos_overrides.<topic>.subscription.* may change history, depth and reliability.
_OVERRIDABLE = QoSOverridingOptions.with_default_policies()
# A goal waits for the transform of its stamp no longer than this [s], and no more of them do.
_LONGEST_WAIT = 1.0
_MOST_WAITING = 200


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
    on_measurement : callable
        Takes the joint names and the stamp (builtin_interfaces.msg.Time) of each measured joint
        state, once its values are in `measured`; the stamp is the node's time if there is none.

    Attributes
    ----------
    goals : GoalInbox
    goal_topics : NamedEntities
        One subscription `~/goals/<name>` for each goal.
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
        on_measurement: Callable[[Sequence[str], Any], None],
    ) -> None:
        self.goals = GoalInbox()
        self.measured = MeasuredState()
        self.targets = JointTargets()
        self.refusals = Refusals()
        self._node = node
        self._on_measurement = on_measurement
        self._counts = counts
        self._best_effort: set[str] = set()
        self._model: LoadedModel | None = None
        self._present_q: Callable[[], NDArray[np.float64]] = lambda: np.zeros(0)
        self._base_frame = ''
        self.lookup = TransformLookup(node)
        self.goal_topics = NamedEntities(
            'goal',
            '~/goals/{}',
            node.resolve_topic_name,
            self._subscribe_goal,
            node.destroy_subscription,
        )
        self._frame_prefix = ''
        # Goals that wait for a robot or for their frame, and since when [s]; the oldest first.
        self._early: dict[str, deque[tuple[PoseStamped, float]]] = {}
        subscribe = node.create_subscription
        subscribe(
            String, 'robot_description', lambda message: on_description(message.data), LATCHED
        )
        subscribe(
            JointState,
            'joint_states',
            self._take_joint_state,
            QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT),
            qos_overriding_options=_OVERRIDABLE,
        )
        subscribe(JointState, '~/joint_targets', self._take_joint_targets, 1)

    def _subscribe_goal(self, name: str, topic: str) -> Any:
        """Listen reliably, with the QoS that parameters may override, or else as senders need."""
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
            qos_overriding_options=_OVERRIDABLE if reliable else None,
        )

    def _on_incompatible_qos(self, name: str, topic: str, event: Any) -> None:
        """Listen to best-effort senders as well once there is one: it hears reliable ones, too."""
        log = self._node.get_logger()
        if event.last_policy_kind != QoSPolicyKind.RELIABILITY or name in self._best_effort:
            log.warning(f'{topic}: a sender offers incompatible QoS; its goals are not heard')
            return
        log.info(f'{topic}: a sender is best effort; goals are heard best effort from now on')
        self._best_effort.add(name)
        self.goal_topics.renew(name)

    def set_goals(self, names: Collection[str], base_frame: str, frame_prefix: str = '') -> None:
        """Have poses of these goals only; one without a frame is in `base_frame`."""
        self._base_frame, self._frame_prefix = base_frame, frame_prefix
        self.goals.keep(names)
        self._best_effort.intersection_update(names)
        for name in [name for name in self._early if name not in names]:
            del self._early[name]

    def set_robot(self, model: LoadedModel, present_q: Callable[[], NDArray[np.float64]]) -> None:
        """
        Read messages for another robot from now on.

        Parameters
        ----------
        model : LoadedModel
            Of the robot.
        present_q : callable
            Returns the robot's present configuration, shape (nq,) [rad or m].

        """
        self._model, self._present_q = model, present_q
        self.measured.set_joint_names(model.joint_names)

    def take_early_goals(self) -> None:
        """Take what could not be read yet, without a robot or its frame; to be tried each tick."""
        if self._early and self._model is not None:
            for name, waiting in list(self._early.items()):
                # Each replaces the one before.
                while waiting and self._settle(name, *waiting[0]):
                    waiting.popleft()
                if not waiting and self._early.get(name) is waiting:
                    del self._early[name]

    def forget(self) -> None:
        """Drop goals and wishes until they are sent again."""
        self.goals.clear()
        self._early.clear()
        if self._model is not None:
            self.targets.clear(self._model.robot)

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
            pose_from_message(topic, message.pose)
        except RefusedInputError as error:
            self.refuse(topic, str(error))
            return
        since = time.monotonic()
        obstacle = self._obstacle(name, message)
        if obstacle is None:
            # The last wins, also over those that wait.
            self._early.pop(name, None)
        elif self._may_wait(obstacle, since):
            waiting = self._early.setdefault(name, deque(maxlen=_MOST_WAITING))
            if not isinstance(obstacle, TransformNotYetError):
                waiting.clear()
            waiting.append((message, since))
        else:
            self._refuse_frame(name, message, obstacle)

    def _settle(self, name: str, message: PoseStamped, since: float) -> bool:
        """Take or refuse a goal that has waited since then; return False if it waits on."""
        obstacle = self._obstacle(name, message)
        if obstacle is not None:
            if self._may_wait(obstacle, since):
                return False
            self._refuse_frame(name, message, obstacle)
        return True

    def _obstacle(self, name: str, message: PoseStamped) -> LookupError | None:
        """Take a goal; return why its frame cannot be had, if it cannot."""
        model, header = self._model, message.header
        if model is None:
            return LookupError('')
        times = [self._time_of(message)]

        def lookup(target: str, source: str) -> Any:
            found, of = self.lookup.pose_at(target, source, header.stamp)
            # A goal is as old as the transform that it is read by.
            times.extend([of] if of > 0.0 else [])
            return found

        robot, q = model.robot, self._present_q()
        try:
            frame = frame_in_root(
                header.frame_id, self._base_frame, robot, q, lookup, self._frame_prefix
            )
        except LookupError as error:
            return error
        pose = pose_from_message(f'goals/{name}', message.pose)
        self._counts.goals += 1
        self.goals.put(name, pose if frame is None else pose_in_root(pose, frame), min(times))
        return None

    def _may_wait(self, obstacle: LookupError, since: float) -> bool:
        if isinstance(obstacle, TransformNotYetError):
            return time.monotonic() - since <= _LONGEST_WAIT
        return self._model is None or self.lookup.is_new

    def _refuse_frame(self, name: str, message: PoseStamped, obstacle: LookupError) -> None:
        topic, frame_id = f'goals/{name}', message.header.frame_id
        error = RefusedInputError(topic, 'header.frame_id', frame_id, str(obstacle.args[0]))
        self.refuse(topic, str(error))

    def _take_joint_state(self, message: JointState) -> None:
        try:
            names, positions = positions_from_message('joint_states', message)
        except RefusedInputError as error:
            self.refuse('joint_states', str(error))
            return
        self._counts.joint_states += 1
        if len(set(names)) < len(names):
            twice = [name for name, count in Counter(names).items() if count > 1]
            self._node.get_logger().warning(
                f'joint_states: one message names {listed(twice, 5)} more than once; the last '
                'position counts',
                throttle_duration_sec=10.0,
            )
        unknown = self.measured.update(names, positions, self._time_of(message))
        if unknown:
            count = f' ({len(unknown)} in all)' if len(unknown) > 5 else ''
            self._node.get_logger().warning(
                f'joint_states: the robot has no joint {listed(unknown, 5)}{count}; ignored'
            )
        stamp = message.header.stamp
        if not seconds_from_stamp(stamp):
            stamp = self._node.get_clock().now().to_msg()
        self._on_measurement(names, stamp)

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
        self.targets.update(names, positions)
        if self._model is not None:
            self.targets.apply(self._model.robot)
