"""What one tick, or the answer to a measurement, has to say."""

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
    The outcome of one tick, or of a measurement that is answered between ticks.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        What goes out [rad, m]: loops closed, within limits.
    velocity : ndarray, shape (nq,)
        Difference to the tick before over the time between them, or to the answer to the
        measurement before over the difference of their stamps [rad/s, m/s].
    solution : Solution or None
        What the solver said, now or when it was asked the same before; None without a question.
    held : str
        Why `q` is that of the tick before, or why there was nothing to solve; '' else.
    notes : tuple of str
        What else a user should know, stale input for instance.
    under_way : bool
        Whether `q` is not the solution's but on the way there, at the velocity limits.
    goals : mapping of str to (position, quat_xyzw)
        What was solved for, root frame.
    stale : bool
        Whether input was stale, and its age not to be ignored.
    silent : bool
        Whether joint states are not to be published.

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

    @property
    def converged(self) -> bool:
        """Whether `q` meets every goal and closes every loop."""
        return (
            not self.held
            and not self.under_way
            and self.solution is not None
            and (self.solution.status.name == 'CONVERGED')
        )
