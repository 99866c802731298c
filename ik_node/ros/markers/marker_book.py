"""
Conversion of scene shapes to visualization_msgs/Marker, and the messages that update viewers.

A shape becomes one or two markers with the shape's own pose. While a robot moves, only a few
numbers in the messages are overwritten, because creating messages takes thirty times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from math import ceil, cos, pi, sin
from operator import attrgetter
from typing import Any

from geometry_msgs.msg import Point
from ik_node import scene
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

# Width of a sector's hand as a share of its radius, and its brightness relative to the face.
HAND, HAND_SHADE = 0.07, 0.6
# Smallest size of a marker [m], because RViz warns about size 0.
THINNEST = 1e-6
_POSE = 7

_SECTOR = attrgetter('rgba', 'radius', 'inner_radius', 'lower', 'upper', 'segments')
# Attributes of each shape whose change needs a new marker.
_APPEARANCE: dict[type[scene.Shape], Callable[[Any], object]] = {
    scene.Arrow: attrgetter('rgba', 'length', 'radius'),
    scene.Capsule: attrgetter('rgba', 'draw_through', 'radius', 'length'),
    scene.Cylinder: attrgetter('rgba', 'radius', 'length'),
    scene.Facets: attrgetter('rgba', 'corners'),
    scene.Sector: lambda it: (*_SECTOR(it), it.value is None),
    scene.Segment: attrgetter('rgba', 'width'),
    scene.Solid: attrgetter('rgba', 'kind', 'size', 'file', 'own_colours'),
    scene.Sphere: attrgetter('rgba', 'radius'),
    scene.Text: attrgetter('rgba', 'text', 'height'),
    scene.Triad: attrgetter('rgba', 'length', 'width'),
}


def appearance(shape: scene.Shape) -> tuple[type[scene.Shape], object]:
    """Return the attributes of a shape that its `numbers` do not contain."""
    kind = type(shape)
    return kind, _APPEARANCE[kind](shape)


def markers_of(shape: scene.Shape) -> list[Marker]:
    """
    Return the markers of a shape without header, namespace and id.

    `shape`: the shape. Markers cannot show through others, so `draw_through` makes a capsule, the
    shape that hides others, more transparent instead.
    """
    markers = _PAINTERS[type(shape)](shape)
    for marker in markers:
        marker.frame_locked = True
        marker.pose = markers[0].pose  # one for all
    put(markers, numbers(shape))
    return markers


def numbers(shape: scene.Shape) -> tuple[float, ...]:
    """Return the numbers that change while a robot moves, in the order of the markers."""
    pose = (*shape.position, *shape.quat_xyzw)
    if isinstance(shape, scene.Segment):
        return (*pose, max(shape.length, THINNEST))
    if isinstance(shape, scene.Capsule):
        return pose + pose
    if isinstance(shape, scene.Sector) and shape.value is not None:
        end = shape.radius * cos(shape.value), shape.radius * sin(shape.value)
        return pose + pose + end
    return pose


def put(markers: Sequence[Marker], values: Sequence[float]) -> None:
    """Write the `numbers` of a shape to the markers of a shape with the same attributes."""
    pose = markers[0].pose
    place, rotation = pose.position, pose.orientation
    place.x, place.y, place.z, rotation.x, rotation.y, rotation.z, rotation.w = values[:_POSE]
    more = values[_POSE * len(markers) :]
    if len(more) == 1:
        markers[0].scale.z = more[0]
    elif more:
        end = markers[-1].points[1]
        end.x, end.y = more


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


Appearance = tuple[str, tuple[type[scene.Shape], object]]

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

        `shapes`: shapes with different names. `frame`: frame of their poses. `stamp`: time of
        their configuration. The caller must send the message before the next call, because
        its objects are reused.
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
            put(markers, numbers(shape))
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
