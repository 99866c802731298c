"""Checks of the process, counts of its work, and its logger."""

from __future__ import annotations

from dataclasses import dataclass
import os
from typing import Any

from ik_node.errors import MOST_TEXT, plain
from ik_node.ros.messages.status_row import status_name, StatusRow, WARN
from rclpy.impl import rcutils_logger
from rclpy.node import Node


class _Check:
    """A check whose fault has a row in /diagnostics, and is logged once."""

    subject = ''

    def __init__(self, node: Node) -> None:
        self._node = node
        self._logged = ''

    def fault(self) -> str:
        """Return a message about the fault; '' if there is none."""
        raise NotImplementedError

    def status_row(self) -> StatusRow | None:
        """Return a row for /diagnostics if there is a fault; log it once."""
        message = self.fault()
        if message and not self._logged:
            self._node.get_logger().warning(message)
        self._logged = message
        name = f'{status_name(self._node)}: {self.subject}'
        return StatusRow(WARN, name, message) if message else None


class DuplicateNodes(_Check):
    """A check for nodes with the same full name, which would share parameters and services."""

    subject = 'name'

    def fault(self) -> str:
        """Return a message if there is another node."""
        node = self._node
        own = (node.get_name(), node.get_namespace())
        if node.get_node_names_and_namespaces().count(own) < 2:
            return ''
        return (
            f'another node is called {node.get_fully_qualified_name()}, or a killed '
            'node of that name is still listed: parameters and services reach only one of them'
        )


class PausedClock(_Check):
    """A check for paused simulated time, during which there are no ticks."""

    subject = 'clock'
    _last: int | None = None

    def fault(self) -> str:
        """Return a message if time stood still since the last call."""
        clock = self._node.get_clock()
        now = int(clock.now().nanoseconds)
        before, self._last = self._last, now
        if now != before or not clock.ros_time_is_active:
            return ''
        return (
            f'simulated time is paused at {1e-9 * now:.3f} s: no ticks until '
            f'{self._node.resolve_topic_name("/clock")} continues'
        )


@dataclass
class NodeCounts:
    """The counters since the start."""

    ticks: int = 0  # Number of ticks.
    missed_ticks: int = 0  # Number of ticks lost because a tick took longer than its period.
    goals: int = 0  # Number of accepted goal messages.
    joint_states: int = 0  # Number of accepted joint states.
    longest_interval: float = 0.0  # Longest time between two ticks since it was last set to 0 [s].
    last_error: str = ''  # Why a solution was last rejected or a tick failed; '' if none was.
    _last_tick: float | None = None

    def add_tick(self, work: float, period: float, begin: float) -> None:
        """Count one tick that took `work` [s]; `begin` is its time by a steady clock [s]."""
        self.ticks += 1
        if self._last_tick is not None:
            self.longest_interval = max(self.longest_interval, begin - self._last_tick)
        self._last_tick = begin
        self.missed_ticks += int(work / period)


# rclpy knows a log statement, and whether it has been printed once, by the file that calls it;
# that is not this one.
rcutils_logger._internal_callers.append(os.path.realpath(__file__))


class PrintableLogger(rcutils_logger.RcutilsLogger):
    """A logger that escapes control characters in every message and shortens long ones."""

    def log(self, message: Any, severity: Any, *name: Any, **filters: Any) -> bool:
        """Log one printable line; only since ROS 2 Kilted rclpy gives the name of the logger."""
        done: bool = super().log(plain(str(message), MOST_TEXT), severity, *name, **filters)
        return done
