"""Subscriptions to goals: each message is checked, transformed to the root frame and kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
import time
from typing import Any, NamedTuple

from geometry_msgs.msg import PoseStamped, TwistStamped
from ik_node.ros.inputs.transform_lookup import TransformLookup, TransformNotYetError
from ik_node.ros.loading import LoadedModel
from ik_node.ros.messages import (
    check_position,
    Pose,
    pose_from_message,
    pose_in_root,
    RefusedInputError,
    seconds_from_stamp,
    twist_from_message,
)
from ik_node.ros.process import NamedEntities, NodeCounts
import numpy as np
from numpy.typing import NDArray
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions

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
        self._all: dict[str, Pose] | None = None

    def put(self, name: str, pose: Pose, time: float) -> None:
        """Store the pose of a goal, valid at `time` [s]."""
        self._all = None
        self._goals[name] = _Goal(time, pose)
        self.late.pop(name, None)

    def put_twist(self, name: str, twist: Twist, time: float) -> None:
        """Store the velocity of a goal, valid at `time` [s]."""
        self._all = None
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
        self._all, self._goals[name].pose = None, pose

    def rewind(self, now: float) -> None:
        """Limit all times to `now` [s], after the clock has jumped back."""
        for goal in self._goals.values():
            goal.time = min(goal.time, now)

    def clear(self) -> None:
        """Remove the poses of all goals."""
        self.keep(())

    def keep(self, names: Collection[str]) -> None:
        """Remove the poses of all goals except those named."""
        self._all = None
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
                self._all, goal.held = None, reached(name)

    def poses(self) -> Mapping[str, Pose]:
        """Return the pose of each goal, received or held; the same object until one changes."""
        if self._all is None:
            known = {name: goal.held or goal.pose for name, goal in self._goals.items()}
            self._all = {name: pose for name, pose in known.items() if pose is not None}
        return self._all


class GoalInputs:
    """
    The subscriptions `~/goals/<name>`, from the callback to the pose in the root frame.

    A goal that arrives before the robot, or before the transform of its frame, waits. The node
    tries it again on every tick. `refuse` counts and logs a refused message: (topic, reason) ->
    None.
    """

    def __init__(
        self,
        node: Node,
        counts: NodeCounts,
        lookup: TransformLookup,
        refuse: Callable[[str, str], None],
    ) -> None:
        self.inbox = GoalInbox()  # The accepted poses.
        self._node = node
        self._counts = counts
        self._lookup = lookup
        self._refuse = refuse
        self._best_effort: set[str] = set()
        self._model: LoadedModel | None = None
        self._present_q: Callable[[], NDArray[np.float64]] = lambda: np.zeros(0)
        self._base_frame = ''
        # Frames of messages that are the root frame.
        self._root_frames: set[str] = set()
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

    def set_goals(self, names: Collection[str], base_frame: str) -> None:
        """Keep the poses of these goals only; `base_frame` is the frame of goals without one."""
        self._base_frame = base_frame
        self._root_frames.clear()
        self.inbox.keep(names)
        self._best_effort.intersection_update(names)
        for name in [name for name in self._early if name not in names]:
            del self._early[name]

    def set_robot(self, model: LoadedModel, present_q: Callable[[], NDArray[np.float64]]) -> None:
        """Read goals for another robot; `present_q` returns its configuration (nq,) [rad or m]."""
        self._model, self._present_q = model, present_q
        self._root_frames.clear()

    def forget(self) -> None:
        """Drop all goals until they are sent again."""
        self.inbox.clear()
        self._early.clear()

    def rewind(self, now: float) -> None:
        """Count ages from `now` [s], after the clock has jumped back."""
        self.inbox.rewind(now)
        self._lookup.rewind()

    def take_goal(self, name: str, message: PoseStamped) -> None:
        """Accept, delay or refuse a pose for a goal. This is the callback of `~/goals/<name>`."""
        topic = f'goals/{name}'
        try:
            pose_from_message(topic, message.pose)
            failure = self._store(name, message)
        except RefusedInputError as error:
            self._refuse(topic, str(error))
            return
        arrival = time.monotonic()
        if failure is None:
            # This pose also replaces earlier ones that still wait.
            self._early.pop(name, None)
        elif self._may_wait(failure, arrival):
            waiting = self._early.setdefault(name, deque(maxlen=_MOST_WAITING))
            if not isinstance(failure, TransformNotYetError):
                waiting.clear()
            waiting.append((message, arrival))
        else:
            self._refuse_frame(name, message, failure)

    def take_twist(self, name: str, message: TwistStamped) -> None:
        """Accept or refuse a twist for a goal. This is the callback of `~/goals/<name>/twist`."""
        topic, model, header = f'goals/{name}/twist', self._model, message.header
        try:
            linear, angular = twist_from_message(topic, message.twist)
            if model is None:
                raise RefusedInputError(topic, 'twist', list(linear), 'no robot yet')
            frame = model.pose_of_frame(
                header.frame_id, self._base_frame, self._present_q(), self._lookup.pose
            )
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
            self.inbox.put_twist(name, twist, time_of(self._node, message))

    def take_early_goals(self) -> None:
        """Try again to accept the goals that wait; the node calls this on every tick."""
        if self._early and self._model is not None:
            for name, waiting in list(self._early.items()):
                # The oldest comes first, so that the newest wins.
                while waiting and self._retry(name, *waiting[0]):
                    waiting.popleft()
                if not waiting and self._early.get(name) is waiting:
                    del self._early[name]

    def _retry(self, name: str, message: PoseStamped, arrival: float) -> bool:
        """Accept or refuse a waiting goal; return False if it must wait longer."""
        try:
            failure = self._store(name, message)
        except RefusedInputError as error:
            self._refuse(f'goals/{name}', str(error))
            return True
        if failure is not None:
            if self._may_wait(failure, arrival):
                return False
            self._refuse_frame(name, message, failure)
        return True

    def _store(self, name: str, message: PoseStamped) -> LookupError | None:
        """Put a goal into the inbox; if its frame is not known, return the error instead."""
        model, header = self._model, message.header
        if model is None:
            return LookupError('')
        times, topic = [time_of(self._node, message)], f'goals/{name}'
        pose = pose_from_message(topic, message.pose)
        if header.frame_id not in self._root_frames:
            try:
                pose = self._in_root(topic, model, header, pose, times)
            except LookupError as error:
                return error
        self._counts.goals += 1
        self.inbox.put(name, pose, min(times))
        return None

    def _in_root(
        self, topic: str, model: LoadedModel, header: Any, pose: Pose, times: list[float]
    ) -> Pose:
        """Return a pose in the root frame; append the time of a transform to `times` [s]."""

        def lookup(target: str, source: str) -> Any:
            found, valid_at = self._lookup.pose_at(target, source, header.stamp)
            # A goal is as old as the transform that places it in the root frame.
            times.extend([valid_at] if valid_at > 0.0 else [])
            return found

        frame_id = header.frame_id
        frame = model.pose_of_frame(frame_id, self._base_frame, self._present_q(), lookup)
        if frame is None:
            if len(self._root_frames) < _MOST_WAITING:
                self._root_frames.add(frame_id)
            return pose
        pose = pose_in_root(pose, frame)
        check_position(topic, pose[0])
        return pose

    def _may_wait(self, failure: LookupError, arrival: float) -> bool:
        """Return True if the robot or the transform may still arrive for a goal."""
        if isinstance(failure, TransformNotYetError):
            return time.monotonic() - arrival <= _LONGEST_WAIT
        return self._model is None or self._lookup.is_starting

    def _refuse_frame(self, name: str, message: PoseStamped, failure: LookupError) -> None:
        topic = f'goals/{name}'
        self._refuse(topic, self._frame_error(topic, message.header.frame_id, failure))

    def _frame_error(self, topic: str, frame_id: str, failure: LookupError) -> str:
        """Return why a frame is not known; without a frame_id, `base_frame` names it."""
        reason = str(failure.args[0])
        if frame_id:
            return str(RefusedInputError(topic, 'header.frame_id', frame_id, reason))
        return str(RefusedInputError(topic, 'base_frame', self._base_frame, reason))


def clock_time(node: Node) -> float:
    """Return the time of the node's clock [s]."""
    return 1e-9 * float(node.get_clock().now().nanoseconds)


def time_of(node: Node, message: Any) -> float:
    """Return when a message was sent [s], limited to the present; without a stamp, the present."""
    now = clock_time(node)
    return min(seconds_from_stamp(message.header.stamp) or now, now)
