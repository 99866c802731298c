"""Construction of shapes with common attributes."""

from __future__ import annotations

from ik_node.model.rotation import pose_from_matrix
from ik_node.scene.look import Look
from ik_node.scene.plain_pose import PlainPose, z_along
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
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class UniqueNames:
    """A source of unique names."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def new(self, name: str) -> str:
        """Return the name, or `name#2` and so on if it is already in use."""
        count, found = 1, name
        while found in self._given:
            count += 1
            found = f'{name}#{count}'
        self._given.add(found)
        return found


Size = tuple[float, float]

_NO_TURN: Quat = (0.0, 0.0, 0.0, 1.0)


class ShapeFactory:
    """
    A factory of shapes for one object.

    Parameters
    ----------
    layer : str
    name : str
        Common prefix of the shapes' names.
    of : str
        Name of the object.
    look : Look
        Appearance. All sizes are shares of its scale.

    Attributes
    ----------
    scale : float
        [m]

    """

    def __init__(self, layer: str, name: str, of: str, look: Look) -> None:
        self._layer, self._name, self._of, self._look = layer, name, of, look
        self.scale = look.scale

    def ball(self, part: str, place: Point, radius: float, rgba: Rgba) -> Sphere:
        """Return a sphere at a position [m]; its radius is `radius` times `scale`."""
        return Sphere(
            *self._same(part, (place, _NO_TURN), rgba), radius * self.scale, self._look.segments
        )

    def line(self, part: str, start: Array, end: Array, width: float, rgba: Rgba) -> Segment:
        """Return a line from one point (3,) to another [m]."""
        way = end - start
        pose = pose_from_matrix(z_along(0.5 * (start + end), way))
        length = float(np.sqrt(way @ way))
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
        same = self._same(part, (place, _NO_TURN), rgba)
        return Text(*same, text, height * self.scale)

    def _same(
        self, part: str, pose: PlainPose, rgba: Rgba
    ) -> tuple[str, str, str, Point, Quat, Rgba, float]:
        """Return the attributes that all shapes have."""
        name = f'{self._layer}/{self._name}/{part}'
        return name, self._layer, self._of, *pose, rgba, self._look.draw_through
