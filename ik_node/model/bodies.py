"""Convex shapes for collisions, and their form in the kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ik_node.errors import OptionError
from ik_node.kernels.distance import BOX, CYLINDER, ENDLESS, HALF_SPACE, HULL, POINT, SEGMENT
from ik_node.model.given import is_number, numbers
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Largest size of a shape and of a coordinate [m].
LARGEST = 1e3
# Size limit of a mesh file [bytes], and most points of a hull.
MAX_BYTES, MAX_POINTS = 64 * 2**20, 64
# Points of the polytope around an ellipsoid, and sides of the pyramid around a cone.
ELLIPSOID_POINTS, CONE_SIDES = 60, 24
# Radii that differ by less than this share are equal.
ROUND = 1e-6


class Core(NamedTuple):
    """A shape as the kernels take it, lengths in metres."""

    shape: int  # POINT, SEGMENT, ... of `kernels.distance`
    # Half the sizes, the radius around the core, and the radius of the ball around it.
    size: tuple[float, float, float, float, float]
    points: Array = np.zeros((0, 3))  # (n, 3) of a hull, relative to the centre
    centre: Array = np.zeros(3)  # of the core, in the frame of the shape
    overestimate: float = 0.0  # largest distance of a point of the core from the shape


def _sizes(what: str, *given: object) -> None:
    """Raise OptionError unless all sizes are numbers above 0 and not too large."""
    for value in given:
        if not is_number(value) or not 0.0 < value <= LARGEST:  # type: ignore[operator]
            raise OptionError(what, value, f'sizes above 0 and up to {LARGEST:g} m')


class _Solid:
    """A shape of sizes above 0, in the order of its fields."""

    _internal = ('sizes',)

    def __post_init__(self) -> None:
        _sizes(type(self).__name__, *self.sizes)

    @property
    def sizes(self) -> tuple[float, ...]:
        """Return the sizes [m]."""
        return tuple(vars(self).values())


@dataclass(frozen=True)
class Sphere(_Solid):
    """
    A ball.

    Attributes
    ----------
    radius : float
        [m]

    Examples
    --------
    >>> import ik_node as ik
    >>> ik.Sphere(0.1).radius
    0.1

    """

    radius: float


@dataclass(frozen=True)
class Capsule(_Solid):
    """
    A cylinder along z with half balls at its ends.

    Attributes
    ----------
    radius : float
        [m]
    length : float
        Length without the half balls [m].

    Examples
    --------
    >>> import ik_node as ik
    >>> ik.Capsule(0.05, 0.3).length
    0.3

    """

    radius: float
    length: float


@dataclass(frozen=True)
class Cylinder(_Solid):
    """
    A cylinder along z.

    Attributes
    ----------
    radius, length : float
        [m]

    Examples
    --------
    >>> import ik_node as ik
    >>> ik.Cylinder(0.05, 0.3).radius
    0.05

    """

    radius: float
    length: float


@dataclass(frozen=True)
class Box(_Solid):
    """
    A box.

    Attributes
    ----------
    size : sequence of float
        Edges along x, y and z [m].

    Examples
    --------
    >>> import ik_node as ik
    >>> ik.Box((0.6, 0.4, 0.1)).size
    (0.6, 0.4, 0.1)

    """

    size: Sequence[float]

    def __post_init__(self) -> None:
        size = numbers('Box', self.size)
        if size.shape != (3,):
            raise OptionError('Box', self.size, 'three edges [m]')
        object.__setattr__(self, 'size', tuple(size.tolist()))
        super().__post_init__()

    @property
    def sizes(self) -> tuple[float, ...]:
        """Return the edges [m]."""
        return tuple(self.size)


@dataclass(frozen=True)
class HalfSpace:
    """
    A half-space, the points below the xy plane of its frame; for obstacles only.

    Examples
    --------
    >>> import ik_node as ik
    >>> ik.HalfSpace()
    HalfSpace()

    """


@dataclass(frozen=True, eq=False)
class Hull:
    """
    The convex hull of points.

    More than 64 corners are reduced outwards: the hull of the kernels contains all points.

    Attributes
    ----------
    points : array_like, shape (n, 3)
        Points [m].

    Examples
    --------
    >>> import ik_node as ik
    >>> ik.Hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]).points.shape
    (4, 3)

    """

    points: ArrayLike = field(repr=False)

    def __post_init__(self) -> None:
        points = numbers('Hull', self.points)
        if points.ndim != 2 or points.shape[1:] != (3,) or len(points) < 4:
            raise OptionError('Hull', points.shape, 'points, shape (n, 3) with n of 4 or more')
        if not np.abs(points).max() <= LARGEST:
            raise OptionError('Hull', 'points', f'finite coordinates up to {LARGEST:g} m')
        object.__setattr__(self, 'points', points)


@dataclass(frozen=True)
class Mesh:
    """
    The convex hull of a mesh file; `trimesh` reads it.

    Attributes
    ----------
    path : str or Path
        STL, OBJ, PLY, DAE, glTF, OFF, ...
    scale : float or sequence of float
        Factors along x, y and z.

    Examples
    --------
    >>> import ik_node as ik
    >>> ik.Mesh('hand.stl', scale=0.001).path
    'hand.stl'

    """

    path: str | Path
    scale: float | Sequence[float] = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.path, (str, Path)):
            raise OptionError('Mesh', self.path, 'the path of a file')
        scale = numbers('Mesh scale', self.scale)
        if scale.shape not in ((), (3,)) or not (np.abs(scale) <= LARGEST).all():
            raise OptionError('Mesh scale', self.scale, 'one or three finite factors')


Shape = Sphere | Capsule | Cylinder | Box | HalfSpace | Hull | Mesh


def core_of(shape: Shape) -> Core:
    """Return a shape as the kernels take it; OptionError if its mesh cannot be read."""
    match shape:
        case Sphere(radius):
            return Core(POINT, (0.0, 0.0, 0.0, radius, radius))
        case Capsule(radius, length):
            half = 0.5 * length
            return Core(SEGMENT, (0.0, 0.0, half, radius, half + radius))
        case Cylinder(radius, length):
            half = 0.5 * length
            return Core(CYLINDER, (radius, 0.0, half, 0.0, float(np.hypot(half, radius))))
        case Box(size):
            x, y, z = (0.5 * edge for edge in size)
            return Core(BOX, (x, y, z, 0.0, float(np.hypot(np.hypot(x, y), z))))
        case Hull(points):
            return _hull_core(np.asarray(points, float))
        case Mesh():
            return core_of(Hull(_mesh_points(shape)))
    return Core(HALF_SPACE, (0.0, 0.0, 0.0, 0.0, ENDLESS))


def _mesh_points(mesh: Mesh) -> Array:
    """Return the points (n, 3) of a mesh file; OptionError if unreadable."""
    what, path = f'mesh {str(mesh.path)!r}', Path(mesh.path)
    try:
        import trimesh
    except ImportError:
        allowed = 'pip install trimesh, which reads meshes'
        raise OptionError(what, 'not read', allowed) from None
    try:
        size = path.stat().st_size
        read: Any = trimesh.load(path, process=False, force='mesh') if size <= MAX_BYTES else None
    # The readers of a dozen formats raise many kinds of exceptions.
    except Exception as error:  # noqa: BLE001
        raise OptionError(what, str(error) or 'not read', 'a mesh that trimesh reads') from None
    if read is None or len(read.vertices) < 4:
        got = 'too large' if read is None else f'{len(read.vertices)} points'
        raise OptionError(what, got, f'4 corners or more, up to {MAX_BYTES} bytes')
    points: Array = np.asarray(read.vertices, float) * np.asarray(mesh.scale, float)
    return points


def same_shape(one: Shape, other: Shape) -> bool:
    """Return True for equal shapes; a mesh equals only itself."""
    if isinstance(one, Hull) and isinstance(other, Hull):
        return np.array_equal(one.points, other.points)
    return one == other


def ellipsoid(x: float, y: float, z: float) -> Shape:
    """Return a polytope around an ellipsoid, given its radii; a sphere if they are equal."""
    _sizes('ellipsoid', x, y, z)
    if max(abs(x - y), abs(x - z)) <= ROUND * x:
        return Sphere(x)
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(ELLIPSOID_POINTS)
    height = 1.0 - (2.0 * np.arange(ELLIPSOID_POINTS) + 1.0) / ELLIPSOID_POINTS
    across = np.sqrt(1.0 - height * height)
    ball = np.column_stack((across * np.cos(angle), across * np.sin(angle), height))
    from scipy.spatial import ConvexHull

    inner = -ConvexHull(ball).equations[:, 3].max()
    return Hull(ball / inner * np.array((x, y, z)))


def cone(radius: float, length: float) -> Hull:
    """Return a pyramid around a cone along z, its tip up, half its length below its centre."""
    _sizes('cone', radius, length)
    angles = 2.0 * np.pi * np.arange(CONE_SIDES) / CONE_SIDES
    rim = radius / np.cos(np.pi / CONE_SIDES) * np.column_stack((np.cos(angles), np.sin(angles)))
    base = np.column_stack((rim, np.full(CONE_SIDES, -0.5 * length)))
    return Hull(np.vstack((base, (0.0, 0.0, 0.5 * length))))


# The shapes that descriptions, files, messages and pictures name: what makes one from numbers, how
# many, and what these are [m]. Hulls and meshes are not made of sizes.
SHAPES: dict[str, tuple[Callable[..., Shape], int, str]] = {
    'box': (lambda *edges: Box(edges), 3, 'edges'),
    'sphere': (Sphere, 1, 'radius'),
    'capsule': (Capsule, 2, 'radius and length'),
    'cylinder': (Cylinder, 2, 'radius and length'),
    'ellipsoid': (ellipsoid, 3, 'radii'),
    'cone': (cone, 2, 'radius and length'),
    'half_space': (HalfSpace, 0, ''),
}


def make_shape(kind: str, *sizes: float) -> Shape:
    """
    Return a shape of a kind of SHAPES.

    Raises
    ------
    OptionError
        If there is no such kind, or if the sizes are not its own.

    """
    make, number, _ = SHAPES.get(kind, (HalfSpace, -1, ''))
    if len(sizes) != number:
        raise OptionError('shape', (kind, *sizes), f'{", ".join(SHAPES)}, each with its sizes')
    return make(*sizes)


def _hull_core(points: Array) -> Core:
    from scipy.spatial import ConvexHull, QhullError

    over = 0.0
    try:
        hull = ConvexHull(points)
        corners = points[hull.vertices]
        if len(corners) > MAX_POINTS:
            corners, over = _reduced(corners, hull.equations)
    except QhullError:  # The points are in a plane, or on a line, where joggled ones have an area.
        middle = points - points.mean(axis=0)
        plane = middle @ np.linalg.svd(middle, full_matrices=False)[2][:2].T
        try:
            corners = points[ConvexHull(plane).vertices]
        except QhullError:
            corners = points[ConvexHull(plane, qhull_options='QJ').vertices]
    low, high = corners.min(axis=0), corners.max(axis=0)
    centre = 0.5 * (low + high)
    kept = corners - centre
    ball = float(np.sqrt((kept * kept).sum(axis=1).max()))
    return Core(HULL, (0.0, 0.0, 0.0, 0.0, ball), kept, centre, over)


def _reduced(corners: Array, facets: Array) -> tuple[Array, float]:
    """
    Return the corners of a simpler polytope around a hull, and its largest overestimate [m].

    It begins with the box around the hull. Each round cuts off the corner that is farthest beyond
    a facet of the hull, by the plane of that facet, until there is no more room for corners.
    """
    from scipy.spatial import HalfspaceIntersection, QhullError

    inside = corners.mean(axis=0)
    axes = np.vstack((np.eye(3), -np.eye(3)))
    planes = np.column_stack((axes, -(corners @ axes.T).max(axis=0)))
    best = HalfspaceIntersection(planes, inside).intersections
    for _ in range(len(facets)):
        beyond = best @ facets[:, :3].T + facets[:, 3]
        planes = np.vstack((planes, facets[np.unravel_index(beyond.argmax(), beyond.shape)[1]]))
        try:
            cut = HalfspaceIntersection(planes, inside).intersections
        except QhullError:
            break
        cut = np.unique(np.round(cut, 12), axis=0)
        if len(cut) > MAX_POINTS or not np.isfinite(cut).all():
            break
        best = cut
    return best, max(distance_from_hull(point, corners) for point in best)


def distance_from_hull(point: Array, corners: Array) -> float:
    """Return the distance of a point from a hull [m]: the weights of its corners by NNLS."""
    from scipy.optimize import nnls

    size = np.abs(corners - point).max() or 1.0
    heavy = 1e4
    rows = np.vstack(((corners - point).T / size, np.full(len(corners), heavy)))
    weights = nnls(rows, np.array([0.0, 0.0, 0.0, heavy]))[0]
    away = (weights / weights.sum()) @ (corners - point)
    return float(np.sqrt(away @ away))
