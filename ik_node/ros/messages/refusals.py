"""Counts of refused inputs, and when to say so."""

from __future__ import annotations

from ik_node.errors import IkError, shown


class RefusedInputError(IkError):
    """
    A message cannot be used; nothing changes but a counter.

    Attributes
    ----------
    topic : str
        Where it came from.
    field : str
        The field at fault.
    value : object
        Its value.

    """

    def __init__(self, topic: str, field: str, value: object, reason: str) -> None:
        self.topic = topic
        self.field = field
        self.value = value
        super().__init__(f'{topic}: {field} = {shown(value)} refused: {reason}')


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
        self._logged_at: dict[str, float] = {}

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
        logged_at = self._logged_at.get(topic)
        if logged_at is not None and now - logged_at < self.pause:
            return False
        self._logged_at[topic] = now
        return True

    @property
    def total(self) -> int:
        """All refusals since the start."""
        return sum(self.counts.values())
