"""The search for the reachable ones of many poses, which spreads solutions between neighbours."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Generic, TypeVar

from ik_node.analysis.reach.grid import Grid
from ik_node.model.constraint import Goal
from ik_node.solver import Solver, Status
from ik_node.solver.batch.batch_solution import BatchSolution
from ik_node.solver.options import SolverOptions
from ik_node.solver.states import Held, repeated
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Show = Callable[[int, int], object]
AnyGrid = TypeVar('AnyGrid', bound=Grid)

# Number of points that are tried with restarts before new results are spread: in a slice, whose
# order of results the table shows, and in a volume.
BLOCK, LARGE_BLOCK = 500, 5000
# Number of problems whose results are held in memory at once.
TOGETHER = 50_000
# In a volume, the points with even indices are tried with restarts if they are at most so many
# cells from a reached one, and those with indices divisible by 4 anywhere. All points are tried
# that are at most so many cells from one that restarts have reached.
NEAR, AROUND_HIT = 4, 3


class Spread(Generic[AnyGrid]):
    """
    The results for every point of a grid, in one orientation or several.

    Starting at known configurations, solutions are spread from point to neighbour, with small
    joint motions. Points that are not reached this way are tried from many starts, and new
    solutions are spread again. The result does not depend on the number of threads or workers.

    `solver`: its options set the number of restarts. `quats_xyzw` (K, 4): the orientations of the
    goal, root frame. `home` (nq,): the present configuration [rad or m]. `held`: further goals and
    their poses, which every solution meets. `threads`, `executor`: as in `Solver.solve_batch`.
    `thorough`: True to try every point from many starts, so that the results of points that are
    not reached are the nearest ones. With False, only a share of the points is tried, which
    becomes smaller with the distance to reached points, see `NEAR`. `near`: the object of the
    goal, a tolerance for it, and a distance [m]: a point that is not reached exactly, but up to
    this distance, also counts as reached within that tolerance. `dtype`: type of the stored joint
    values; single precision halves the memory.

    Attributes: `q` (K * N, nq): configuration [rad or m] at which the link is at the point, within
    the tolerance of `near`, or nearest to it; orientation by orientation. `status` (K * N,):
    `Status`, -1 = not tried. `position_error`, `orientation_error` (K * N,): residuals [m] and
    [rad]. `starts` (K * N,): number of starts.
    """

    def __init__(
        self,
        solver: Solver,
        goal: str,
        grid: AnyGrid,
        quats_xyzw: Array,
        home: Array,
        *,
        held: Held | None = None,
        threads: int | None = None,
        executor: Executor | None = None,
        thorough: bool = True,
        near: tuple[Goal, tuple[float, ...], float] | None = None,
        dtype: type = np.float64,
    ) -> None:
        self._solver, self._goal, self.grid = solver, goal, grid
        self._quats, self._home = quats_xyzw, home
        self._held, self._thorough, self._near = dict(held or {}), thorough, near
        self._threads, self._executor = threads, executor
        self._searching, self._following = solver.options, replace(solver.options, restarts=0)
        count = len(quats_xyzw) * grid.count
        self.q: NDArray[Any] = np.empty((count, len(home)), dtype=dtype)
        self.q[:] = home
        self.status: NDArray[np.int8] = np.full(count, -1, dtype=np.int8)
        self.position_error: NDArray[Any] = np.full(count, np.inf, dtype=dtype)
        self.orientation_error: NDArray[Any] = np.full(count, np.inf, dtype=dtype)
        self.starts: NDArray[np.int32] = np.zeros(count, dtype=np.int32)
        self._given_up = np.zeros(count, dtype=np.bool_)
        self._hit = np.zeros(count, dtype=np.bool_)
        # For each point of the grid, the neighbour from which it is tried next.
        self._source: Ints = np.empty(grid.count, dtype=np.int64)

    @property
    def reached(self) -> Bools:
        """Return True for each pose (K * N,) that the link reaches."""
        result: Bools = self.status == Status.CONVERGED
        return result

    @property
    def decided(self) -> Bools:
        """Return True for each pose (K * N,) that is reached or given up."""
        known: Bools = self.reached | self._given_up
        return known

    def fill(self, rows: Ints, starts: Array, show: Show) -> None:
        """
        Solve for all poses.

        After an exception, such as Ctrl-C, the results so far stay.

        `rows` (n,): numbers of poses near which configurations are known; the first one is most
        important. `starts` (n, nq): these configurations [rad or m]. `show`: called with the
        number of decided poses and the number of all poses.
        """
        count = self.grid.count
        for done, (k, near) in enumerate(self._order(int(rows[0]) // count)):
            first = k * count

            def progress(k: int = k, done: int = done, more: int = 0) -> None:
                decided = self.status[self._part(k)] == Status.CONVERGED
                decided |= self._given_up[self._part(k)]
                show(done * count + int(np.count_nonzero(decided)) + more, len(self.q))

            mine = np.flatnonzero(rows // count == k)
            for some in (mine[:1], mine[1:]):
                some = some[self.status[rows[some]] != Status.CONVERGED]
                _, unique = np.unique(rows[some], return_index=True)
                some = some[unique]
                self._spread(k, self._try(rows[some], starts[some], self._following), progress)
            if near is not None:
                self._spread(k, self._turn(k, near), progress)
            while len(few := self._worth_a_search(k)):
                # Each problem that ends within the batch counts as decided on the progress bar.
                fresh = self._try(
                    few, self._home, self._searching, lambda more, _: progress(more=more)
                )
                self._given_up[few] = True
                self._hit[fresh] = True
                self._spread(k, fresh, progress)
            self._given_up[first : first + count] = True
            progress()

    def _order(self, first: int) -> list[tuple[int, int | None]]:
        """Return the orientations from the first one on, and the nearest one before each."""
        alike = np.abs(self._quats @ self._quats.T)
        order: list[tuple[int, int | None]] = [(first, None)]
        left = [k for k in range(len(self._quats)) if k != first]
        while left:
            done = [k for k, _ in order]
            table = alike[np.ix_(left, done)]
            at, near = np.unravel_index(int(np.argmax(table)), table.shape)
            order.append((left.pop(int(at)), done[int(near)]))
        return order

    def _part(self, k: int) -> slice:
        return slice(k * self.grid.count, (k + 1) * self.grid.count)

    def _turn(self, k: int, near: int) -> Ints:
        """Try every second point along each axis from its solution in another orientation."""
        reached = np.flatnonzero(self.status[self._part(near)] == Status.CONVERGED)
        reached = reached[(self.grid.index(reached) % 2 == 0).all(axis=1)]
        rows = reached + k * self.grid.count
        open_ = self.status[rows] != Status.CONVERGED
        starts = self.q[reached[open_] + near * self.grid.count]
        return self._try(rows[open_], starts, self._following)

    def _worth_a_search(self, k: int) -> Ints:
        """Return the numbers of the next poses to try from many starts."""
        part = self._part(k)
        reached = self.status[part] == Status.CONVERGED
        open_ = ~(reached | self._given_up[part])
        if self._thorough:
            first: Ints = np.flatnonzero(open_)[:BLOCK] + part.start
            return first
        rows = np.flatnonzero(open_)
        index = self.grid.index(rows)
        # Sparse points first: a region that they find is spread over and needs no search.
        levels = ((None, 0, 4), (reached, NEAR, 2), (self._hit[part], AROUND_HIT, 1))
        for marked, most, stride in levels:
            worth = (index % stride == 0).all(axis=1)
            if marked is not None:
                worth &= self._cells_from(marked)[rows] <= most
            if worth.any():
                few: Ints = rows[worth][:LARGE_BLOCK] + part.start
                return few
        return rows[:0]

    def _cells_from(self, marked: Bools) -> NDArray[Any]:
        """Return the distance of every point from the nearest marked one, in cells."""
        if not marked.any():
            return np.full(len(marked), np.inf)
        from scipy.ndimage import distance_transform_cdt

        shaped = ~marked.reshape(self.grid.shape)
        result: NDArray[Any] = distance_transform_cdt(shaped, metric='chessboard').ravel()
        return result

    def _spread(self, k: int, fresh: Ints, progress: Callable[[], None]) -> None:
        """Spread solutions from newly reached points to neighbours until none is added."""
        first = k * self.grid.count
        while len(fresh):
            progress()
            pairs = self.grid.around(fresh - first)
            for neighbours, sources in pairs:
                self._source[neighbours] = sources
            # The last source of each neighbour is the only one that is still in the table.
            rows, sources = (np.concatenate(each) for each in zip(*pairs, strict=True))
            chosen = (self._source[rows] == sources) & (
                self.status[rows + first] != Status.CONVERGED
            )
            rows, sources = rows[chosen] + first, sources[chosen] + first
            order = np.argsort(rows)
            rows, sources = rows[order], sources[order]
            fresh = self._try(rows, self.q[sources], self._following)

    def _try(
        self,
        rows: Ints,
        starts: NDArray[Any],
        options: SolverOptions,
        progress: Show | None = None,
    ) -> Ints:
        """Solve for some poses, keep better results, and return the poses now reached."""
        fresh = [rows[:0]]
        for first in range(0, len(rows), TOGETHER):
            some = rows[first : first + TOGETHER]
            begin = starts if starts.ndim == 1 else starts[first : first + TOGETHER]
            k, points = np.divmod(some, self.grid.count)
            positions, quats = self.grid.points(points), self._quats[k]
            batch = self._solve(positions, quats, begin, options, progress)
            error = batch.goal_errors[self._goal]
            self._keep(some, batch, error.position + error.orientation)
            if self._near is not None:
                goal, tolerance, most = self._near
                goal.tolerance = tolerance
                left = ~batch.converged & (error.position <= most)
                given = positions[left], quats[left], batch.q[left]
                inside = self._solve(*given, self._following) if left.any() else None
                goal.tolerance = None
                if inside is not None:
                    self._keep(some[left], inside, np.inf)
            fresh.append(some[self.status[some] == Status.CONVERGED])
        return np.concatenate(fresh)

    def _keep(self, rows: Ints, batch: BatchSolution, error: Array | float) -> None:
        """Keep the results of some poses that converged, or whose error is less than before."""
        errors = batch.goal_errors[self._goal]
        before = self.position_error[rows] + self.orientation_error[rows]
        better = batch.converged | (error < before)
        self.starts[rows] += batch.starts.astype(np.int32)
        rows = rows[better]
        self.q[rows] = batch.q[better]
        self.position_error[rows] = errors.position[better]
        self.orientation_error[rows] = errors.orientation[better]
        self.status[rows] = batch.status[better]

    def follow(self, positions: Array, starts: Array) -> BatchSolution:
        """Solve for positions (n, 3) from starts (n, nq), without restarts, first orientation."""
        quats = np.tile(self._quats[0], (len(positions), 1))
        return self._solve(positions, quats, starts, self._following)

    def _solve(
        self,
        positions: Array,
        quats: Array,
        starts: NDArray[Any],
        options: SolverOptions,
        progress: Show | None = None,
    ) -> BatchSolution:
        self._solver.options = options
        poses = {self._goal: (positions, quats), **repeated(self._held, len(positions))}
        return self._solver.solve_batch(
            poses, starts, threads=self._threads, executor=self._executor, progress=progress
        )
