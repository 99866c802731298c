"""Shapes of a scene as meshes of one colour each, in the shape's own frame."""

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

# Corners nearer than this share of the size are one.
_SAME = 1e-6
# Edges nearer than this to half a turn from the hand [rad] are there.
_EDGE = 1e-9
# Where the edge of a sector is no limit, it is drawn at a multiple of this [rad].
SEAM = np.pi / 12.0
# What makes another mesh necessary, and with it the colour.
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
    Triangles of one colour.

    Attributes
    ----------
    vertices : ndarray, shape (n, 3)
        [m]
    faces : ndarray, shape (m, 3)
        Numbers of the corners.
    rgba : tuple of float
        Each from 0 to 1.
    key : tuple
        Equal where another mesh has the same triangles and opacity.
    is_hand : bool
        Whether it is a sector's hand, which points along x here.

    """

    vertices: NDArray[np.float32]
    faces: NDArray[np.uint32]
    rgba: Rgba
    key: tuple[Any, ...]
    is_hand: bool = False


def settled(shape: Shape) -> Shape:
    """
    Return a shape as it is drawn: of a sector, the edges that follow its hand go in steps.

    They are half a turn from it, where limits are more than a turn apart. Another mesh for every
    value would soon be thousands.
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
    """Return what a shape is but for name, place, text, length of a line, and its hand."""
    kind = type(shape)
    form = _FORMS.get(kind)
    return (kind,) if form is None else (kind, *form(shape))


def meshes_of(shape: Shape) -> list[ShapeMesh]:
    """
    Return a shape's meshes in its own frame; a line is 1 m long, and a text has none.

    Parameters
    ----------
    shape : Shape
        Where it is does not count.

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
    # Round things look round when neighbours share their corners.
    smooth = isinstance(shape, (Capsule, Sphere))
    made = []
    *size, _ = form_of(shape)
    for number, rgba in enumerate(dict.fromkeys(map(tuple, colours.tolist()))):
        chosen = triangles[(colours == rgba).all(axis=1)]
        r, g, b, opacity = rgba
        hand = number == 1 and isinstance(shape, Sector)
        # Sectors of one size have the same hand, whatever their limits.
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
