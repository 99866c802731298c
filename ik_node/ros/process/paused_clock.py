"""Detection of paused simulated time."""

from __future__ import annotations

from ik_node.ros.messages.status_row import status_name, StatusRow, WARN
from rclpy.node import Node


class PausedClock:
    """
    A check for paused simulated time, during which there are no ticks.

    Parameters
    ----------
    node : rclpy.node.Node

    """

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
