"""What one tick has to say."""

from __future__ import annotations

from dataclasses import dataclass

from ik_node.solver import Solution
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TickReport:
    """
    The outcome of one tick.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        What goes out [rad, m]: loops closed, within limits.
    velocity : ndarray, shape (nq,)
        Difference to the tick before over the time between them [rad/s, m/s].
    solution : Solution or None
        What the solver said; None when it was not asked.
    held : str
        Why `q` is that of the tick before and not the solution's; '' when it is the solution's.
    notes : tuple of str
        What else a user should know, stale input for instance.

    """

    q: NDArray[np.float64]
    velocity: NDArray[np.float64]
    solution: Solution | None
    held: str = ''
    notes: tuple[str, ...] = ()

    @property
    def converged(self) -> bool:
        """Whether `q` meets every goal and closes every loop."""
        return (
            not self.held
            and self.solution is not None
            and (self.solution.status.name == 'CONVERGED')
        )
