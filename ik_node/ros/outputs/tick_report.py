"""Result of one tick, or of the answer to a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ik_node.ros.messages.convert import Pose
from ik_node.solver import Solution
import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class TickReport:
    """
    The result of one tick, or of a measurement that is answered between ticks.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        Configuration to publish [rad or m], with closed loops and within limits.
    velocity : ndarray, shape (nq,)
        Difference to the last tick divided by the time between them, or to the answer to the last
        measurement divided by the difference of their stamps [rad/s or m/s].
    solution : Solution or None
        The solver's result, also if it is reused from an earlier tick; None without a solve.
    held : str
        Why `q` is that of the last tick, or why there was no solve; '' otherwise.
    notes : tuple of str
        Further information for the user, for example about stale input.
    under_way : bool
        True if `q` is on the way to the solution, at the velocity limits.
    goals : mapping of str to (position, quat_xyzw)
        Poses of the solved goals, root frame [m].
    stale : bool
        True if input was stale and its age is not ignored.
    silent : bool
        True if joint states must not be published.
    effort : ndarray, shape (nq,), or None
        Efforts from measured ones [N m or N]; None = unknown.

    """

    q: NDArray[np.float64]
    velocity: NDArray[np.float64]
    solution: Solution | None
    held: str = ''
    notes: tuple[str, ...] = ()
    under_way: bool = False
    goals: Mapping[str, Pose] = field(default_factory=dict)
    stale: bool = False
    silent: bool = False
    effort: NDArray[np.float64] | None = None

    @property
    def converged(self) -> bool:
        """Return True if `q` meets every goal and closes every loop."""
        return (
            not self.held
            and not self.under_way
            and self.solution is not None
            and (self.solution.status.name == 'CONVERGED')
        )
