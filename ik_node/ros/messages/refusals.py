"""Counts of refused messages, and the limit on log lines about them."""

from __future__ import annotations

from ik_node.errors import IkError, shown


class RefusedInputError(IkError):
    """
    A message cannot be used; the node only counts and logs it.

    Attributes
    ----------
    topic : str
        Topic of the message.
    field : str
        Name of the invalid field.
    value : object
        Value of the field.

    """

    def __init__(self, topic: str, field: str, value: object, reason: str) -> None:
        self.topic = topic
        self.field = field
        self.value = value
        super().__init__(f'{topic}: {field} = {shown(value)} refused: {reason}')


class Refusals:
    """
    A counter of refused messages per topic, which limits the rate of log lines.

    Many bad messages on one topic must neither fill the log nor hide the first bad message on
    another topic.

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
            Topic of the message.
        reason : str
            Reason of the refusal.
        now : float
            Time of a steady clock [s].

        Returns
        -------
        bool
            True if it should be logged.

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
        """Return the number of refusals since the start."""
        return sum(self.counts.values())
