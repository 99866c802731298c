"""Rows of diagnostics as messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from ik_node.ros.status_row import StatusRow

# DiagnosticStatus.level is one byte.
_LEVELS = (DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR)


def diagnostic_array(rows: Iterable[StatusRow], stamp: Any, hardware_id: str) -> DiagnosticArray:
    """Return the message with one status a row."""
    message = DiagnosticArray()
    message.header.stamp = stamp
    message.status = [
        DiagnosticStatus(
            level=_LEVELS[row.level],
            name=row.name,
            message=row.message,
            hardware_id=hardware_id,
            values=[KeyValue(key=key, value=value) for key, value in row.values.items()],
        )
        for row in rows
    ]
    return message
