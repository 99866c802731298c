"""Checks of the process, and counts of its work, for /diagnostics."""

from __future__ import annotations

from dataclasses import dataclass

from ik_node.ros.messages.status_row import status_name, StatusRow, WARN
from rclpy.node import Node


class DuplicateNodes:
    """A check for nodes with the same full name, which would share parameters and services."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._logged = False

    def status_row(self) -> StatusRow | None:
        """Return a row for /diagnostics if there is another node; log it once."""
        node = self._node
        own = (node.get_name(), node.get_namespace())
        if node.get_node_names_and_namespaces().count(own) < 2:
            self._logged = False
            return None
        message = (
            f'another node is called {node.get_fully_qualified_name()}, or a killed '
            'node of that name is still listed: parameters and services reach only one of them'
        )
        if not self._logged:
            self._logged = True
            node.get_logger().warning(message)
        return StatusRow(WARN, f'{status_name(node)}: name', message)


class PausedClock:
    """A check for paused simulated time, during which there are no ticks."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._last: int | None = None
        self._logged = False

    def status_row(self) -> StatusRow | None:
        """Return a row for /diagnostics if time stood still since the last call; log it once."""
        clock = self._node.get_clock()
        now = int(clock.now().nanoseconds)
        before, self._last = self._last, now
        if now != before or not clock.ros_time_is_active:
            self._logged = False
            return None
        message = (
            f'simulated time is paused at {1e-9 * now:.3f} s: no ticks until '
            f'{self._node.resolve_topic_name("/clock")} continues'
        )
        if not self._logged:
            self._logged = True
            self._node.get_logger().warning(message)
        return StatusRow(WARN, f'{status_name(self._node)}: clock', message)


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
