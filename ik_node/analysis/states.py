"""Consistent configurations of a robot: within limits and with closed loops, spread over both."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ik_node.errors import IkError
from ik_node.model.given import one_of, whole_number
from ik_node.solver import Solver, SolverOptions
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ik_node.mechanism import Mechanism

Array = NDArray[np.float64]

SPREADS = ('joints', 'workspace')
# Configurations from which loops are closed again, how many of them are wanted, and how many
# starts are made for each.
POOL, STARTS = 128, 40
# Configurations of one batch, and those that are drawn for each that is kept evenly in space.
BATCH, SURPLUS = 8192, 3
# Shares of the way of the motors to values that are drawn.
SHARE = (0.1, 1.0)
# Batches in a row that give nothing before the search ends.
EMPTY = 20
# A value without limits is drawn from so much on either side of its present one [rad or m].
WIDE = np.pi


class StateSampler:
    """
    A generator of configurations with closed loops.

    First, loops are closed from random values of all joints, which gives assemblies of many modes.
    Then, again and again, motors are moved from one of the configurations that are known towards
    values that are drawn uniformly, and the loops are closed by the shortest way, with all joints;
    what closes is known from then on.

    Parameters
    ----------
    robot : Mechanism
        The robot; its joints are not moved.
    seed : int
        Seed of the draws.
    threads : int, optional
        Number of threads; None = one per core.

    """

    def __init__(self, robot: Mechanism, seed: int, threads: int | None = None) -> None:
        self._robot, self._threads = robot, threads
        self._random = np.random.default_rng(seed)
        self._solver = Solver(robot, SolverOptions(restarts=0, seed=seed))
        lower, upper = self._solver.limits()
        q = self._solver.q
        self._limits = lower, upper
        self._range = (
            np.where(np.isfinite(lower), lower, np.minimum(q, upper) - WIDE),
            np.where(np.isfinite(upper), upper, np.maximum(q, lower) + WIDE),
        )
        tree, motors = self._solver.tree, list(robot.actuated)
        moved = np.full(q.size, not motors)
        moved[list(self._solver.arrays_for(())[1].places(motors))] = True
        moved |= np.isin(tree.names, self._solver.non_chain_joints)
        self._locked = np.array([bool(joint.locked[dof]) for joint, dof in tree.owner])
        self._moved = moved & ~self._locked
        self._pool = self._first_pool() if robot.closures else q[None]

    def draw(self, count: int) -> Array:
        """Return up to `count` new configurations, shape (n, nq)."""
        base = self._pool[self._random.integers(len(self._pool), size=count)]
        share = self._random.uniform(*SHARE, (count, 1)) * self._moved
        found = self._closed(base + share * (self._uniform(count) - base))
        if len(found):
            keep = self._random.integers(len(found), size=min(len(found), POOL // 8))
            places = self._random.integers(len(self._pool), size=len(keep))
            self._pool[places] = found[keep]
        return found

    def _uniform(self, count: int) -> Array:
        low, high = self._range
        return self._random.uniform(low, high, (count, len(low)))

    def _closed(self, start: Array) -> Array:
        """Return those of the starts, shape (n, nq), from which the loops close within limits."""
        found = self._solver.solve_batch({}, start, threads=self._threads)
        lower, upper = self._limits
        within = ((found.q >= lower) & (found.q <= upper)).all(axis=1)
        return found.q[within & found.converged]

    def _first_pool(self) -> Array:
        q, pools = self._solver.q, []
        start = np.where(self._locked, q, self._uniform(POOL * STARTS))
        for share in (1.0, 0.3, 0.1):
            pools.append(self._closed(q + share * (start - q)))
            if sum(map(len, pools)) >= POOL:
                break
        pool = np.concatenate(pools)
        if not len(pool):
            raise IkError('no configuration with closed loops within limits was found')
        return pool[self._random.integers(len(pool), size=POOL)]


def sample(
    robot: Mechanism,
    count: int,
    seed: int = 0,
    spread: str = 'joints',
    *,
    link: str | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Array:
    """Return configurations with closed loops, see `Robot.sample`."""
    count = whole_number('count', count, 1)
    one_of('spread', spread, SPREADS)
    sampler = StateSampler(robot, whole_number('seed', seed), threads)
    wanted = count * SURPLUS if spread == 'workspace' else count
    found: list[Array] = []
    have, empty = 0, 0
    while have < wanted:
        new = sampler.draw(min(BATCH, max(64, int(1.2 * (wanted - have)))))
        found.append(new)
        have += len(new)
        empty = 0 if len(new) else empty + 1
        if empty >= EMPTY:
            raise IkError(f'only {have} configurations with closed loops were found')
        if progress is not None:
            progress(min(count, have * count // wanted), count)
    q = np.concatenate(found)[:wanted]
    if spread == 'joints':
        return q
    link = main_link(robot) if link is None else link
    return q[_evenly(robot.forward(q, link)[:, :3, 3], count, sampler._random)]


def main_link(robot: Mechanism) -> str:
    """Return the link of the first goal, or else the one with most loops, or else the last one."""
    for goal in robot.goals.values():
        if goal.child is not None:
            return str(goal.child.name)
    ends = [str(each.child.name) for each in robot.closures.values() if each.child is not None]
    links = [name for name in robot.links if robot.links[name].parent is not None]
    return max(links, key=lambda name: (ends.count(name), links.index(name)), default='')


def _evenly(points: Array, count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the indices of `count` points, shape (n, 3), that are spread evenly in space."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = max(float((high - low).max()), 1e-12) * (1.0 / max(2.0, count ** (1.0 / 3.0)))
    cell = np.floor((points - low) / size).astype(np.int64) @ (1, 1 << 20, 1 << 40)
    # The first of every cell, then the second of every cell, and so on, in random order.
    order = random.permutation(len(points))
    _, group = np.unique(cell[order], return_inverse=True)
    by_group = np.argsort(group, kind='stable')
    starts = np.flatnonzero(np.diff(group[by_group], prepend=-1))
    rank = np.empty(len(points), np.int64)
    rank[by_group] = np.arange(len(points)) - np.repeat(
        starts, np.diff(np.append(starts, len(points)))
    )
    chosen: NDArray[np.int64] = order[np.argsort(rank, kind='stable')[:count]]
    return chosen
