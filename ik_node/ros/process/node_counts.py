"""Counters of the node for its diagnostics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class NodeCounts:
    """
    The counters since the start.

    Attributes
    ----------
    ticks : int
        Number of ticks.
    missed_ticks : int
        Number of ticks lost because a tick took longer than its period.
    goals : int
        Number of accepted goal messages.
    joint_states : int
        Number of accepted joint states.
    last_error : str
        Why a solution was last rejected or a tick failed; '' if none was.

    """

    ticks: int = 0
    missed_ticks: int = 0
    goals: int = 0
    joint_states: int = 0
    last_error: str = ''

    def add_tick(self, work: float, period: float) -> int:
        """Count one tick that took `work` [s]; return how many periods it overran."""
        self.ticks += 1
        missed = int(work / period)
        self.missed_ticks += missed
        return missed
