"""One diagnostic status as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

OK = 0
WARN = 1
ERROR = 2


@dataclass
class StatusRow:
    """
    What becomes a diagnostic_msgs/DiagnosticStatus.

    Attributes
    ----------
    level : int
        OK, WARN or ERROR of this module, which are the message's own.
    name : str
        What it is about.
    message : str
        One sentence.
    values : dict
        Label to text.

    """

    level: int
    name: str
    message: str
    values: dict[str, str] = field(default_factory=dict)


def status_name(node: Any) -> str:
    """Return what the names of a node's statuses begin with, different for any two nodes."""
    name: str = node.get_fully_qualified_name()
    return name.lstrip('/')
