"""The plan that controllers follow while the node sends no commands of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math


@dataclass(eq=False)
class FollowedPlan:
    """
    A joint-space plan that was given to the controllers.

    Attributes
    ----------
    stop : callable
        Has the controllers stop, for a reason: (str) -> None.
    accepted : bool
        False until the controllers have accepted it.
    end : float
        Time at which it ends by itself [s]; infinite = when the controllers say so.
    behind : callable
        Returns by how much the motors are behind it [s]; 0 where the controllers watch them.

    """

    stop: Callable[[str], None]
    accepted: bool = False
    end: float = math.inf
    behind: Callable[[], float] = float
