"""When the page draws."""

from ik_node.viewer.work_queue import PictureDue


def test_moved_robot_is_drawn_at_once():
    """An answer ends the wait."""
    due = PictureDue(0.02)
    assert due.at(1.0, asked=False, moved=True)
    assert not due.at(2.0, asked=True, moved=False)
    assert due.at(2.005, asked=False, moved=True)
    assert not due.at(2.03, asked=False, moved=False)


def test_pending_requests_do_not_delay_drawing_forever():
    """Asking again and again does not put it off."""
    tick = 2.0**-10
    due = PictureDue(20 * tick)
    found = [due.at(tick * number, asked=True, moved=False) for number in range(64)]
    assert [number for number, each in enumerate(found) if each] == [20, 41, 62]


def test_nothing_is_drawn_without_request():
    """It rests."""
    due = PictureDue(0.02)
    assert not any(due.at(float(number), asked=False, moved=False) for number in range(5))
