"""Conversion of scene shapes to meshes of one colour each, in the shape's frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import ceil, floor
from operator import attrgetter
from typing import Any, NamedTuple

from ik_node.scene.mesh import mesh_of
from ik_node.scene.shapes import (
    Arrow,
    Capsule,
    Cylinder,
    Rgba,
    Sector,
    Segment,
    Shape,
    Sphere,
    Triad,
)
import numpy as np
from numpy.typing import NDArray

# Corners closer than this share of the size are merged.
_SAME = 1e-6
# Edges within this angle of half a turn from the hand count as following the hand [rad].
_EDGE = 1e-9
# An edge of a sector that is not a limit is drawn at a multiple of this angle [rad].
SEAM = np.pi / 12.0
# The attributes on which the mesh of a shape depends.
_FORMS: dict[type[Shape], Callable[[Shape], Any]] = {
    Segment: attrgetter('width', 'rgba'),
    Arrow: attrgetter('radius', 'length', 'segments', 'rgba'),
    Cylinder: attrgetter('radius', 'length', 'segments', 'rgba'),
    Capsule: attrgetter('radius', 'length', 'segments', 'rgba'),
    Sphere: attrgetter('radius', 'segments', 'rgba'),
    Sector: attrgetter('radius', 'inner_radius', 'lower', 'upper', 'segments', 'rgba'),
    Triad: attrgetter('length', 'width', 'rgba'),
}


class ShapeMesh(NamedTuple):
    """
    A mesh of one colour.

    Attributes
    ----------
    vertices : ndarray, shape (n, 3)
        [m]
    faces : ndarray, shape (m, 3)
        Vertex indices of the triangles.
    rgba : tuple of float
        Each from 0 to 1.
    key : tuple
        Equal for meshes with the same triangles and opacity.
    is_hand : bool
        Whether it is the hand of a sector, which points along x in this mesh.

    """

    vertices: NDArray[np.float32]
    faces: NDArray[np.uint32]
    rgba: Rgba
    key: tuple[Any, ...]
    is_hand: bool = False


def settled(shape: Shape) -> Shape:
    """
    Return a shape with the edges of a sector that follow its hand rounded to steps.

    Such edges are half a turn from the hand if the limits are more than a turn apart. Without the
    steps, every value would need a new mesh.
    """
    if not isinstance(shape, Sector) or shape.value is None:
        return shape
    low = abs(shape.value - np.pi - shape.lower) < _EDGE
    high = abs(shape.value + np.pi - shape.upper) < _EDGE
    if low and high:
        return replace(shape, lower=-np.pi, upper=np.pi)
    if high:
        return replace(shape, upper=SEAM * ceil(shape.upper / SEAM))
    if low:
        return replace(shape, lower=SEAM * floor(shape.lower / SEAM))
    return shape


def form_of(shape: Shape) -> tuple[Any, ...]:
    """Return the type and the attributes on which the mesh of a shape depends."""
    kind = type(shape)
    form = _FORMS.get(kind)
    return (kind,) if form is None else (kind, *form(shape))


def meshes_of(shape: Shape) -> list[ShapeMesh]:
    """
    Return the meshes of a shape in its own frame; a line is 1 m long, and a text has no mesh.

    Parameters
    ----------
    shape : Shape
        The shape; its pose has no effect.

    """
    plain = replace(
        shape, name='', of='', position=(0.0, 0.0, 0.0), quat_xyzw=(0.0, 0.0, 0.0, 1.0)
    )
    if isinstance(plain, Segment):
        plain = replace(plain, length=1.0)
    if isinstance(plain, Sector):
        plain = replace(plain, value=None if plain.value is None else 0.0)
    return _meshes(plain)


@lru_cache(maxsize=4096)
def _meshes(shape: Shape) -> list[ShapeMesh]:
    triangles, colours = mesh_of(shape)
    # Round shapes need shared corners for smooth shading.
    smooth = isinstance(shape, (Capsule, Sphere))
    made = []
    *size, _ = form_of(shape)
    for number, rgba in enumerate(dict.fromkeys(map(tuple, colours.tolist()))):
        chosen = triangles[(colours == rgba).all(axis=1)]
        r, g, b, opacity = rgba
        hand = number == 1 and isinstance(shape, Sector)
        # Sectors of one size share the mesh of their hand.
        key = (Sector, 'hand', shape.radius) if isinstance(shape, Sector) and hand else size
        vertices, faces = _mesh(chosen.reshape(-1, 3), smooth)
        made.append(ShapeMesh(vertices, faces, (r, g, b, opacity), (*key, number, opacity), hand))
    return made


def _mesh(
    corners: NDArray[np.float64], smooth: bool
) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    faces = np.arange(len(corners))
    if smooth:
        grid = np.round(corners / (_SAME * max(np.ptp(corners), 1e-12)))
        _, first, inverse = np.unique(grid, axis=0, return_index=True, return_inverse=True)
        corners, faces = corners[first], inverse.reshape(-1)
    return corners.astype(np.float32), faces.reshape(-1, 3).astype(np.uint32)
