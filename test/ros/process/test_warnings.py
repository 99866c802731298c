"""Faults that are reported once: a clock that stands still, a node of the same name, refusals."""

from types import SimpleNamespace as Data

from ik_node.ros.messages import Refusals, WARN
from ik_node.ros.process import Faults, NodeTime, paused_clock


class Simulation:
    """A node with a clock; its log is kept."""

    def __init__(self):
        self.seconds = 0.0
        self.ros_time_is_active = True
        self.said = []

    def get_clock(self):
        return self

    def now(self):
        return Data(nanoseconds=round(1e9 * self.seconds))

    def resolve_topic_name(self, topic):
        return topic

    def get_logger(self):
        return self

    def warning(self, text):
        self.said.append(text)


def test_running_clock_is_not_reported():
    """A clock that jumps back, or a wall clock read twice in one instant, is not either."""
    node = Simulation()
    clock = Faults(node, {'clock': paused_clock(node)})
    for node.seconds in (0.0, 1.0, 2.0, 0.5):
        assert clock.rows() == []
    node.ros_time_is_active = False
    assert clock.rows() == []
    assert clock.rows() == []
    assert node.said == []


def test_paused_clock_is_logged_once_and_reported_while_paused():
    node = Simulation()
    clock = Faults(node, {'clock': paused_clock(node)})
    assert clock.rows() == []
    rows = [row for _ in range(3) for row in clock.rows()]
    assert node.said == ['simulated time is paused at 0.000 s: no ticks until /clock continues']
    assert {(row.level, row.name, row.message) for row in rows} == {(WARN, 'clock', node.said[0])}
    node.seconds = 12.5
    assert clock.rows() == []
    assert 'at 12.500 s' in clock.rows()[0].message
    assert len(node.said) == 2


def test_time_of_a_node_goes_on_when_its_clock_jumps_back():
    node, jumps = Simulation(), []
    time = NodeTime(node, lambda: jumps.append(node.seconds))
    message = Data(header=Data(stamp=Data(sec=8, nanosec=0)))
    node.seconds = 10.0
    assert (time.now(), time.of(7.0), time.of(0.0), time.sent(message)) == (10.0, 7.0, 10.0, 8.0)
    node.seconds = 2.0
    assert (time.now(), time.of(1.5), time.of(0.0), time.sent(message)) == (10.0, 9.5, 10.0, 10.0)
    node.seconds = 3.0
    assert time.now() == 11.0
    assert jumps == [2.0]


def test_many_refusals_are_logged_once_per_pause():
    refusals = Refusals(pause=2.0)
    logged = [refusals.add('a', f'reason {tick}', 0.1 * tick) for tick in range(50)]
    assert [tick for tick, said in enumerate(logged) if said] == [0, 20, 40]
    assert refusals.counts == {'a': 50}
    assert refusals.last == 'reason 49'
