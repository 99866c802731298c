"""Consistent configurations of a robot: within limits and with closed loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ik_node.errors import IkError
from ik_node.solver.problem.joint_table import JointTable
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
# Goals that every configuration meets, and their poses.
Held = Mapping[str, tuple[ArrayLike, ArrayLike]]

# Configurations from which loops are closed again, and starts made for each of the first ones.
POOL, STARTS = 128, 40
# Shares of the way of the motors to values that are drawn.
SHARE = (0.1, 1.0)
# A value without limits is drawn from so much on either side of its present one [rad or m].
WIDE = np.pi
SPREADS = ('joints', 'workspace')
# Configurations of one batch, and those that are drawn for each that is kept evenly in space.
BATCH, SURPLUS = 8192, 3
# Batches in a row that give nothing before the search ends.
EMPTY = 20


def closed_samples(solver: Any, count: int, seed: int = 0, goals: Held | None = None) -> Array:
    """
    Return random configurations within the limits, with the loops closed.

    `solver`: its options count, and locked joints keep their values. `seed`: seed of the draws.
    `goals`: goals that every configuration meets, and their poses. Returns at most `count`
    configurations [rad or m], not uniformly distributed: draws whose loops do not close, or that
    do not meet the goals, are left out.
    """
    here, table = solver.q, JointTable(solver.tree)
    widest = WIDE * solver.problem_for(()).units
    # If the limits lie far from the present value, the intervals would be empty.
    low = np.minimum(np.maximum(table.lower, here - widest), table.upper)
    high = np.maximum(np.minimum(table.upper, here + widest), low)
    drawn = np.random.default_rng(seed).uniform(low, high, (count, len(here)))
    drawn[:, table.locked] = here[table.locked]
    batch = solver.solve_batch(repeated(goals or {}, count), drawn)
    samples: Array = batch.q[batch.converged]
    return samples


def repeated(goals: Held, count: int) -> dict[str, tuple[Array, Array]]:
    """Return the same poses of goals for each of `count` problems of a batch."""
    return {
        name: (np.tile(position, (count, 1)), np.tile(quat, (count, 1)))
        for name, (position, quat) in goals.items()
    }


class StateSampler:
    """
    A generator of configurations with closed loops.

    First, loops are closed from random values of all joints, which gives assemblies of many modes.
    Then, again and again, motors are moved from one of the configurations that are known towards
    values that are drawn uniformly, and the loops are closed by the shortest way, with all joints;
    what closes is known from then on.

    Parameters
    ----------
    solver : Solver
        A solver without restarts; its joints are not moved.
    motors : sequence of str
        Joints with a motor; none = all joints are drawn.
    seed : int
        Seed of the draws.
    threads : int, optional
        Number of threads; None = one per core.
    accepts : callable, optional
        Function of configurations, shape (n, nq), that returns True for those to keep, shape (n,).

    """

    def __init__(
        self,
        solver: Any,
        motors: Sequence[str],
        seed: int,
        threads: int | None = None,
        accepts: Callable[[Array], NDArray[np.bool_]] | None = None,
    ) -> None:
        self._solver, self._threads, self._accepts = solver, threads, accepts
        self.random = np.random.default_rng(seed)
        lower, upper = self._solver.limits()
        q = self._solver.q
        self._limits = lower, upper
        self._range = (
            np.where(np.isfinite(lower), lower, np.minimum(q, upper) - WIDE),
            np.where(np.isfinite(upper), upper, np.maximum(q, lower) + WIDE),
        )
        tree = self._solver.tree
        moved = np.full(q.size, not motors)
        moved[list(self._solver.arrays_for(())[1].places(motors))] = True
        moved |= np.isin(tree.names, self._solver.non_chain_joints)
        self._locked = np.array([bool(joint.locked[dof]) for joint, dof in tree.owner])
        self._moved = moved & ~self._locked
        self._pool = self._first_pool() if self._solver.chains else q[None]

    def draw(self, count: int) -> Array:
        """Return up to `count` new configurations, shape (n, nq)."""
        base = self._pool[self.random.integers(len(self._pool), size=count)]
        share = self.random.uniform(*SHARE, (count, 1)) * self._moved
        found = self._closed(base + share * (self._uniform(count) - base))
        if len(found):
            keep = self.random.integers(len(found), size=min(len(found), POOL // 8))
            places = self.random.integers(len(self._pool), size=len(keep))
            self._pool[places] = found[keep]
        return found

    def collect(self, count: int, progress: Callable[[int], object]) -> Array:
        """
        Return new configurations, shape (count, nq); `progress` is called with their number.

        Raises IkError if so many are not found.
        """
        found: list[Array] = []
        have, empty = 0, 0
        while have < count:
            found.append(self.draw(min(BATCH, max(64, int(1.2 * (count - have))))))
            have += len(found[-1])
            empty = 0 if len(found[-1]) else empty + 1
            if empty >= EMPTY:
                raise IkError(f'only {have} such configurations with closed loops were found')
            progress(have)
        return np.concatenate(found)[:count]

    def _uniform(self, count: int) -> Array:
        low, high = self._range
        return self.random.uniform(low, high, (count, len(low)))

    def _closed(self, start: Array) -> Array:
        """Return those of the starts, shape (n, nq), from which the loops close within limits."""
        found = self._solver.solve_batch({}, start, threads=self._threads)
        lower, upper = self._limits
        within = ((found.q >= lower) & (found.q <= upper)).all(axis=1)
        q = np.asarray(found.q[within & found.converged])
        return q if self._accepts is None else q[self._accepts(q)]

    def _first_pool(self) -> Array:
        q, pools = self._solver.q, []
        start = np.where(self._locked, q, self._uniform(POOL * STARTS))
        for share in (1.0, 0.3, 0.1):
            pools.append(self._closed(q + share * (start - q)))
            if sum(map(len, pools)) >= POOL:
                break
        pool = np.concatenate(pools)
        if not len(pool):
            raise IkError('no such configuration with closed loops within limits was found')
        return pool[self.random.integers(len(pool), size=POOL)]


def evenly(points: Array, count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the indices of `count` points, shape (n, 3), that are spread evenly in space."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = max(float((high - low).max()), 1e-12) * (1.0 / max(2.0, count ** (1.0 / 3.0)))
    cell = np.floor((points - low) / size).astype(np.int64) @ (1, 1 << 20, 1 << 40)
    # The first of every cell, then the second of every cell, and so on, in random order.
    order, seen, rank = random.permutation(len(points)), Counter[int](), []
    for each in cell[order].tolist():
        rank.append(seen[each])
        seen[each] += 1
    chosen: NDArray[np.int64] = order[np.argsort(rank, kind='stable')[:count]]
    return chosen
