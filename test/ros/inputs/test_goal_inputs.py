"""The last goal wins, and gets old."""

from ik_node.ros.inputs.goal_inputs import GoalInbox

HERE = ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
THERE = ((2.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def test_last_goal_wins():
    """A goal that arrives later replaces the one before."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 1.0)
    inbox.put('a', THERE, 1.0)
    assert inbox.poses() == {'a': THERE}


def test_goals_get_stale():
    """Older than the timeout is stale; no timeout, never."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 1.0)
    inbox.put('b', HERE, 2.0)
    assert inbox.stale(2.5, 1.0) == ('a',)
    assert inbox.stale(1e9, 0.0) == ()


def test_clock_that_jumps_back_makes_nothing_stale():
    """An age below zero is young."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 100.0)
    assert inbox.stale(1.0, 0.5) == ()


def test_stale_goal_is_held_until_the_next():
    """Held where its link was when it got stale, not where the link is later."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 1.0)
    inbox.hold(['a'], lambda name: THERE)
    inbox.hold(['a'], lambda name: HERE)
    assert inbox.poses() == {'a': THERE}
    inbox.put('a', HERE, 2.0)
    assert inbox.poses() == {'a': HERE}


def test_goals_are_forgotten():
    """Of other names, or all of them."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 1.0)
    inbox.put('b', HERE, 1.0)
    inbox.hold(['a'], lambda name: THERE)
    inbox.keep(['b'])
    assert inbox.poses() == {'b': HERE}
    inbox.clear()
    assert inbox.poses() == {}
    assert inbox.stale(9.0, 1.0) == ()


def test_ages_after_a_jump_back():
    """They are counted from the jump."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 100.0)
    inbox.rewind(1.0)
    assert inbox.stale(1.4, 0.5) == ()
    assert inbox.stale(1.6, 0.5) == ('a',)
