"""The ground of a robot with links that stand on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ik_node.mechanism import Mechanism
from ik_node.model.goal import Goal


class Terrain(NamedTuple):
    """
    The ground of a robot with links that stand on it.

    `shape` returns its height [m] at x, y [m]; `standing` has the heights of links above it [m],
    by the goal's name.
    """

    shape: Callable[[float, float], float]
    standing: Mapping[str, float]
    scale: float = 1.0

    def height(self, x: float, y: float) -> float:
        """Return the height of the ground [m]."""
        return self.scale * self.shape(x, y)

    def heights(self, robot: Mechanism) -> dict[Goal, float]:
        """Return the heights [m] of the enabled goals of standing links for their places."""
        found = {}
        for name, above in self.standing.items():
            goal = robot.goals.get(name)
            if goal is not None and goal.enabled and goal.child is not None:
                x, y = goal.child.matrix_world[:2, 3].tolist()
                found[goal] = self.height(x, y) + above
        return found
