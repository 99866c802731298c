"""Regular grids of points: a volume, and its slice in a plane."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Grid:
    """
    The points origin + sum of i_k steps_k with 0 <= i_k < shape_k, numbered in C order.

    `origin` (3,): the first point [m]. `steps` (d, 3): vectors from a point to its next neighbours
    [m]; d = 2 for a slice, 3 for a volume. `shape`: number of points along each step.
    """

    origin: Array
    steps: Array
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """Return the number of points."""
        return math.prod(self.shape)

    def index(self, rows: Ints) -> Ints:
        """Return the indices (n, d) along the steps of the points with some numbers (n,)."""
        result: Ints = np.stack(np.unravel_index(rows, self.shape), axis=-1)
        return result

    def points(self, rows: Ints) -> Array:
        """Return the positions (n, 3) [m] of the points with some numbers (n,)."""
        result: Array = self.origin + self.index(rows) @ self.steps
        return result

    def nearest(self, points: Array) -> Ints:
        """Return the numbers (n,) of the points nearest to others (n, 3); -1 = off the grid."""
        index = np.rint((points - self.origin) @ np.linalg.pinv(self.steps)).astype(np.int64)
        inside = ((index >= 0) & (index < self.shape)).all(axis=-1)
        result: Ints = np.full(len(points), -1)
        result[inside] = np.ravel_multi_index(tuple(index[inside].T), self.shape)
        return result

    def around(self, rows: Ints) -> list[tuple[Ints, Ints]]:
        """
        Return the neighbours of some points, including diagonal ones.

        `rows` (n,): numbers of the points. Returns for each direction the numbers of the
        neighbours, and of the points that they belong to. Diagonal directions come first.
        """
        index, result = self.index(rows), []
        for shift in self._shifts:
            there = index + shift
            inside = ((there >= 0) & (there < self.shape)).all(axis=1)
            numbers = np.ravel_multi_index(tuple(there[inside].T), self.shape)
            result.append((np.asarray(numbers, dtype=np.int64), rows[inside]))
        return result

    @cached_property
    def _shifts(self) -> Ints:
        every = product((1, -1, 0), repeat=len(self.shape))
        by_length = sorted(every, key=lambda shift: -np.count_nonzero(shift))
        return np.array(by_length[:-1])


@dataclass(frozen=True)
class Slice(Grid):
    """
    A grid of points in a plane that is parallel to two axes of the root frame, row by row.

    `plane`: xy, xz or yz; the first axis is drawn to the right, the second one upwards. `extent`:
    first and last coordinate along the first axis, and along the second one [m]. `projected`: True
    if the third coordinate is free, so that the map is a projection. `sides`: coordinates of the
    points along the two axes [m].
    """

    plane: str
    extent: tuple[float, float, float, float]
    projected: bool
    sides: tuple[Array, Array]

    @classmethod
    def of(
        cls,
        plane: str,
        at: float,
        extent: tuple[float, float, float, float],
        count: int,
        *,
        projected: bool = False,
    ) -> Slice:
        """
        Return the slice at a third coordinate `at` [m], with square cells.

        There are `count` points along its longer side.
        """
        left, right, low, high = extent
        step = max(right - left, high - low) / (count - 1)
        across, up = (
            np.linspace(first, last, max(2, 1 + round((last - first) / step)), dtype=np.float64)
            for first, last in ((left, right), (low, high))
        )
        first, second, third = _axes(plane)
        origin, steps = np.zeros(3), np.zeros((2, 3))
        origin[[first, second, third]] = across[0], up[0], at
        steps[0, second] = (up[-1] - up[0]) / (len(up) - 1)
        steps[1, first] = (across[-1] - across[0]) / (len(across) - 1)
        shape = (len(up), len(across))
        return cls(origin, steps, shape, plane, extent, projected, (across, up))

    @property
    def axes(self) -> tuple[int, int, int]:
        """Return the indices of the two axes of the plane, and of the third axis."""
        return _axes(self.plane)

    @property
    def name(self) -> str:
        """Return the equation of the plane, or the direction of projection."""
        third = self.axes[2]
        if self.projected:
            return f'projection along {"xyz"[third]}'
        # Adding zero makes -0.0 the same as 0.0.
        return f'plane {"xyz"[third]} = {round(float(self.origin[third]), 6) + 0.0:.6g} m'

    def lift(self, flat: Array) -> Array:
        """Return the points (N, 3) of coordinates (N, 2) on the plane."""
        points: Array = np.tile(self.origin, (len(flat), 1))
        points[:, list(self.axes[:2])] = flat
        return points

    def flatten(self, points: Array) -> Array:
        """Return the coordinates on the plane (..., 2) of points (..., 3)."""
        return points[..., list(self.axes[:2])]

    def closest(self, point: Array) -> int:
        """Return the number of the grid point nearest to any point (3,)."""
        gaps = self.flatten(self.points(np.arange(self.count))) - self.flatten(point)
        return int(np.argmin(np.sum(gaps**2, axis=1)))


def _axes(plane: str) -> tuple[int, int, int]:
    first, second = ('xyz'.index(axis) for axis in plane)
    return first, second, 3 - first - second
