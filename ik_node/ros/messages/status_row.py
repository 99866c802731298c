"""A diagnostic status as plain data, and its conversion to messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from ik_node.errors import MOST_TEXT, plain

# Longest value, long enough for the names of a large robot.
MOST_VALUE = 100_000
# DiagnosticStatus.level is one byte.
_LEVELS = (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR)


def fill_diagnostics(
    message: DiagnosticArray, rows: Sequence[StatusRow], stamp: Any, hardware_id: str
) -> None:
    """Write one status per row, reusing the objects in the message, which saves time."""
    message.header.stamp = stamp
    _resize(message.status, len(rows), DiagnosticStatus)
    for status, row in zip(message.status, rows, strict=True):
        status.level = _LEVELS[row.level]
        status.name = plain(row.name, MOST_TEXT)
        status.message = plain(row.message, MOST_TEXT)
        status.hardware_id = hardware_id
        _resize(status.values, len(row.values), KeyValue)
        for pair, (key, value) in zip(status.values, row.values.items(), strict=True):
            pair.key, pair.value = plain(key, MOST_TEXT), plain(value, MOST_VALUE)


def _resize(parts: list[Any], size: int, kind: type) -> None:
    del parts[size:]
    parts += [kind() for _ in range(size - len(parts))]


OK = 0
WARN = 1
ERROR = 2


@dataclass
class StatusRow:
    """The content of one diagnostic_msgs/DiagnosticStatus."""

    level: int  # OK, WARN or ERROR of this module, with the values of the message.
    name: str  # Subject of the status.
    message: str  # One sentence.
    values: dict[str, str] = field(default_factory=dict)  # Text by label.


def status_name(node: Any) -> str:
    """Return the prefix of a node's status names, different for any two nodes."""
    name: str = node.get_fully_qualified_name()
    return name.lstrip('/')
