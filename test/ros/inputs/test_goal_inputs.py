"""The last goal wins, and gets old."""

from ik_node.ros.inputs.goal_inputs import GoalInbox

HERE = ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
THERE = ((2.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def test_later_goal_replaces_the_earlier_one():
    """The inbox has the last pose."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 1.0)
    inbox.put('a', THERE, 1.0)
    assert inbox.poses() == {'a': THERE}


def test_goal_older_than_the_timeout_is_stale():
    """Without a timeout no goal is stale."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 1.0)
    inbox.put('b', HERE, 2.0)
    assert inbox.stale(2.5, 1.0) == ('a',)
    assert inbox.stale(1e9, 0.0) == ()


def test_clock_jump_back_makes_no_goal_stale():
    """A negative age counts as young."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 100.0)
    assert inbox.stale(1.0, 0.5) == ()


def test_stale_goal_is_held_until_its_next_pose():
    """It is held where its link was when it became stale."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 1.0)
    inbox.hold(['a'], lambda name: THERE)
    inbox.hold(['a'], lambda name: HERE)
    assert inbox.poses() == {'a': THERE}
    inbox.put('a', HERE, 2.0)
    assert inbox.poses() == {'a': HERE}


def test_goals_are_removed_by_name_or_all_together():
    """`keep` removes those of other names, `clear` all."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 1.0)
    inbox.put('b', HERE, 1.0)
    inbox.hold(['a'], lambda name: THERE)
    inbox.keep(['b'])
    assert inbox.poses() == {'b': HERE}
    inbox.clear()
    assert inbox.poses() == {}
    assert inbox.stale(9.0, 1.0) == ()


def test_ages_count_from_a_clock_jump_back():
    """Ages start at the jump."""
    inbox = GoalInbox()
    inbox.put('a', HERE, 100.0)
    inbox.rewind(1.0)
    assert inbox.stale(1.4, 0.5) == ()
    assert inbox.stale(1.6, 0.5) == ('a',)
