"""Consistent configurations of a robot: within limits and with closed loops, spread over both."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ik_node.errors import IkError, listed, OptionError
from ik_node.model.given import one_of, whole_number
from ik_node.solver import Solver, SolverOptions
from ik_node.solver.modes import main_link
from ik_node.solver.states import StateSampler
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ik_node.mechanism import Mechanism

Array = NDArray[np.float64]

SPREADS = ('joints', 'workspace')
# Configurations of one batch, and those that are drawn for each that is kept evenly in space.
BATCH, SURPLUS = 8192, 3
# Batches in a row that give nothing before the search ends.
EMPTY = 20


def sample(
    robot: Mechanism,
    count: int,
    seed: int = 0,
    spread: str = 'joints',
    *,
    link: str | None = None,
    mode: str | None = None,
    avoid_collisions: bool | None = None,
    collision_margin: float = 0.0,
    threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Array:
    """Return configurations with closed loops, see `Robot.sample`."""
    count = whole_number('count', count, 1)
    one_of('spread', spread, SPREADS)
    seed = whole_number('seed', seed)
    avoiding = SolverOptions(avoid_collisions=avoid_collisions, collision_margin=collision_margin)
    avoidance = Solver(robot, avoiding).problem_for(()).avoidance
    solver = Solver(robot, SolverOptions(restarts=0, seed=seed, avoid_collisions=False))
    seen: set[str] = set()

    def accepts(q: Array) -> NDArray[np.bool_]:
        """Return True for configurations in the mode whose bodies are apart."""
        good = np.ones(len(q), bool)
        if mode is not None:
            labels = solver.modes().labels(q)
            seen.update(labels.tolist())
            good = labels == mode
        if avoidance is not None:
            good[good] = [avoidance.is_free(each) for each in q[good]]
        return good

    try:
        sampler = StateSampler(solver, robot.actuated, seed, threads, accepts)
    except IkError as error:
        if mode is None or mode in seen:
            raise
        raise OptionError('mode', mode, f'one of {listed(sorted(seen))}') from error
    wanted = count * SURPLUS if spread == 'workspace' else count
    found: list[Array] = []
    have, empty = 0, 0
    while have < wanted:
        new = sampler.draw(min(BATCH, max(64, int(1.2 * (wanted - have)))))
        found.append(new)
        have += len(new)
        empty = 0 if len(new) else empty + 1
        if empty >= EMPTY:
            raise IkError(f'only {have} such configurations with closed loops were found')
        if progress is not None:
            progress(min(count, have * count // wanted), count)
    q = np.concatenate(found)[:wanted]
    if spread == 'joints':
        return q
    if link is None:
        goals = [goal.child for goal in robot.goals.values() if goal.child is not None]
        link = goals[0].name if goals else main_link(robot.links, robot.closures.values())
    return q[_evenly(robot.forward(q, link)[:, :3, 3], count, sampler.random)]


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
