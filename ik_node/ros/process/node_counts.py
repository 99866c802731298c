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
    longest_interval : float
        Longest time between two ticks since it was last set to 0 [s].
    last_error : str
        Why a solution was last rejected or a tick failed; '' if none was.

    """

    ticks: int = 0
    missed_ticks: int = 0
    goals: int = 0
    joint_states: int = 0
    longest_interval: float = 0.0
    last_error: str = ''
    _last_tick: float | None = None

    def add_tick(self, work: float, period: float, begin: float | None = None) -> int:
        """
        Count one tick that took `work` [s]; return how many periods it overran.

        `begin` is its time by a steady clock [s].
        """
        self.ticks += 1
        if begin is not None and self._last_tick is not None:
            self.longest_interval = max(self.longest_interval, begin - self._last_tick)
        self._last_tick = begin
        missed = int(work / period)
        self.missed_ticks += missed
        return missed
