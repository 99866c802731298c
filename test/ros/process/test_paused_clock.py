"""Simulated time that stands still."""

from types import SimpleNamespace as Data

import pytest

pytest.importorskip('rclpy')

from ik_node.ros.process.node_health import PausedClock


class Simulation:
    """A node called /a/ik with a clock; its log is kept."""

    def __init__(self):
        self.seconds = 0.0
        self.ros_time_is_active = True
        self.said = []

    def get_clock(self):
        """Return itself."""
        return self

    def now(self):
        """Return the time."""
        return Data(nanoseconds=round(1e9 * self.seconds))

    def get_fully_qualified_name(self):
        """Return the name."""
        return '/a/ik'

    def resolve_topic_name(self, topic):
        """Return it as it is."""
        return topic

    def get_logger(self):
        """Return itself."""
        return self

    def warning(self, text):
        """Warn."""
        self.said.append(text)


def test_running_clock_is_not_reported():
    """A clock that jumps back, or a wall clock read twice in one instant, is not either."""
    node = Simulation()
    clock = PausedClock(node)
    for node.seconds in (0.0, 1.0, 2.0, 0.5):
        assert clock.status_row() is None
    node.ros_time_is_active = False
    assert clock.status_row() is None
    assert clock.status_row() is None
    assert node.said == []


def test_paused_clock_is_logged_once_and_reported_while_paused():
    """Each pause has one warning, and each check a row."""
    node = Simulation()
    clock = PausedClock(node)
    assert clock.status_row() is None
    rows = [clock.status_row() for _ in range(3)]
    assert node.said == ['simulated time is paused at 0.000 s: no ticks until /clock continues']
    assert {(row.level, row.name, row.message) for row in rows} == {
        (1, 'a/ik: clock', node.said[0])
    }
    node.seconds = 12.5
    assert clock.status_row() is None
    assert 'at 12.500 s' in clock.status_row().message
    assert len(node.said) == 2
