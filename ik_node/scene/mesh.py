"""Conversion of shapes to triangles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, pi

from ik_node.model.rotation import quat_to_matrix
from ik_node.scene.look import AXIS_COLOURS
from ik_node.scene.shapes import (
    Arrow,
    Capsule,
    Cylinder,
    Facets,
    Rgba,
    Sector,
    Segment,
    Shape,
    Solid,
    Sphere,
    Triad,
)
from ik_node.scene.skeleton import z_onto
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Number of sides of lines.
_THIN = 6
# Width of a sector's hand, as a share of its radius.
HAND = 0.07
# Brightness of the hand relative to the face.
HAND_SHADE = 0.6


def mesh_of(shape: Shape) -> tuple[Array, Array]:
    """
    Return the triangles of a shape; a text has none.

    Parameters
    ----------
    shape : Shape
        The shape.

    Returns
    -------
    triangles : ndarray, shape (n, 3, 3)
        Corners of the triangles, root frame [m].
    rgba : ndarray, shape (n, 4)
        Colour of every triangle.

    Examples
    --------
    >>> import ik_node as ik
    >>> link = ik.scene.IKRootsHelper(ik.load_robot('arm6'), layers='links').shapes()[0]
    >>> triangles, rgba = ik.scene.mesh_of(link)
    >>> triangles.shape[1:], rgba.shape[1:]
    ((3, 3), (4,))

    """
    parts = _parts(shape)
    rotation = quat_to_matrix(shape.quat_xyzw)
    triangles = [part @ rotation.T + np.array(shape.position) for part, _ in parts]
    colours = [np.tile(np.array(rgba), (len(part), 1)) for part, rgba in parts]
    return np.concatenate([np.zeros((0, 3, 3)), *triangles]), np.concatenate(
        [np.zeros((0, 4)), *colours]
    )


def _parts(shape: Shape) -> list[tuple[Array, Rgba]]:
    """Return triangles in the shape's own frame with their colours."""
    rgba = shape.rgba
    if isinstance(shape, Segment):
        return [(_tube(0.5 * shape.width, -0.5 * shape.length, 0.5 * shape.length, _THIN), rgba)]
    if isinstance(shape, Cylinder):
        half = 0.5 * shape.length
        return [(_tube(shape.radius, -half, half, shape.segments), rgba)]
    if isinstance(shape, (Capsule, Sphere)):
        half = 0.5 * shape.length if isinstance(shape, Capsule) else 0.0
        turns = np.linspace(-0.5 * pi, 0.5 * pi, 2 * max(2, shape.segments // 4) + 1)
        ball = shape.radius * np.column_stack((np.cos(turns), np.sin(turns)))
        middle = len(turns) // 2
        shift = np.array((0.0, half))
        outline = np.concatenate((ball[: middle + 1] - shift, ball[middle:] + shift))
        return [(_revolved(_divided(outline, shape.radius), shape.segments), rgba)]
    if isinstance(shape, Arrow):
        neck, radius = shape.length - shape.head_length, shape.radius
        outline = np.array(
            ((0, 0), (radius, 0), (radius, neck), (shape.head_radius, neck), (0, shape.length))
        )
        return [(_revolved(_divided(outline, 2.0 * radius), shape.segments), rgba)]
    if isinstance(shape, Sector):
        return _sector(shape)
    if isinstance(shape, Facets):
        return [(np.array(shape.corners).reshape(-1, 3, 3), rgba)]
    if isinstance(shape, Solid) and shape.kind in ('box', 'plane'):
        return [(_box((*shape.size, 0.0)[:3]), rgba)]
    if isinstance(shape, Triad):
        tube = _tube(0.5 * shape.width, 0.0, shape.length, _THIN)
        turns_of = [z_onto(np.eye(4), axis)[:3, :3] for axis in range(3)]
        return [
            (tube @ rotation.T, (*colour[:3], rgba[3]))
            for rotation, colour in zip(turns_of, AXIS_COLOURS, strict=True)
        ]
    return []


def _tube(radius: float, low: float, high: float, segments: int) -> Array:
    """Return a closed cylinder along z."""
    outline = np.array(((0.0, low), (radius, low), (radius, high), (0.0, high)))
    return _revolved(_divided(outline, 4.0 * radius), segments)


def _box(edges: Sequence[float]) -> Array:
    """Return a box: its sides, and the fans of its ends around their middles."""
    square = np.array(((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)))
    ring = np.column_stack((square, np.zeros(5)))
    up = np.array((0.0, 0.0, 1.0))
    rows = np.stack((0.0 * ring - up, ring - up, ring + up, 0.0 * ring + up))
    return _woven(0.5 * np.array(edges) * rows)


def _divided(outline: Array, longest: float) -> Array:
    """Subdivide long segments of an outline, because thin triangles are hard to sort by depth."""
    points = [outline[:1]]
    for start, end in pairwise(outline):
        length = float(np.hypot(*(end - start)))
        pieces = min(16, max(1, ceil(length / longest))) if longest > 0.0 else 1
        shares = np.arange(1, pieces + 1)[:, None] / pieces
        points.append(start + shares * (end - start))
    return np.concatenate(points)


def _revolved(outline: Array, segments: int) -> Array:
    """Return the surface of revolution of an outline (n, 2) of radius and z."""
    angles = 2.0 * pi * np.arange(segments + 1) / segments
    radius, height = outline[:, 0], outline[:, 1]
    points = np.empty((len(outline), segments + 1, 3))
    points[:, :, 0] = radius[:, None] * np.cos(angles)
    points[:, :, 1] = radius[:, None] * np.sin(angles)
    points[:, :, 2] = height[:, None]
    return _woven(points)


def _woven(points: Array) -> Array:
    """Return the triangles of a grid of points (rows, columns, 3), without degenerate ones."""
    a, b, c, d = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    triangles = np.stack((np.stack((a, b, c), axis=2), np.stack((a, c, d), axis=2)), axis=2)
    flat = triangles.reshape(-1, 3, 3)
    normal = np.cross(flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0])
    size = np.sqrt(np.einsum('ni,ni->n', normal, normal))
    # A triangle that is degenerate up to rounding has no reliable normal.
    kept: Array = flat[size > 1e-9 * size.max(initial=0.0)]
    return kept


def _sector(shape: Sector) -> list[tuple[Array, Rgba]]:
    """Return the face of a sector, and its hand, which is flat and opaque."""
    count = max(1, ceil((shape.upper - shape.lower) / (2.0 * pi) * shape.segments))
    angles = np.linspace(shape.lower, shape.upper, count + 1)
    rim = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(count + 1)))
    parts = [(_woven(np.stack((shape.inner_radius * rim, shape.radius * rim))), shape.rgba)]
    if shape.value is not None:
        c, s = np.cos(shape.value), np.sin(shape.value)
        along, aside = np.array((c, s, 0.0)), 0.5 * HAND * np.array((-s, c, 0.0))
        ends = shape.radius * np.array((-aside, aside, along + aside, along - aside))
        hand = np.array((ends[[0, 1, 2]], ends[[0, 2, 3]]))
        r, g, b = (HAND_SHADE * part for part in shape.rgba[:3])
        parts.append((hand, (r, g, b, 1.0)))
    return parts


# Triangles that are seen edge-on, with a smaller share of their area, are not hit.
_EDGE_ON = 1e-12


def ray_hit(eye: Array, along: Array, triangles: Array) -> Array | None:
    """Return the nearest point (3,) where a ray hits triangles (n, 3, 3) [m]; else None."""
    first = triangles[:, 0]
    one, two = triangles[:, 1] - first, triangles[:, 2] - first
    across = np.cross(along, two)
    area = np.einsum('ni,ni->n', one, across)
    seen = np.abs(area) > _EDGE_ON * np.abs(area).max(initial=0.0)
    one, two, across, away = one[seen], two[seen], across[seen], eye - first[seen]
    turned = np.cross(away, one)
    u = np.einsum('ni,ni->n', away, across) / area[seen]
    v = turned @ along / area[seen]
    far = np.einsum('ni,ni->n', two, turned) / area[seen]
    inside = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (far > 0.0)
    if not inside.any():
        return None
    result: Array = eye + far[inside].min() * along
    return result
