"""What came out of a path: where the joints are when, and where it was left."""

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
    The outcome of `Solver.solve_path`; nothing of the robot was changed.

    `path[n]` is the `Solution` of point n, with names and reasons.

    Attributes
    ----------
    q : ndarray, shape (N, nq)
        Joint values [rad or m], in the order of `Solver.joint_names`.
    times : ndarray, shape (N,)
        When to be there [s], so that no joint is faster than it may be.
    velocity : ndarray, shape (N, nq)
        Of every joint on the way to the point, from the one before [rad/s or m/s]; the first row
        is zero.
    longer : ndarray, shape (N,), bool
        Whether the step to the point takes longer than was asked.
    status, iterations, starts : ndarray, shape (N,)
        As in a batch; iterations of all solves on the way to the point.
    torn : ndarray, shape (N,), bool
        Whether joints would have had to jump to get to the point.
    solve_time : float
        Of all together [s].

    """

    def __init__(
        self,
        q: Array,
        chains: Sequence[BatchChain],
        solve_time: float,
        joints: Array,
        packed: Array,
        times: tuple[Array, Bools],
        torn: Bools,
    ) -> None:
        super().__init__(q, chains, solve_time, joints, packed)
        self.times, self.longer = times
        self.torn = torn
        self.velocity: Array = np.zeros_like(q)
        self.velocity[1:] = np.diff(q, axis=0) / np.diff(self.times)[:, None]

    @property
    def failures(self) -> list[tuple[int, int]]:
        """First and last point of every stretch that was not solved."""
        left = np.flatnonzero(~self.converged)
        cuts = np.flatnonzero(np.diff(left) > 1) + 1
        return [(int(part[0]), int(part[-1])) for part in np.split(left, cuts) if part.size]

    @property
    def message(self) -> str:
        """Return a sentence that says where the path was left and why, and where it is slowed."""
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
        return text + (f'; {slowed} steps take longer than asked' if slowed else '')

    def _why(self, point: int) -> str:
        why = self[point].message
        return f'{why}; from here joints would have to jump' if self.torn[point] else why
