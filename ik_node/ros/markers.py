"""The scene as markers, and interactive markers by which goals are dragged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import count
from math import ceil, cos, pi, sin
from operator import attrgetter
from time import perf_counter
from typing import Any

from geometry_msgs.msg import Point, PoseStamped
from geometry_msgs.msg import Pose as PoseMessage
from ik_node import scene
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.rotation import pose_from_matrix
from ik_node.ros.loading import LoadedModel
from ik_node.ros.messages import Pose, pose_from_message, put_pose, RefusedInputError
from ik_node.ros.parameters.settings import GoalSettings, Settings
from ik_node.ros.process import add_publisher, optional
from ik_node.scene import LAYERS, Shape
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
    Marker,
    MarkerArray,
)

# Width of a sector's hand as a share of its radius, and its brightness relative to the face.
HAND, HAND_SHADE = 0.07, 0.6
# Smallest size of a marker [m], because RViz warns about size 0.
THINNEST = 1e-6

# Attributes of shapes that change while a robot moves, or that markers do not show.
_MOVING = {'name', 'layer', 'of', 'position', 'quat_xyzw', 'value'}


def _fixed(kind: type[scene.Shape]) -> Callable[[scene.Shape], object]:
    """Return a getter of the attributes whose change needs a new marker."""
    moving = _MOVING | ({'length'} if kind is scene.Segment else set())
    return attrgetter(*(each.name for each in fields(kind) if each.name not in moving))


def appearance(shape: scene.Shape) -> tuple[object, ...]:
    """Return the attributes of a shape that `put` does not write."""
    hand = isinstance(shape, scene.Sector) and shape.value is not None
    return type(shape), _FIXED[type(shape)](shape), hand


def markers_of(shape: scene.Shape) -> list[Marker]:
    """
    Return the markers of a shape without header, namespace and id.

    Markers cannot show through others, so `draw_through` makes a capsule, which hides others, more
    transparent instead.
    """
    markers = _PAINTERS[type(shape)](shape)
    for marker in markers:
        marker.frame_locked = True
        marker.pose = markers[0].pose  # one for all
    put(markers, shape)
    return markers


def put(markers: Sequence[Marker], shape: scene.Shape) -> None:
    """Write what changes while a robot moves to the markers of a shape of the same appearance."""
    pose = markers[0].pose
    put_pose(pose.position, pose.orientation, (shape.position, shape.quat_xyzw))
    if isinstance(shape, scene.Segment):
        markers[0].scale.z = max(shape.length, THINNEST)
    elif isinstance(shape, scene.Sector) and shape.value is not None:
        end = markers[-1].points[1]
        end.x, end.y = shape.radius * cos(shape.value), shape.radius * sin(shape.value)


def _marker(kind: int, rgba: Sequence[float], x: float, y: float, z: float) -> Marker:
    marker = Marker(type=kind, color=_colour(rgba))
    marker.scale.x, marker.scale.y, marker.scale.z = x, y, z
    return marker


def _colour(rgba: Sequence[float]) -> ColorRGBA:
    r, g, b, a = rgba
    return ColorRGBA(r=r, g=g, b=b, a=a)


def _point(x: float, y: float, z: float = 0.0) -> Point:
    return Point(x=x, y=y, z=z)


def _capsule(shape: scene.Capsule) -> list[Marker]:
    wide, half = 2.0 * shape.radius, 0.5 * shape.length
    rgba = (*shape.rgba[:3], shape.rgba[3] * (1.0 - shape.draw_through))
    balls = _marker(Marker.SPHERE_LIST, rgba, wide, wide, wide)
    balls.points = [_point(0.0, 0.0, -half), _point(0.0, 0.0, half)]
    return [_marker(Marker.CYLINDER, rgba, wide, wide, max(shape.length, THINNEST)), balls]


def _solid(shape: scene.Solid) -> list[Marker]:
    if shape.kind == 'mesh':
        marker = _marker(Marker.MESH_RESOURCE, shape.rgba, *shape.size)
        marker.mesh_resource = shape.file
        marker.mesh_use_embedded_materials = shape.own_colours
        return [marker]
    if shape.kind == 'ellipsoid':
        return [_marker(Marker.SPHERE, shape.rgba, *(2.0 * axis for axis in shape.size))]
    edges = (*shape.size, THINNEST)[:3]  # a plane is a box of no height
    return [_marker(Marker.CUBE, shape.rgba, *edges)]


def _facets(shape: scene.Facets) -> list[Marker]:
    marker = _marker(Marker.TRIANGLE_LIST, shape.rgba, 1.0, 1.0, 1.0)
    marker.points = [_point(*corner) for corner in shape.corners]
    return [marker]


def _arrow(shape: scene.Arrow) -> list[Marker]:
    # With two points the sizes are those of shaft and head, and the length of the head.
    marker = _marker(
        Marker.ARROW, shape.rgba, 2.0 * shape.radius, 2.0 * shape.head_radius, shape.head_length
    )
    marker.points = [_point(0.0, 0.0, 0.0), _point(0.0, 0.0, shape.length)]
    return [marker]


def _triad(shape: scene.Triad) -> list[Marker]:
    marker = _marker(Marker.LINE_LIST, shape.rgba, shape.width, 0.0, 0.0)
    for axis, colour in enumerate(scene.AXIS_COLOURS):
        end = [0.0, 0.0, 0.0]
        end[axis] = shape.length
        marker.points += [_point(0.0, 0.0), _point(*end)]
        marker.colors += [_colour((*colour[:3], shape.rgba[3]))] * 2
    return [marker]


def _text(shape: scene.Text) -> list[Marker]:
    marker = _marker(Marker.TEXT_VIEW_FACING, shape.rgba, 0.0, 0.0, shape.height)
    marker.text = shape.text
    return [marker]


def _sector(shape: scene.Sector) -> list[Marker]:
    """Return a fan, or a line for a ring, and a line for the hand."""
    sides = max(1, ceil((shape.upper - shape.lower) / (2.0 * pi) * shape.segments))
    step = (shape.upper - shape.lower) / sides
    angles = [shape.lower + step * side for side in range(sides + 1)]
    if shape.inner_radius > 0.0:
        middle, width = (
            0.5 * (shape.radius + shape.inner_radius),
            shape.radius - shape.inner_radius,
        )
        face = _marker(Marker.LINE_STRIP, shape.rgba, width, 0.0, 0.0)
        face.points = [_point(middle * cos(a), middle * sin(a)) for a in angles]
    else:
        face = _marker(Marker.TRIANGLE_LIST, shape.rgba, 1.0, 1.0, 1.0)
        rim = [_point(shape.radius * cos(a), shape.radius * sin(a)) for a in angles]
        centre = _point(0.0, 0.0)
        for side in range(sides):
            face.points += [centre, rim[side], rim[side + 1]]
    if shape.value is None:
        return [face]
    shade = (*(HAND_SHADE * part for part in shape.rgba[:3]), 1.0)
    hand = _marker(Marker.LINE_LIST, shade, HAND * shape.radius, 0.0, 0.0)
    hand.points = [_point(0.0, 0.0), _point(shape.radius, 0.0)]
    return [face, hand]


_PAINTERS: dict[type[scene.Shape], Callable[[Any], list[Marker]]] = {
    scene.Arrow: _arrow,
    scene.Capsule: _capsule,
    scene.Cylinder: lambda it: [
        _marker(Marker.CYLINDER, it.rgba, *(2.0 * it.radius,) * 2, max(it.length, THINNEST))
    ],
    scene.Facets: _facets,
    scene.Sector: _sector,
    scene.Segment: lambda it: [_marker(Marker.CYLINDER, it.rgba, it.width, it.width, it.length)],
    scene.Solid: _solid,
    scene.Sphere: lambda it: [_marker(Marker.SPHERE, it.rgba, *(2.0 * it.radius,) * 3)],
    scene.Text: _text,
    scene.Triad: _triad,
}
_FIXED = {kind: _fixed(kind) for kind in _PAINTERS}


Appearance = tuple[str, tuple[object, ...]]

# Largest number of markers of one shape.
_PARTS = 2
# Largest number of shapes per message whose markers are created anew, because that takes time.
AT_ONCE = 40


class MarkerBook:
    """
    The markers of every shape, kept from one message to the next.

    A layer of the scene is a namespace, so that a viewer can switch it off. A shape keeps its id,
    also while it is not shown. Every message contains all present markers and deletes all former
    ones, so that a viewer that missed a message is correct after the next one.
    """

    def __init__(self) -> None:
        # True if the last message contained all shapes; otherwise the next messages add them.
        self.complete = True
        self._markers: dict[str, list[Marker]] = {}
        self._appearances: list[Appearance] = []
        self._deletions: dict[tuple[str, int], Marker] = {}
        self._ids: dict[str, int] = {}
        self._next_id = count(0, _PARTS)
        self._header = Header()

    @property
    def is_empty(self) -> bool:
        """Return True if no marker is shown and none must be deleted."""
        return not (self._markers or self._deletions)

    def clear_deletions(self) -> None:
        """Forget the pending deletions, after viewers were told to delete everything."""
        self._deletions.clear()
        self._ids = {name: self._ids[name] for name in self._markers if name in self._ids}

    def message(self, shapes: Sequence[scene.Shape], frame: str, stamp: Any) -> MarkerArray:
        """
        Return a message with all present markers and the deletion of all former ones.

        The caller must send it before the next call, because its objects are reused.
        """
        present = [(shape.name, appearance(shape)) for shape in shapes]
        if present != self._appearances or frame != self._header.frame_id:
            return self._changed(shapes, present, frame, stamp)
        return self._array(shapes, stamp)

    def _changed(
        self, shapes: Sequence[scene.Shape], present: list[Appearance], frame: str, stamp: Any
    ) -> MarkerArray:
        """Return a message that replaces the shown shapes by these."""
        self._header.frame_id = frame
        before, kept = dict(self._appearances), self._markers
        self._markers, self._appearances = {}, []
        shown: list[scene.Shape] = []
        made = 0
        for shape, (name, new) in zip(shapes, present, strict=True):
            old = kept.pop(name, [])
            self._markers[name] = old
            if before.get(name) != new:
                if made == AT_ONCE:
                    continue
                made += 1
                self._markers[name] = self._new(shape)
                self._delete(old[len(self._markers[name]) :])
            shown.append(shape)
            self._appearances.append((name, new))
        for markers in kept.values():
            self._delete(markers)
        self.complete = len(shown) == len(shapes)
        return self._array(shown, stamp)

    def _array(self, shapes: Iterable[scene.Shape], stamp: Any) -> MarkerArray:
        self._header.stamp = stamp
        array = MarkerArray(markers=list(self._deletions.values()))
        for shape in shapes:
            markers = self._markers[shape.name]
            put(markers, shape)
            array.markers += markers
        return array

    def _new(self, shape: scene.Shape) -> list[Marker]:
        if shape.name not in self._ids:
            self._ids[shape.name] = next(self._next_id)
        markers = markers_of(shape)
        for number, marker in enumerate(markers, self._ids[shape.name]):
            marker.header, marker.ns, marker.id = self._header, shape.layer, number
            self._deletions.pop((marker.ns, marker.id), None)
        return markers

    def _delete(self, markers: Iterable[Marker]) -> None:
        for old in markers:
            marker = Marker(header=self._header, ns=old.ns, id=old.id, action=Marker.DELETE)
            self._deletions[old.ns, old.id] = marker


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

    It is the pose of the goal, or that `reached` on its link, if it has none yet. If the goal
    constrains only translations along the axes of the link, the orientation is that of the link.
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
    put_pose(message.position, message.orientation, pose)
    return message


TOPICS = '~/goal_markers'
# Size of a marker as a multiple of a joint axis' length.
_SIZE = 3.0


class GoalMarkers:
    """The interactive markers, one for each active goal, with its constrained axes."""

    def __init__(self, node: Node, take_goal: Callable[[str, PoseStamped], None]) -> None:
        self._node = node
        self._take_goal = take_goal
        self._server: Any = None
        # The kind and the pose of each marker; None = it must be sent again.
        self._shown: dict[str, tuple[object, Pose | None]] = {}

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
        for name in [name for name in self._shown if name not in goals]:
            del self._shown[name]
            changed = self._server.erase(name)
        frame, size = model.root_frame, _SIZE * model.helper.joint_scale
        for goal in model.request.goals:
            name = goal.name
            if name not in goals:
                continue
            pose = marker_pose(goal, goals[name], model.reached(name, q))
            kind = (goal.structure, frame, size)
            before = self._shown.get(name)
            if before is None or before[0] != kind:
                marker = goal_marker(goal, frame, pose, size)
                self._server.insert(marker, feedback_callback=self._on_feedback)
            elif before[1] != pose:
                self._server.setPose(name, pose_message(pose), Header(frame_id=frame))
            else:
                continue
            self._shown[name], changed = (kind, pose), True
        if changed:
            self._server.applyChanges()

    def close(self) -> None:
        """Remove all markers and their topics; the node calls this before it is destroyed."""
        if self._server is not None:
            self._server.shutdown()
            self._server = None
            self._shown.clear()

    def _has_server(self) -> bool:
        if self._server is None:
            lost = 'goals cannot be dragged, although markers.interactive is set'
            package = optional('interactive_markers', self._node.get_logger().warning, lost)
            self._server = package and package.InteractiveMarkerServer(self._node, TOPICS)
        return self._server is not None

    def _on_feedback(self, feedback: Any) -> None:
        message, name = dragged_to(feedback), feedback.marker_name
        if message is None or name not in self._shown:
            return
        self._take_goal(name, message)
        try:
            # The viewer already shows this pose. If the goal is refused, its marker is sent again.
            pose = pose_from_message(name, message.pose)
            self._shown[name] = self._shown[name][0], pose
        except RefusedInputError:
            self._shown[name] = None, None


class SceneOutput:
    """
    The drawing of the last published configuration, at the rate of `markers.rate`.

    It is drawn only if ~/markers has subscribers, layer by layer, one message each, so that one
    tick need not draw all of it.
    """

    def __init__(self, node: Node, take_goal: Callable[[str, PoseStamped], None]) -> None:
        self._publisher = add_publisher(node, MarkerArray, '~/markers')
        self._books = {layer: MarkerBook() for layer in LAYERS}
        self._goal_markers = GoalMarkers(node, take_goal)
        self._model: LoadedModel | None = None
        self._q: NDArray[np.float64] | None = None
        self._due = 0.0
        # The last model and settings, and the stamp of what is drawn.
        self._of: tuple[LoadedModel, Settings] | None = None
        self._stamp: Any = None
        self._layers: Iterator[tuple[str, list[Shape]]] = iter(())
        self._next: tuple[str, list[Shape]] | None = None  # None while nothing is to be drawn.
        self._subscribers = 0

    def is_seen(self, settings: Settings) -> bool:
        """Return True if ticks must draw, because somebody sees markers or can drag goals."""
        drags = settings.markers_interactive or self._goal_markers.is_open
        return bool(drags or self._publisher.get_subscription_count() or self._subscribers)

    def tick(
        self,
        model: LoadedModel,
        q: NDArray[np.float64] | None,
        goal_poses: Callable[[], Mapping[str, Pose | None]],
        settings: Settings,
        stamp: Any,
        until: float,
    ) -> None:
        """
        Draw the published configuration if it is time; leave the rest at `until` to the next tick.

        `q` is None if this tick published none; `until` is a time of `time.perf_counter` [s].
        """
        if model is not self._model:
            self._model, self._q, self._due, self._next = model, None, 0.0, None
        if q is not None:
            self._q = q
        if self._next is None:
            now = perf_counter()
            if now < self._due or self._q is None:
                return
            # A late tick does not shorten the time until the next drawing.
            self._due = max(self._due + 1.0 / settings.markers_rate, now)
            goals = goal_poses()
            self._begin(model, self._q, goals, settings, stamp)
            if settings.markers_interactive:
                self._goal_markers.update(model, self._q, goals)
            else:
                self._goal_markers.close()
        while self._next is not None:
            self._draw(model, *self._next)
            if perf_counter() >= until:
                return

    def _begin(
        self,
        model: LoadedModel,
        q: NDArray[np.float64],
        goals: Mapping[str, Pose | None],
        settings: Settings,
        stamp: Any,
    ) -> None:
        """Start to draw another configuration and its goals, if there are subscribers."""
        before, self._subscribers = self._subscribers, self._publisher.get_subscription_count()
        if not self._subscribers:
            return
        last, self._of, self._stamp = self._of, (model, settings), stamp
        new_model = last is None or last[0] is not model
        if last is None or new_model or last[1] is not settings:
            helper = model.helper.set_layers(settings.markers_layers)
            helper.set_joint_scale(settings.markers_scale or None)
            helper.set_color(settings.markers_color or None)
            helper.set_draw_through(settings.markers_draw_through)
        if new_model or self._subscribers > before:
            everything = Marker(action=Marker.DELETEALL)
            everything.header.frame_id, everything.header.stamp = model.root_frame, stamp
            self._publisher.publish(MarkerArray(markers=[everything]))
            for book in self._books.values():
                book.clear_deletions()
        for layer, book in self._books.items():
            if layer not in model.helper.layers and not book.is_empty:
                self._publisher.publish(book.message((), model.root_frame, stamp))
        poses = {name: pose for name, pose in goals.items() if pose is not None}
        self._layers = model.helper.layer_shapes(q, poses)
        self._next = next(self._layers, None)

    def _draw(self, model: LoadedModel, layer: str, shapes: list[Shape]) -> None:
        """Publish a layer, and compute the next one."""
        book = self._books[layer]
        if shapes or not book.is_empty:
            self._publisher.publish(book.message(shapes, model.root_frame, self._stamp))
        if book.complete:
            self._next = next(self._layers, None)

    def close(self) -> None:
        """Remove the goal markers; the node calls this before it is destroyed."""
        self._goal_markers.close()
