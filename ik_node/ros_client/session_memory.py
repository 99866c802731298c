"""What the page of a running node goes back to."""

from __future__ import annotations

from typing import NamedTuple

from ik_node.ros.parameters.goal_settings import GoalSettings
import numpy as np
from numpy.typing import NDArray


class PeerMemory(NamedTuple):
    """
    A node's goals and joints at one time.

    Attributes
    ----------
    goals : tuple of GoalSettings
        Those that only rest while joints lead take part.
    poses : dict of str to ndarray, shape (4, 4)
        Where the goals are, root frame [m].
    closed : dict of str to bool
        Closures, and whether they are made.
    q : ndarray, shape (nq,)
        All joints [rad or m].

    """

    goals: tuple[GoalSettings, ...]
    poses: dict[str, NDArray[np.float64]]
    closed: dict[str, bool]
    q: NDArray[np.float64]
