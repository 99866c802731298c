"""
The shapes of a scene.

Every shape has a pose in the root frame; its class describes its geometry in its own frame.
Numbers are plain floats in [m] and [rad].
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
    """The common attributes of all shapes."""

    # Unique in the scene and the same from call to call, so that drawn objects can be updated
    name: str
    layer: str  # One of `LAYERS`, or 'ghosts'
    of: str  # Name of the link, joint value, closure or goal that the shape represents
    position: Point  # Origin in the root frame [m]
    quat_xyzw: Quat  # Orientation in the root frame
    rgba: Rgba  # Each from 0 to 1
    draw_through: float  # Opacity where other shapes hide it; 0 = invisible


@dataclass(frozen=True, slots=True)
class Segment(Shape):
    """A line along z of a length and width [m], centred on the origin."""

    length: float
    width: float

    @property
    def start(self) -> Point:
        """Return the start of the line, root frame [m]."""
        return _along_z(self, -0.5 * self.length)

    @property
    def end(self) -> Point:
        """Return the end of the line, root frame [m]."""
        return _along_z(self, 0.5 * self.length)


@dataclass(frozen=True, slots=True)
class Arrow(Shape):
    """An arrow from the origin along z: length with head, radius of shaft [m], sides."""

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
        """Return the tip of the arrow, root frame [m]."""
        return _along_z(self, self.length)


@dataclass(frozen=True, slots=True)
class Cylinder(Shape):
    """A cylinder along z, centred on the origin: radius, length [m], number of sides."""

    radius: float
    length: float
    segments: int


@dataclass(frozen=True, slots=True)
class Capsule(Shape):
    """A cylinder along z, centred, with half spheres at both ends of its length [m]."""

    radius: float
    length: float
    segments: int


@dataclass(frozen=True, slots=True)
class Sphere(Shape):
    """A sphere: radius [m], number of sides."""

    radius: float
    segments: int


@dataclass(frozen=True, slots=True)
class Solid(Shape):
    """A body of a kind without a class of its own; `mesh_of` has triangles of boxes and planes."""

    kind: str  # box, ellipsoid, plane or mesh
    # Edges of a box, half axes of an ellipsoid, edges of a plane along x and y [m]; scale factors
    # of a mesh along x, y, z
    size: tuple[float, ...]
    file: str  # URL of a mesh
    own_colours: bool  # Whether a mesh is drawn in its own colours


@dataclass(frozen=True, slots=True)
class Facets(Shape):
    """A body with the corners of its triangles [m], three in a row for each."""

    corners: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Sector(Shape):
    """A sector of a disc or ring in the xy plane, with angles from x about z."""

    radius: float  # [m]
    inner_radius: float  # [m]; 0 gives a disc
    lower: float  # Start angle [rad]
    upper: float  # End angle [rad], at most a full turn from the start
    # Angle of its hand [rad], a line from the origin to the radius; None = no hand
    value: float | None
    segments: int  # Number of sides of a full turn

    @property
    def hand(self) -> Point | None:
        """Return the end of the hand, root frame [m]; None = no hand."""
        if self.value is None:
            return None
        x, y = self.radius * cos(self.value), self.radius * sin(self.value)
        turned = quat_to_matrix(self.quat_xyzw) @ (x, y, 0.0)
        px, py, pz = (turned + self.position).tolist()
        return px, py, pz


@dataclass(frozen=True, slots=True)
class Triad(Shape):
    """A frame with x red, y green and z blue, whose lines have a length and width [m]."""

    length: float
    width: float


@dataclass(frozen=True, slots=True)
class Text(Shape):
    """A text that faces the viewer, with the height of a capital letter [m]."""

    text: str
    height: float


def _along_z(shape: Shape, length: float) -> Point:
    x, y, z = (quat_to_matrix(shape.quat_xyzw)[:, 2] * length + shape.position).tolist()
    return x, y, z
