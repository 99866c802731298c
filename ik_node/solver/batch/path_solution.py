"""The result of a path: joint values with times, and the points that were not solved."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.solver.batch.batch_solution import BatchSolution
from ik_node.solver.batch.batch_work import BatchChain
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


class PathSolution(BatchSolution):
    """
    The result of `Solver.solve_path`, which does not change the robot.

    `path[n]` is the `Solution` of point n, and `len(path)` is the number of points.

    Attributes
    ----------
    q : ndarray, shape (N, nq)
        Joint values [rad or m], in the order of `Solver.joint_names`.
    times : ndarray, shape (N,)
        Time of each point [s], such that no joint exceeds its largest speed.
    velocity : ndarray, shape (N, nq)
        Mean velocity from the point before [rad/s or m/s]; the first row is zero.
    longer : ndarray, shape (N,), bool
        True if the step to the point takes longer than requested.
    status, iterations, starts : ndarray, shape (N,)
        As in `BatchSolution`; iterations are the sum over all solves of the step to the point.
    torn : ndarray, shape (N,), bool
        True if joints would have to jump to reach the point.
    solve_time : float
        Time of the whole path [s].

    """

    def __init__(
        self,
        q: Array,
        chains: Sequence[BatchChain],
        solve_time: float,
        joints: Array,
        packed: Array,
        names: Sequence[str],
        times: tuple[Array, Bools],
        torn: Bools,
    ) -> None:
        super().__init__(q, chains, solve_time, joints, packed, names)
        self.times, self.longer = times
        self.torn = torn
        self.velocity: Array = np.zeros_like(q)
        self.velocity[1:] = np.diff(q, axis=0) / np.diff(self.times)[:, None]

    @property
    def failures(self) -> list[tuple[int, int]]:
        """Return the first and last point of every stretch of the path that was not solved."""
        left = np.flatnonzero(~self.converged)
        cuts = np.flatnonzero(np.diff(left) > 1) + 1
        return [(int(part[0]), int(part[-1])) for part in np.split(left, cuts) if part.size]

    @property
    def message(self) -> str:
        """Return a sentence with the unsolved stretches and their reasons, and slowed steps."""
        parts = []
        for first, last in self.failures[:3]:
            where = f'point {first}' if first == last else f'points {first} to {last}'
            parts.append(f'{where}: {self._why(first)}')
        more = len(self.failures) - 3
        parts += [f'and {more} more stretches'] if more > 0 else []
        if parts:
            text = f'{int((~self.converged).sum())} of {len(self)} not solved; ' + '; '.join(parts)
        else:
            text = f'{Status.CONVERGED.name}: all {len(self)}'
        slowed = int(self.longer.sum())
        return text + (f'; {slowed} steps take longer than requested' if slowed else '')

    def _why(self, point: int) -> str:
        why = self[point].message
        return f'{why}; from this point on joints would have to jump' if self.torn[point] else why
