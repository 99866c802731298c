"""A regular grid of points in a plane or in space."""

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
        found: Ints = np.stack(np.unravel_index(rows, self.shape), axis=-1)
        return found

    def points(self, rows: Ints) -> Array:
        """Return the positions (n, 3) [m] of the points with some numbers (n,)."""
        found: Array = self.origin + self.index(rows) @ self.steps
        return found

    def nearest(self, points: Array) -> Ints:
        """Return the numbers (n,) of the points nearest to others (n, 3); -1 = off the grid."""
        index = np.rint((points - self.origin) @ np.linalg.pinv(self.steps)).astype(np.int64)
        inside = ((index >= 0) & (index < self.shape)).all(axis=-1)
        found: Ints = np.full(len(points), -1)
        found[inside] = np.ravel_multi_index(tuple(index[inside].T), self.shape)
        return found

    def around(self, rows: Ints) -> list[tuple[Ints, Ints]]:
        """
        Return the neighbours of some points, including diagonal ones.

        `rows` (n,): numbers of the points. Returns for each direction the numbers of the
        neighbours, and of the points that they belong to. Diagonal directions come first.
        """
        index, found = self.index(rows), []
        for shift in self._shifts:
            there = index + shift
            inside = ((there >= 0) & (there < self.shape)).all(axis=1)
            numbers = np.ravel_multi_index(tuple(there[inside].T), self.shape)
            found.append((np.asarray(numbers, dtype=np.int64), rows[inside]))
        return found

    @cached_property
    def _shifts(self) -> Ints:
        every = product((1, -1, 0), repeat=len(self.shape))
        by_length = sorted(every, key=lambda shift: -np.count_nonzero(shift))
        return np.array(by_length[:-1])
