"""Counting refused input without flooding the log."""

from ik_node.ros.messages.convert import Refusals
from ik_node.ros.process.node_health import NodeCounts


def test_many_refusals_are_logged_once_per_pause():
    """Each topic has its own lines; every refusal is counted."""
    refusals = Refusals(pause=2.0)
    logged = [refusals.add('a', f'reason {tick}', 0.1 * tick) for tick in range(50)]
    assert [tick for tick, said in enumerate(logged) if said] == [0, 20, 40]
    assert refusals.counts == {'a': 50}
    assert refusals.last == 'reason 49'


def test_topics_do_not_hide_each_other():
    """The first refusal of another topic is logged at once."""
    refusals = Refusals()
    assert refusals.add('a', 'x', 0.0)
    assert refusals.add('b', 'y', 0.1)
    assert not refusals.add('a', 'x', 0.2)
    assert refusals.total == 3


def test_overrun_ticks_are_counted():
    """Work of two and a half periods overruns two ticks."""
    counts = NodeCounts()
    assert counts.add_tick(0.025, 0.01) == 2
    assert counts.add_tick(0.005, 0.01) == 0
    assert (counts.ticks, counts.missed_ticks) == (2, 2)
