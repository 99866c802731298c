"""A plane through the room, and a grid on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PLANES = ('xy', 'xz', 'yz')


@dataclass(frozen=True)
class Slice:
    """
    Points of a plane that is parallel to two axes of the root frame.

    Attributes
    ----------
    plane : str
        Of `PLANES`; the first axis is drawn to the right, the second one upwards.
    at : float
        Where it is along the third axis [m].
    extent : (float, float, float, float)
        First and last point along the first axis, and along the second one [m].
    grid : int
        Points along the longer side; the shorter one has as many as make squares.
    projected : bool
        Whether it stands for all planes beside it, too: the third coordinate is not asked for.

    """

    plane: str
    at: float
    extent: tuple[float, float, float, float]
    grid: int
    projected: bool = False

    @property
    def axes(self) -> tuple[int, int, int]:
        """Return the two axes of the plane, and the third one."""
        first, second = ('xyz'.index(axis) for axis in self.plane)
        return first, second, 3 - first - second

    @property
    def name(self) -> str:
        """Return the equation of the plane, or what is projected onto it."""
        if self.projected:
            return f'projection along {"xyz"[self.axes[2]]}'
        # Adding zero makes -0.0 the same as 0.0.
        return f'plane {"xyz"[self.axes[2]]} = {round(self.at, 6) + 0.0:.6g} m'

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """Coordinates of the points along the two axes [m]."""
        left, right, low, high = self.extent
        step = max(right - left, high - low) / (self.grid - 1)
        across, up = (max(2, 1 + round(side / step)) for side in (right - left, high - low))
        to_right: Array = np.linspace(left, right, across, dtype=np.float64)
        upwards: Array = np.linspace(low, high, up, dtype=np.float64)
        return to_right, upwards

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of points upwards, and to the right."""
        across, up = self.sides
        return len(up), len(across)

    @property
    def points(self) -> Array:
        """All points, (N, 3) [m], row by row from below."""
        across, up = np.meshgrid(*self.sides)
        return self.lift(np.column_stack((across.ravel(), up.ravel())))

    def lift(self, flat: Array) -> Array:
        """Return the points (N, 3) of coordinates (N, 2) on the plane."""
        first, second, third = self.axes
        points = np.empty((len(flat), 3))
        points[:, first], points[:, second], points[:, third] = flat[:, 0], flat[:, 1], self.at
        return points

    def flatten(self, points: Array) -> Array:
        """Return coordinates on the plane (..., 2), of points (..., 3) seen along its normal."""
        return points[..., list(self.axes[:2])]

    def nearest(self, point: Array) -> int:
        """Return the place of the point of the grid that is nearest to one (3,)."""
        gaps = self.flatten(self.points) - self.flatten(point)
        return int(np.argmin(np.sum(gaps**2, axis=1)))
