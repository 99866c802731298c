"""The scene as markers, drawn in ticks, and interactive markers by which goals are dragged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any

from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import PoseStamped
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.rotation import pose_from_matrix
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.markers.marker_book import MarkerBook
from ik_node.ros.messages.convert import Pose, pose_from_message, RefusedInputError
from ik_node.ros.parameters.settings import GoalSettings, MarkerSettings
from ik_node.ros.process.named_entities import add_publisher
from ik_node.scene import LAYERS, Shape
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Header
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
    Marker,
    MarkerArray,
)

_HALF = float(np.sqrt(0.5))
# Rotations (xyzw) that turn x, the axis of a control, to x, y and z.
_AXIS_TURNS = ((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, _HALF, _HALF), (0.0, -_HALF, 0.0, _HALF))


def goal_marker(goal: GoalSettings, frame: str, pose: Pose, size: float) -> InteractiveMarker:
    """Return a marker of a size [m], with an arrow or a ring for each axis of its goal."""
    marker = InteractiveMarker(name=goal.name, description=goal.name, scale=size)
    marker.header.frame_id = frame
    marker.pose = pose_message(pose)
    for dof in parse_dofs(goal.dof):
        control = InteractiveMarkerControl(name=dof.name, always_visible=True)
        rotation = control.orientation
        rotation.x, rotation.y, rotation.z, rotation.w = _AXIS_TURNS[dof % 3]
        kind = type(control)
        control.interaction_mode = kind.ROTATE_AXIS if dof.is_rotation else kind.MOVE_AXIS
        control.orientation_mode = kind.FIXED if goal.axes == 'world' else kind.INHERIT
        marker.controls.append(control)
    return marker


def marker_pose(goal: GoalSettings, goal_pose: Pose | None, reached: NDArray[np.float64]) -> Pose:
    """
    Return the pose of a goal's marker.

    It is the pose of the goal. If the goal constrains only translations along the axes of the
    link, the orientation is that of its frame on the link. `goal`: the goal, with its constrained
    axes. `goal_pose`: pose of the goal; None = it has none yet, and the marker is at its link.
    `reached` (4, 4): pose of the goal's frame on its link.
    """
    there = pose_from_matrix(reached)
    if goal_pose is None:
        return there
    rotates = any(dof >= DOF.EX for dof in parse_dofs(goal.dof))
    if goal.axes == 'link' and not rotates:
        # The axes are those of the link, so the orientation of the goal has no meaning.
        return goal_pose[0], there[1]
    return goal_pose


def dragged_to(feedback: Any) -> PoseStamped | None:
    """
    Return the pose to which a user has dragged a goal, as a message for ~/goals/<name>.

    The stamp is 0, which means now, because the viewer's clock may differ from the node's. Other
    feedback than a new pose gives None.
    """
    if feedback.event_type != InteractiveMarkerFeedback.POSE_UPDATE:
        return None
    message = PoseStamped(pose=feedback.pose)
    message.header.frame_id = feedback.header.frame_id
    return message


def pose_message(pose: Pose) -> PoseMessage:
    """Return a pose as geometry_msgs/Pose."""
    message = PoseMessage()
    position, orientation = message.position, message.orientation
    (
        (position.x, position.y, position.z),
        (orientation.x, orientation.y, orientation.z, orientation.w),
    ) = pose
    return message


TOPICS = '~/goal_markers'
# Size of a marker as a multiple of a joint axis' length.
_SIZE = 3.0


class GoalMarkers:
    """
    The interactive markers, one for each active goal, with its constrained axes.

    `take_goal`: callback of ~/goals/<name>: (goal name, geometry_msgs.msg.PoseStamped) -> None.
    """

    def __init__(self, node: Node, take_goal: Callable[[str, PoseStamped], None]) -> None:
        self._node = node
        self._take_goal = take_goal
        self._server: Any = None
        self._kinds: dict[str, object] = {}
        self._poses: dict[str, Pose] = {}

    @property
    def is_open(self) -> bool:
        """Return True while there are markers, or may be."""
        return self._server is not None

    def update(
        self, model: LoadedModel, q: NDArray[np.float64], goals: Mapping[str, Pose | None]
    ) -> None:
        """Give each goal a marker at its pose, or at its link if that is None; remove others."""
        if not self._has_server():
            return
        changed = False
        for name in [name for name in self._kinds if name not in goals]:
            del self._kinds[name], self._poses[name]
            changed = self._server.erase(name)
        frame, size = model.root_frame, _SIZE * model.helper.joint_scale
        for goal in model.request.goals:
            name = goal.name
            if name not in goals:
                continue
            pose = marker_pose(goal, goals[name], model.reached(name, q))
            kind = (goal.structure, frame, size)
            if self._kinds.get(name) != kind:
                marker = goal_marker(goal, frame, pose, size)
                self._server.insert(marker, feedback_callback=self._on_feedback)
            elif self._poses[name] != pose:
                self._server.setPose(name, pose_message(pose), Header(frame_id=frame))
            else:
                continue
            self._kinds[name], self._poses[name], changed = kind, pose, True
        if changed:
            self._server.applyChanges()

    def close(self) -> None:
        """Remove all markers and their topics; the node calls this before it is destroyed."""
        if self._server is not None:
            self._server.shutdown()
            self._server = None
            self._kinds.clear()
            self._poses.clear()

    def _has_server(self) -> bool:
        if self._server is None:
            try:
                from interactive_markers import InteractiveMarkerServer
            except ImportError:
                self._node.get_logger().warning(
                    'goals cannot be dragged: markers.interactive is set, but the package '
                    'interactive_markers is not installed',
                    once=True,
                )
                return False
            self._server = InteractiveMarkerServer(self._node, TOPICS)
        return True

    def _on_feedback(self, feedback: Any) -> None:
        message, name = dragged_to(feedback), feedback.marker_name
        if message is None or name not in self._kinds:
            return
        self._take_goal(name, message)
        try:
            # The viewer already shows this pose. If the goal is refused, its marker is sent again.
            self._poses[name] = pose_from_message(name, message.pose)
        except RefusedInputError:
            del self._poses[name]
            self._kinds[name] = None


class MarkerOutput:
    """
    The publisher of ~/markers, which draws only if there are subscribers.

    A state is drawn layer by layer, one message each, so that one tick need not draw all of it.
    """

    def __init__(self, node: Node) -> None:
        self._publisher = add_publisher(node, MarkerArray, '~/markers')
        self._books = {layer: MarkerBook() for layer in LAYERS}
        # The last model and settings, and the stamp of what is drawn.
        self._of: tuple[LoadedModel, MarkerSettings] | None = None
        self._stamp: Any = None
        self._layers: Iterator[tuple[str, list[Shape]]] = iter(())
        self._next: tuple[str, list[Shape]] | None = None
        self._subscribers = 0

    @property
    def is_drawing(self) -> bool:
        """Return True while layers of the present state are not drawn yet."""
        return self._next is not None

    @property
    def is_seen(self) -> bool:
        """Return True if the topic has subscribers, or had some at the last drawing."""
        return bool(self._publisher.get_subscription_count() or self._subscribers)

    def begin(
        self,
        model: LoadedModel,
        q: NDArray[np.float64],
        goals: Mapping[str, Pose],
        settings: MarkerSettings,
        stamp: Any,
    ) -> None:
        """Start to draw another configuration and its goals, if there are subscribers."""
        before, self._subscribers = self._subscribers, self._publisher.get_subscription_count()
        if not self._subscribers:
            return
        last, self._of, self._stamp = self._of, (model, settings), stamp
        new_model = last is None or last[0] is not model
        if last is None or new_model or last[1] != settings:
            settings.apply(model.helper)
        if new_model or self._subscribers > before:
            everything = Marker(action=Marker.DELETEALL)
            everything.header.frame_id, everything.header.stamp = model.root_frame, stamp
            self._publisher.publish(MarkerArray(markers=[everything]))
            for book in self._books.values():
                book.clear_deletions()
        for layer, book in self._books.items():
            if layer not in model.helper.layers and not book.is_empty:
                self._publisher.publish(book.message((), model.root_frame, stamp))
        self._layers = model.helper.layer_shapes(q, goals)
        self._next = next(self._layers, None)

    def draw(self) -> None:
        """Publish the next layer, and compute the one after it."""
        if self._of is None or self._next is None:
            return
        layer, shapes = self._next
        book = self._books[layer]
        if shapes or not book.is_empty:
            frame = self._of[0].root_frame
            self._publisher.publish(book.message(shapes, frame, self._stamp))
        if book.complete:
            self._next = next(self._layers, None)


class SceneOutput:
    """The drawing of the last published configuration, at the rate of `markers.rate`."""

    def __init__(self, node: Node, take_goal: Callable[[str, PoseStamped], None]) -> None:
        self._markers = MarkerOutput(node)
        self._goal_markers = GoalMarkers(node, take_goal)
        self._model: LoadedModel | None = None
        self._q: NDArray[np.float64] | None = None
        self._due = 0.0

    def is_seen(self, settings: MarkerSettings) -> bool:
        """Return True if ticks must draw, because somebody sees markers or can drag goals."""
        return settings.interactive or self._goal_markers.is_open or self._markers.is_seen

    def tick(
        self,
        model: LoadedModel,
        q: NDArray[np.float64] | None,
        goal_poses: Callable[[], Mapping[str, Pose | None]],
        settings: MarkerSettings,
        stamp: Any,
        until: float,
    ) -> None:
        """
        Draw if it is time, and as far as the tick allows.

        `q` (nq,): configuration published by this tick [rad or m]; None if it published none.
        `goal_poses` returns the active goals and their poses, None for a goal without a pose.
        `until`: time at which the rest is left for the next tick [s], as of `time.perf_counter`.
        """
        if model is not self._model:
            self._model, self._q, self._due = model, None, 0.0
        if q is not None:
            self._q = q
        if not self._markers.is_drawing:
            now = perf_counter()
            if now < self._due or self._q is None:
                return
            # A late tick does not shorten the time until the next drawing.
            self._due = max(self._due + settings.period, now)
            goals = goal_poses()
            poses = {name: pose for name, pose in goals.items() if pose is not None}
            self._markers.begin(model, self._q, poses, settings, stamp)
            if settings.interactive:
                self._goal_markers.update(model, self._q, goals)
            else:
                self._goal_markers.close()
        while self._markers.is_drawing:
            self._markers.draw()
            if perf_counter() >= until:
                return

    def close(self) -> None:
        """Remove the goal markers; the node calls this before it is destroyed."""
        self._goal_markers.close()
