"""The surface of a level in a regular grid of values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# Number of relaxations, which smooth the steps of the cells.
ROUNDS = 4


def surface_nets(field: NDArray[Any], level: float) -> tuple[Array, Ints]:
    """
    Return the surface between values above and below a level, by surface nets.

    Each cube between eight neighbouring values, of which some are above the level, has one vertex,
    at first in the mean of the crossings of its edges. Each edge that the surface crosses has one
    quadrilateral between the vertices of the four cubes around it. Relaxation moves each vertex to
    the mean of its neighbours, within its cube.

    `field` (nx, ny, nz): the values; everything outside is below the level. Returns `vertices` (n,
    3), in steps of the grid; the first value is at the origin and `faces` (m, 3), triangles,
    counterclockwise from the side of the lower values.

    References
    ----------
    Gibson, Constrained elastic surface nets, 1998.

    """
    values = np.pad(np.asarray(field, dtype=np.float64), 1) - level
    above = values > 0.0
    cubes: list[Ints] = []
    sides: list[NDArray[np.bool_]] = []
    points: list[Array] = []
    for axis in range(3):
        high, one, other = np.roll(np.eye(3, dtype=int), -axis, axis=0)
        first = tuple(slice(0, n - h) for n, h in zip(values.shape, high, strict=True))
        second = tuple(slice(h, None) for h in high)
        edges = np.argwhere(above[first] != above[second])
        before, after = values[first][tuple(edges.T)], values[second][tuple(edges.T)]
        points.append(edges + (before / (before - after))[:, None] * high)
        around = np.stack([edges - one - other, edges - other, edges, edges - one], axis=1)
        cubes.append(np.ravel_multi_index(tuple(np.moveaxis(around, -1, 0)), values.shape))
        sides.append(before > 0.0)
    quads, crossings = np.concatenate(cubes), np.concatenate(points)
    corners, numbers = np.unique(quads, return_inverse=True)
    numbers = numbers.reshape(quads.shape)
    vertices = _means(numbers, np.repeat(crossings[:, None], 4, axis=1), len(corners))
    outwards = np.concatenate(sides)[:, None]
    numbers = np.where(outwards, numbers, numbers[:, ::-1])
    corner = np.stack(np.unravel_index(corners, values.shape), axis=1)
    for _ in range(ROUNDS):
        nearby = 0.5 * (vertices[np.roll(numbers, 1, axis=1)] + vertices[np.roll(numbers, -1, 1)])
        vertices = np.clip(_means(numbers, nearby, len(corners)), corner, corner + 1)
    faces = np.concatenate([numbers[:, [0, 1, 2]], numbers[:, [0, 2, 3]]])
    return vertices - 1.0, faces


def _means(numbers: Ints, places: Array, count: int) -> Array:
    """Return the means (count, 3) of the places (n, 4, 3) with each number (n, 4)."""
    index = numbers.ravel()
    total = np.maximum(np.bincount(index, minlength=count), 1)
    flat = places.reshape(-1, 3)
    result: Array = np.stack(
        [np.bincount(index, flat[:, k], minlength=count) / total for k in range(3)], axis=1
    )
    return result
