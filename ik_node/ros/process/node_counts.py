"""What the node counts about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class NodeCounts:
    """
    Counts since the start.

    Attributes
    ----------
    ticks : int
        Ticks done.
    missed_ticks : int
        Ticks that did not come because the node's own work overran them.
    goals : int
        Goal messages taken.
    joint_states : int
        Measured joint states taken.
    last_error : str
        Why an answer was last not passed on; '' if that never was.

    """

    ticks: int = 0
    missed_ticks: int = 0
    goals: int = 0
    joint_states: int = 0
    last_error: str = ''

    def add_tick(self, work: float, period: float) -> int:
        """Count one tick whose work took `work` [s]; return how many ticks it overran."""
        self.ticks += 1
        missed = int(work / period)
        self.missed_ticks += missed
        return missed
