"""All tasks by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tasks.arms import arm_tasks, chain_tasks
from tasks.fourbar import fourbar_tasks
from tasks.humanoid import humanoid_tasks
from tasks.platforms import legs_tasks, stewart_tasks
from tasks.task import Task

# Group -> makers of its tasks, usual number of problems, what it is.
GROUPS: dict[str, tuple[Callable[[int, int], Iterator[Task]], int, str]] = {
    'arms': (arm_tasks, 500, '6R and 7R arms, from random starts and from home'),
    'fourbar': (fourbar_tasks, 500, 'crank angle given, cold and swept; coupler point'),
    'stewart': (stewart_tasks, 400, 'six legs: pose from home, tracking, lengths to pose'),
    'chain': (chain_tasks, 100, 'chains of 10 to 1000 hinges, time of a step'),
    'legs': (legs_tasks, 100, 'platforms with 6 to 60 legs'),
    'humanoid': (humanoid_tasks, 200, '52 joints, four-bar knees, ankles on rods'),
}


def tasks_of(groups: list[str], count: int | None = None, seed: int = 0) -> Iterator[Task]:
    """Yield the tasks of some groups."""
    for group in groups:
        make, usual, _ = GROUPS[group]
        yield from make(usual if count is None else count, seed)
