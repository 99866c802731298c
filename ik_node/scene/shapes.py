"""
The shapes a scene is made of.

Every shape has a pose in the root frame and lies in its own frame as its class says. Numbers are
plain floats, in [m] and [rad].
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin

from ik_node.model.rotation import quat_to_matrix

Point = tuple[float, float, float]
Quat = tuple[float, float, float, float]
Rgba = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Shape:
    """
    What all shapes have.

    Attributes
    ----------
    name : str
        Unlike any other of the scene, and the same from call to call: what is drawn under it may
        be moved in place.
    layer : str
        Which of `LAYERS` it belongs to.
    of : str
        Name of the link, joint value, closure or goal that it shows.
    position : tuple of float
        Origin in the root frame [m].
    quat_xyzw : tuple of float
        Orientation in the root frame.
    rgba : tuple of float
        Each from 0 to 1.
    draw_through : float
        Opacity with which it is to be drawn where other things hide it; 0 = not at all.

    """

    name: str
    layer: str
    of: str
    position: Point
    quat_xyzw: Quat
    rgba: Rgba
    draw_through: float


@dataclass(frozen=True, slots=True)
class Segment(Shape):
    """
    A line along z, the origin in its middle.

    Attributes
    ----------
    length, width : float
        [m]

    """

    length: float
    width: float

    @property
    def start(self) -> Point:
        """Return where it begins, in the root frame [m]."""
        return _along_z(self, -0.5 * self.length)

    @property
    def end(self) -> Point:
        """Return where it ends, in the root frame [m]."""
        return _along_z(self, 0.5 * self.length)


@dataclass(frozen=True, slots=True)
class Arrow(Shape):
    """
    An arrow from the origin along z; its head is the last 0.3 of it, and 2.4 times as wide.

    Attributes
    ----------
    length : float
        With its head [m].
    radius : float
        Of its shaft [m].
    segments : int
        Sides of the round.

    """

    length: float
    radius: float
    segments: int

    @property
    def head_length(self) -> float:
        """Return the length of the head [m]."""
        return 0.3 * self.length

    @property
    def head_radius(self) -> float:
        """Return the radius of the head [m]."""
        return 2.4 * self.radius

    @property
    def end(self) -> Point:
        """Return its tip, in the root frame [m]."""
        return _along_z(self, self.length)


@dataclass(frozen=True, slots=True)
class Cylinder(Shape):
    """
    A cylinder along z, the origin in its middle.

    Attributes
    ----------
    radius, length : float
        [m]
    segments : int
        Sides of the round.

    """

    radius: float
    length: float
    segments: int


@dataclass(frozen=True, slots=True)
class Capsule(Shape):
    """
    A cylinder along z with a half ball at either end, the origin in its middle.

    Attributes
    ----------
    radius : float
        [m]
    length : float
        Between the centres of the balls [m].
    segments : int
        Sides of the round.

    """

    radius: float
    length: float
    segments: int


@dataclass(frozen=True, slots=True)
class Sphere(Shape):
    """
    A ball.

    Attributes
    ----------
    radius : float
        [m]
    segments : int
        Sides of the round.

    """

    radius: float
    segments: int


@dataclass(frozen=True, slots=True)
class Solid(Shape):
    """
    A body of a kind for which there is no other shape; who draws in triangles leaves it out.

    Attributes
    ----------
    kind : {'box', 'ellipsoid', 'plane', 'mesh'}
    size : tuple of float
        Edges of a box, half axes of an ellipsoid, edges of a plane along x and y [m]; factors
        along x, y, z of a mesh.
    file : str
        Of a mesh: a URL.
    own_colours : bool
        Whether a mesh that has colours is drawn in them.

    """

    kind: str
    size: tuple[float, ...]
    file: str
    own_colours: bool


@dataclass(frozen=True, slots=True)
class Sector(Shape):
    """
    A sector of a disc, or of a ring, in the xy plane; angles count from x about z.

    Attributes
    ----------
    radius, inner_radius : float
        [m]; an inner radius of 0 is a disc.
    lower, upper : float
        Where it begins and ends [rad], at most a full turn apart.
    value : float or None
        Where its hand points [rad]: a line from the origin to the radius; None = it has none.
    segments : int
        Sides of a full turn.

    """

    radius: float
    inner_radius: float
    lower: float
    upper: float
    value: float | None
    segments: int

    @property
    def hand(self) -> Point | None:
        """Return where the hand ends, in the root frame [m]; None = it has no hand."""
        if self.value is None:
            return None
        x, y = self.radius * cos(self.value), self.radius * sin(self.value)
        turned = quat_to_matrix(self.quat_xyzw) @ (x, y, 0.0)
        px, py, pz = (turned + self.position).tolist()
        return px, py, pz


@dataclass(frozen=True, slots=True)
class Triad(Shape):
    """
    A frame: x red, y green, z blue. Of `rgba` the opacity counts.

    Attributes
    ----------
    length, width : float
        Of each of its lines [m].

    """

    length: float
    width: float


@dataclass(frozen=True, slots=True)
class Text(Shape):
    """
    A text that faces the viewer, centred on the origin.

    Attributes
    ----------
    text : str
    height : float
        Of a capital letter [m].

    """

    text: str
    height: float


def _along_z(shape: Shape, length: float) -> Point:
    x, y, z = (quat_to_matrix(shape.quat_xyzw)[:, 2] * length + shape.position).tolist()
    return x, y, z
