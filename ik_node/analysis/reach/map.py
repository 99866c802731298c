"""Map of the points of a plane that a link can reach."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ik_node.analysis.reach.grid import Grid
from ik_node.analysis.reach.spread import Spread
from ik_node.solver import Solver
from ik_node.solver.batch.batch_solution import BatchSolution
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Slice:
    """
    A grid of points in a plane that is parallel to two axes of the root frame.

    `plane`: xy, xz or yz; the first axis is drawn to the right, the second one upwards. `at`:
    third coordinate of the plane [m]. `extent`: first and last coordinate along the first axis,
    and along the second one [m]. `grid`: number of points along the longer side; the cells are
    squares. `projected`: whether the third coordinate is free, so that the map is a projection.
    """

    plane: str
    at: float
    extent: tuple[float, float, float, float]
    grid: int
    projected: bool = False

    @property
    def axes(self) -> tuple[int, int, int]:
        """Return the indices of the two axes of the plane, and of the third axis."""
        first, second = ('xyz'.index(axis) for axis in self.plane)
        return first, second, 3 - first - second

    @property
    def name(self) -> str:
        """Return the equation of the plane, or the direction of projection."""
        if self.projected:
            return f'projection along {"xyz"[self.axes[2]]}'
        # Adding zero makes -0.0 the same as 0.0.
        return f'plane {"xyz"[self.axes[2]]} = {round(self.at, 6) + 0.0:.6g} m'

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """Return the coordinates of the points along the two axes [m]."""
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

    @cached_property
    def as_grid(self) -> Grid:
        """Return the grid of the points, row by row from below."""
        first, second, third = self.axes
        across, up = self.sides
        origin, steps = np.zeros(3), np.zeros((2, 3))
        origin[first], origin[second], origin[third] = across[0], up[0], self.at
        steps[0, second] = (up[-1] - up[0]) / (len(up) - 1)
        steps[1, first] = (across[-1] - across[0]) / (len(across) - 1)
        return Grid(origin, steps, self.shape)

    @cached_property
    def points(self) -> Array:
        """Return all points, (N, 3) [m], row by row from below."""
        return self.as_grid.points(np.arange(self.as_grid.count))

    def lift(self, flat: Array) -> Array:
        """Return the points (N, 3) of coordinates (N, 2) on the plane."""
        first, second, third = self.axes
        points = np.empty((len(flat), 3))
        points[:, first], points[:, second], points[:, third] = flat[:, 0], flat[:, 1], self.at
        return points

    def flatten(self, points: Array) -> Array:
        """Return the coordinates on the plane (..., 2) of points (..., 3)."""
        return points[..., list(self.axes[:2])]

    def nearest(self, point: Array) -> int:
        """Return the index of the grid point nearest to a point (3,)."""
        gaps = self.flatten(self.points) - self.flatten(point)
        return int(np.argmin(np.sum(gaps**2, axis=1)))


class ReachMap(Spread):
    """
    The results at every point of a slice.

    Parameters
    ----------
    solver : Solver
        Its options set the number of restarts.
    goal : str
        Name of the goal.
    quat_xyzw : ndarray, shape (4,)
        Orientation of the goal, root frame.
    points : Slice
        The grid of goal positions.
    home : ndarray, shape (nq,)
        The present configuration [rad or m].
    threads : int, optional
        None = one per core.

    Attributes
    ----------
    points : Slice

    """

    def __init__(
        self,
        solver: Solver,
        goal: str,
        quat_xyzw: Array,
        points: Slice,
        home: Array,
        threads: int | None = None,
    ) -> None:
        super().__init__(solver, goal, points.as_grid, quat_xyzw[None], home, threads=threads)
        self.points = points

    def follow(self, flat: Array, starts: Array) -> BatchSolution:
        """Solve for coordinates (n, 2) on the plane from starts (n, nq), without restarts."""
        return self.follow_points(self.points.lift(flat), starts)
