"""The exception for input that the node does not take."""

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
