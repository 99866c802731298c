"""Appearance of a scene: layers, sizes and colours; and shapes with a common appearance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
import re
from types import MappingProxyType

from ik_node.errors import OptionError
from ik_node.model.rotation import pose_from_matrix
from ik_node.scene.shapes import (
    Arrow,
    Cylinder,
    Point,
    Quat,
    Rgba,
    Sector,
    Segment,
    Sphere,
    Text,
    Triad,
)
from ik_node.scene.skeleton import PlainPose, z_along
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LAYERS = (
    *('frames', 'links', 'axes', 'limits', 'closures', 'goals', 'labels', 'visuals'),
    'collisions',
)
DEFAULT_LAYERS = frozenset(LAYERS) - {'labels', 'visuals', 'collisions'}
# Layers that `set_color` changes by default; colours of the other layers have a meaning.
PLAIN_LAYERS = ('frames', 'links', 'axes', 'limits', 'labels')

COLOURS: Mapping[str, Rgba] = MappingProxyType(
    {
        'frames': (0.45, 0.47, 0.50, 1.0),
        'links': (0.60, 0.64, 0.70, 1.0),
        'visuals': (0.72, 0.74, 0.78, 1.0),
        'axes': (0.93, 0.49, 0.13, 1.0),
        'limits': (0.98, 0.76, 0.15, 0.45),
        'closures': (0.13, 0.65, 0.32, 1.0),
        'goals': (0.16, 0.42, 0.90, 1.0),
        'labels': (0.10, 0.12, 0.15, 1.0),
        'collisions': (0.46, 0.36, 0.72, 0.35),
    }
)
OPEN: Rgba = (0.90, 0.10, 0.12, 1.0)  # an open loop
UNMET: Rgba = (0.75, 0.15, 0.65, 1.0)  # the line from a goal to its link
AT_LIMIT: Rgba = (0.92, 0.25, 0.10, 0.6)
PASSIVE: Rgba = (0.36, 0.62, 0.80, 1.0)  # the axis of a joint that no motor moves
LOCKED: Rgba = (0.45, 0.47, 0.50, 1.0)
OTHER: Rgba = (0.3, 0.55, 0.85, 0.2)  # another solution
UNUSED: Rgba = (0.60, 0.62, 0.65, 0.5)  # a disabled closure or goal
OBSTACLE: Rgba = (0.62, 0.53, 0.40, 0.5)
NEAREST: Rgba = (0.95, 0.45, 0.05, 1.0)  # the nearest pair of bodies
IN_CONTACT: Rgba = (0.88, 0.06, 0.20, 1.0)
LOAD: Rgba = (0.04, 0.55, 0.58, 1.0)  # the force of a load on a link
# Singular curves, by their kind.
SINGULAR: Mapping[str, Rgba] = MappingProxyType(
    {'inverse': (0.96, 0.62, 0.0, 1.0), 'direct': (0.91, 0.08, 0.17, 1.0)}
)
FREE: Rgba = (0.60, 0.62, 0.65, 0.4)  # a free axis of a goal
AXIS_COLOURS: tuple[Rgba, Rgba, Rgba] = (
    (0.85, 0.15, 0.15, 1.0),
    (0.15, 0.65, 0.20, 1.0),
    (0.15, 0.35, 0.90, 1.0),
)


@dataclass(frozen=True)
class Look:
    """
    The settings of a scene's appearance.

    `scale` is the length of a joint axis [m], to which other sizes are relative, `draw_through`
    the opacity of hidden shapes, and `segments` the number of sides of round shapes.
    """

    scale: float = 0.1
    layers: frozenset[str] = DEFAULT_LAYERS
    rgba: Mapping[str, Rgba] = field(default_factory=lambda: COLOURS)
    draw_through: float = 0.0
    segments: int = 24


def checked_layers(layers: str | Iterable[str]) -> frozenset[str]:
    """Return the layers in a text such as 'axes limits', or in a list; raise OptionError."""
    named = layers.replace(',', ' ').split() if isinstance(layers, str) else list(layers)
    if not set(named) <= set(LAYERS):
        raise OptionError('layers', layers, 'some of ' + ' '.join(LAYERS))
    return frozenset(named)


def coloured(
    rgba: Mapping[str, Rgba], color: str | int | Sequence[float], layers: Iterable[str]
) -> dict[str, Rgba]:
    """Return the colours with that of some layers replaced, see `IKRootsHelper.set_color`."""
    parts = _parts(color)
    made = dict(rgba)
    for layer in layers:
        opacity = parts[3] if len(parts) == 4 else made[layer][3]
        made[layer] = (parts[0], parts[1], parts[2], opacity)
    return made


def _parts(color: str | int | Sequence[float]) -> tuple[float, ...]:
    """Return three or four numbers from 0 to 1."""
    parts: tuple[float, ...] = ()
    if isinstance(color, str):
        if re.fullmatch('#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?', color):
            parts = tuple(byte / 255.0 for byte in bytes.fromhex(color[1:]))
    elif isinstance(color, int):
        if 0 <= color <= 0xFFFFFF and not isinstance(color, bool):
            parts = tuple(byte / 255.0 for byte in color.to_bytes(3, 'big'))
    else:
        try:
            parts = tuple(float(part) for part in color)
        except (TypeError, ValueError):
            parts = ()
    if len(parts) not in (3, 4) or not all(0.0 <= part <= 1.0 for part in parts):
        raise OptionError(
            'color', color, "'#rrggbb', '#rrggbbaa', 0xrrggbb, or 3 or 4 numbers from 0 to 1"
        )
    return parts


class UniqueNames:
    """A source of unique names."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def new(self, name: str) -> str:
        """Return the name, or `name#2` and so on if it is already in use."""
        count, result = 1, name
        while result in self._given:
            count += 1
            result = f'{name}#{count}'
        self._given.add(result)
        return result


Size = tuple[float, float]
Common = tuple[str, str, str, Point, Quat, Rgba, float]

NO_TURN: Quat = (0.0, 0.0, 0.0, 1.0)


def common(layer: str, name: str, of: str, pose: PlainPose, rgba: Rgba, look: Look) -> Common:
    """Return the attributes that all shapes have."""
    return f'{layer}/{name}', layer, of, *pose, rgba, look.draw_through


class ShapeFactory:
    """A factory of shapes of one object, whose sizes are shares of the scale."""

    def __init__(self, layer: str, name: str, of: str, look: Look) -> None:
        self._layer, self._name, self._of, self._look = layer, name, of, look
        self.scale = look.scale

    def ball(self, part: str, place: Point, radius: float, rgba: Rgba) -> Sphere:
        """Return a sphere at a position [m]; its radius is `radius` times `scale`."""
        same = self._same(part, (place, NO_TURN), rgba)
        return Sphere(*same, radius * self.scale, self._look.segments)

    def line(self, part: str, start: Array, end: Array, width: float, rgba: Rgba) -> Segment:
        """Return a line from one point (3,) to another [m]."""
        delta = end - start
        pose = pose_from_matrix(z_along(0.5 * (start + end), delta))
        length = float(np.sqrt(delta @ delta))
        return Segment(*self._same(part, pose, rgba), length, width * self.scale)

    def arrow(self, part: str, pose: PlainPose, size: Size, rgba: Rgba) -> Arrow:
        """Return an arrow along a pose's z axis; size = (length, radius)."""
        length, radius = size
        same = self._same(part, pose, rgba)
        return Arrow(*same, length * self.scale, radius * self.scale, self._look.segments)

    def rod(self, part: str, pose: PlainPose, size: Size, rgba: Rgba) -> Cylinder:
        """Return a cylinder along a pose's z axis, centred; size = (length, radius)."""
        length, radius = size
        same = self._same(part, pose, rgba)
        return Cylinder(*same, radius * self.scale, length * self.scale, self._look.segments)

    def ring(self, part: str, pose: PlainPose, size: Size, rgba: Rgba) -> Sector:
        """Return a ring about a pose's z axis; size = (outer radius, inner radius)."""
        outer, inner = (share * self.scale for share in size)
        same = self._same(part, pose, rgba)
        return Sector(*same, outer, inner, -np.pi, np.pi, None, self._look.segments)

    def triad(self, part: str, pose: PlainPose, size: Size) -> Triad:
        """Return a triad; size = (length, width) of its lines."""
        length, width = size
        white = (1.0, 1.0, 1.0, 1.0)
        return Triad(*self._same(part, pose, white), length * self.scale, width * self.scale)

    def text(self, part: str, place: Point, text: str, height: float, rgba: Rgba) -> Text:
        """Return a text at a position [m]."""
        same = self._same(part, (place, NO_TURN), rgba)
        return Text(*same, text, height * self.scale)

    def _same(self, part: str, pose: PlainPose, rgba: Rgba) -> Common:
        return common(self._layer, f'{self._name}/{part}', self._of, pose, rgba, self._look)
