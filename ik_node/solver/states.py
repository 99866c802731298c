"""Consistent configurations of a robot: within limits and with closed loops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
import itertools
from typing import Any

from ik_node.errors import IkError
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


def closed_samples(
    solver: Any, count: int, seed: int = 0, goals: Held | None = None, threads: int | None = None
) -> Array:
    """
    Return at most `count` random configurations within limits, with the loops closed [rad or m].

    They are not uniformly distributed: draws whose loops do not close, or that do not meet the
    `goals`, are left out. The options of the solver count, and locked joints keep their values.
    """
    here, table = solver.q, solver.refresh().table
    widest = WIDE * solver.problem_for(()).units
    # If the limits lie far from the present value, the intervals would be empty.
    low = np.minimum(np.maximum(table.lower, here - widest), table.upper)
    high = np.maximum(np.minimum(table.upper, here + widest), low)
    drawn = np.random.default_rng(seed).uniform(low, high, (count, len(here)))
    drawn[:, table.locked] = here[table.locked]
    batch = solver.solve_batch(repeated(goals or {}, count), drawn, threads=threads)
    return np.asarray(batch.q[batch.converged])


def repeated(goals: Held, count: int) -> dict[str, tuple[Array, Array]]:
    """Return the same poses of goals for each of `count` problems of a batch."""
    return {
        name: (np.tile(position, (count, 1)), np.tile(quat, (count, 1)))
        for name, (position, quat) in goals.items()
    }


def state_draws(
    solver: Any,
    motors: Sequence[str],
    random: np.random.Generator,
    threads: int | None = None,
    kept: Callable[[Array], Array] = lambda q: q,
) -> Callable[[int], Array]:
    """
    Return a function that draws up to so many configurations with closed loops, shape (n, nq).

    First, loops are closed from random values of all joints, which gives assemblies of many modes.
    Then, again and again, motors (all joints, if there are none) are moved from one of the
    configurations that are known towards values that are drawn uniformly, and the loops are closed
    by the shortest way, with all joints; what closes is known from then on.

    `solver`: one without restarts. `kept`: returns those of configurations (n, nq) to keep. Raises
    IkError if there is no first one.
    """
    (lower, upper), q, table = solver.limits(), solver.q, solver.refresh().table
    low = np.where(np.isfinite(lower), lower, np.minimum(q, upper) - WIDE)
    high = np.where(np.isfinite(upper), upper, np.maximum(q, lower) + WIDE)
    moved = np.full(q.size, not motors)
    moved[table.places(motors)] = True
    moved |= np.isin(solver.joint_names, solver.non_chain_joints)
    moved &= ~table.locked
    pool = q[None]
    if solver.chains:
        seed = int(random.integers(1 << 31))
        pool = kept(closed_samples(solver, POOL * STARTS, seed, threads=threads))
    if not len(pool):
        raise IkError('no such configuration with closed loops within limits was found')
    pool = pool[random.integers(len(pool), size=POOL)]

    def draw(count: int) -> Array:
        base = pool[random.integers(POOL, size=count)]
        share = random.uniform(*SHARE, (count, 1)) * moved
        way = random.uniform(low, high, base.shape) - base
        batch = solver.solve_batch({}, base + share * way, threads=threads)
        found = kept(batch.q[batch.converged])
        keep = random.integers(len(found), size=min(len(found), POOL // 8))
        pool[random.integers(POOL, size=len(keep))] = found[keep]
        return found

    return draw


def evenly(points: Array, count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return the indices of `count` points, shape (n, 3), that are spread evenly in space."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = max(float((high - low).max()), 1e-12) * (1.0 / max(2.0, count ** (1.0 / 3.0)))
    cell = np.floor((points - low) / size).astype(np.int64) @ (1, 1 << 20, 1 << 40)
    # The first of every cell, then the second of every cell, and so on, in random order.
    order = random.permutation(len(points))
    ranks = defaultdict[int, Iterator[int]](itertools.count)
    rank = [next(ranks[each]) for each in cell[order].tolist()]
    return np.asarray(order[np.argsort(rank, kind='stable')[:count]])
