"""Map of the points of a plane that a link can reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from ik_node.solver import Solver, SolverOptions, Status
from ik_node.solver.batch.batch_solution import BatchSolution
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PLANES = ('xy', 'xz', 'yz')


@dataclass(frozen=True)
class Slice:
    """
    A grid of points in a plane that is parallel to two axes of the root frame.

    Attributes
    ----------
    plane : str
        One of `PLANES`; the first axis is drawn to the right, the second one upwards.
    at : float
        Third coordinate of the plane [m].
    extent : (float, float, float, float)
        First and last coordinate along the first axis, and along the second one [m].
    grid : int
        Number of points along the longer side; the cells are squares.
    projected : bool
        Whether the third coordinate is free, so that the map is a projection.

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

    @property
    def points(self) -> Array:
        """Return all points, (N, 3) [m], row by row from below."""
        across, up = np.meshgrid(*self.sides)
        return self.lift(np.column_stack((across.ravel(), up.ravel())))

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


Ints = NDArray[np.int64]
Show = Callable[[int, int], None]

# Number of points that are tried with restarts before new results are spread.
BLOCK = 500
# Steps to the direct neighbours, then to the diagonal ones.
_SHIFTS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))


class ReachMap:
    """
    The results at every point of a grid.

    Starting at the present configuration, solutions are spread from point to neighbour, with small
    joint motions. Points that are not reached this way are tried from many starts, and new
    solutions are spread again. The result does not depend on the number of threads.

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
    q : ndarray, shape (N, nq)
        Configuration [rad or m] at which the link is at the point, or nearest to it.
    status : ndarray, shape (N,)
        `Status`, -1 = not yet tried.
    position_error, orientation_error : ndarray, shape (N,)
        Residuals [m] and [rad].
    starts : ndarray, shape (N,)
        Number of starts.

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
        self.points = points
        self._solver, self._goal, self._quat = solver, goal, quat_xyzw
        self._home, self._threads = home, threads
        self._searching, self._following = solver.options, replace(solver.options, restarts=0)
        self._positions = points.points
        count = len(self._positions)
        self.q: Array = np.tile(home, (count, 1))
        self.status: Ints = np.full(count, -1)
        self.position_error: Array = np.full(count, np.inf)
        self.orientation_error: Array = np.full(count, np.inf)
        self.starts: Ints = np.zeros(count, dtype=np.int64)
        self._given_up = np.zeros(count, dtype=np.bool_)

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Return True for each point (N,) that the link reaches."""
        found: NDArray[np.bool_] = self.status == Status.CONVERGED
        return found

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Return True for each point (N,) that is reached or given up."""
        known: NDArray[np.bool_] = self.reached | self._given_up
        return known

    def fill(self, first: int, show: Show) -> None:
        """
        Solve for all points.

        After an exception, such as Ctrl-C, the results so far stay.

        Parameters
        ----------
        first : int
            Index of the first point.
        show : callable
            Called with the number of decided points and the number of all points.

        """
        self._spread(self._try(np.array([first]), self._home, self._following), show)
        while True:
            rows = np.flatnonzero(~self.decided)[:BLOCK]
            if not len(rows):
                return
            before = int(np.count_nonzero(self.decided))

            def progress(done: int, _: int, before: int = before) -> None:
                show(before + done, len(self.q))

            fresh = self._try(rows, self._home, self._searching, progress)
            self._given_up[rows] = True
            self._spread(fresh, show)

    def follow(self, flat: Array, starts: Array) -> BatchSolution:
        """Solve for coordinates (n, 2) on the plane from starts (n, nq), without restarts."""
        return self._solve(self.points.lift(flat), starts, self._following)

    def _spread(self, fresh: Ints, show: Show) -> None:
        """Spread solutions from newly reached points to neighbours until none is added."""
        while len(fresh):
            show(int(np.count_nonzero(self.decided)), len(self.q))
            source = np.full(np.add(self.points.shape, 2), -1)
            rows, columns = np.divmod(fresh, self.points.shape[1])
            for up, right in reversed(_SHIFTS):
                source[rows + 1 + up, columns + 1 + right] = fresh
            sources = source[1:-1, 1:-1].ravel()
            open_ = np.flatnonzero((sources >= 0) & ~self.reached)
            fresh = self._try(open_, self.q[sources[open_]], self._following)

    def _try(
        self, rows: Ints, starts: Array, options: SolverOptions, progress: Show | None = None
    ) -> Ints:
        """Solve for some points, keep better results, and return the points now reached."""
        batch = self._solve(self._positions[rows], starts, options, progress)
        error = batch.goal_errors[self._goal]
        before = self.position_error[rows] + self.orientation_error[rows]
        better = batch.converged | (error.position + error.orientation < before)
        self.starts[rows] += batch.starts
        self.q[rows[better]] = batch.q[better]
        self.position_error[rows[better]] = error.position[better]
        self.orientation_error[rows[better]] = error.orientation[better]
        self.status[rows[better]] = batch.status[better]
        fresh: Ints = rows[batch.converged]
        return fresh

    def _solve(
        self, positions: Array, starts: Array, options: SolverOptions, progress: Show | None = None
    ) -> BatchSolution:
        self._solver.options = options
        poses = {self._goal: (positions, np.tile(self._quat, (len(positions), 1)))}
        return self._solver.solve_batch(poses, starts, threads=self._threads, progress=progress)
