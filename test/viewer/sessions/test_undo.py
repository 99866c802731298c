"""Steps back."""

from ik_node.viewer.sessions.goal_memory import DEPTH, Undo


class Thing:
    """Something that changes."""

    def __init__(self):
        self.value = 0
        self.undo = Undo(lambda: self.value, self.take)

    def take(self, value):
        """Change it."""
        self.value = value

    def change(self, value, **how):
        """Change it so that it can be undone."""
        self.undo.mark(**how)
        self.value = value


def test_steps_are_undone_one_by_one():
    """The last change first; at the end there is nothing to undo."""
    thing = Thing()
    thing.change(1)
    thing.change(2)
    assert thing.undo.count == 2
    assert thing.undo.step_back()
    assert thing.value == 1
    assert thing.undo.step_back()
    assert thing.value == 0
    assert not thing.undo.step_back()


def test_one_sweep_of_a_slider_is_one_step():
    """Changes of one key in quick succession count as one; those after a pause do not."""
    thing = Thing()
    for number in range(5):
        thing.change(1 + number, key='joint', now=0.5 * number)
    thing.change(10, key='other', now=2.1)
    thing.change(20, key='other', now=9.0)
    assert thing.undo.count == 3
    thing.undo.step_back()
    thing.undo.step_back()
    assert thing.value == 5
    thing.undo.step_back()
    assert thing.value == 0


def test_change_after_a_step_back_is_a_new_step():
    """It does not belong to the sweep before, although its key is the same."""
    thing = Thing()
    thing.change(1, key='joint', now=0.0)
    thing.undo.step_back()
    thing.change(2, key='joint', now=0.1)
    assert thing.undo.count == 1


def test_clear_removes_all_steps():
    """The oldest steps when there are too many; all of them when asked to."""
    thing = Thing()
    for number in range(DEPTH + 50):
        thing.change(number)
    assert thing.undo.count == DEPTH
    thing.undo.clear()
    assert not thing.undo.step_back()
