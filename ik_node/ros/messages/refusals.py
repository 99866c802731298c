"""Counts of refused inputs, and when to say so."""

from __future__ import annotations


class Refusals:
    """
    Count what was refused, per topic, and decide which one is worth a log line.

    A flood of bad messages on one topic must neither fill the log nor hide the first bad message
    on another.

    Parameters
    ----------
    pause : float
        Shortest time between two log lines about one topic [s].

    """

    def __init__(self, pause: float = 2.0) -> None:
        self.pause = pause
        self.counts: dict[str, int] = {}
        self.last = ''
        self._said_at: dict[str, float] = {}

    def add(self, topic: str, reason: str, now: float) -> bool:
        """
        Count one refusal.

        Parameters
        ----------
        topic : str
            Where the input came from.
        reason : str
            Why it was refused.
        now : float
            Present time of a steady clock [s].

        Returns
        -------
        bool
            Whether to log it.

        """
        self.counts[topic] = self.counts.get(topic, 0) + 1
        self.last = reason
        said_at = self._said_at.get(topic)
        if said_at is not None and now - said_at < self.pause:
            return False
        self._said_at[topic] = now
        return True

    @property
    def total(self) -> int:
        """All refusals since the start."""
        return sum(self.counts.values())
