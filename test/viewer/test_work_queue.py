"""Work from many threads, done by one."""

import threading
import time

from ik_node.viewer.work_queue import WorkQueue
from support.waiting import PATIENCE


def test_work_is_taken_in_order():
    """What was put first is taken first."""
    queue, done = WorkQueue(), []
    for number in range(3):
        queue.put(lambda number=number: done.append(number))
    for work in queue.take(0.0):
        work()
    assert done == [0, 1, 2]
    assert queue.take(0.0) == []


def test_newer_work_of_same_key_replaces_older():
    """A newer wish for the same thing replaces the older one, and comes after the others."""
    queue, done = WorkQueue(), []
    queue.put(lambda: done.append('old'), key='goal')
    queue.put(lambda: done.append('other'))
    queue.put(lambda: done.append('new'), key='goal')
    for work in queue.take(0.0):
        work()
    assert done == ['other', 'new']


def test_take_waits_until_there_is_work():
    """It returns as soon as something is put, long before its patience is over."""
    queue = WorkQueue()
    timer = threading.Timer(0.05, lambda: queue.put(lambda: None))
    begun = time.monotonic()
    timer.start()
    assert len(queue.take(PATIENCE)) == 1
    assert time.monotonic() - begun < 0.5 * PATIENCE
    timer.join()


def test_wake_ends_the_wait():
    """Nothing to do is a reason to return when it was asked to."""
    queue = WorkQueue()
    timer = threading.Timer(0.05, queue.wake)
    begun = time.monotonic()
    timer.start()
    assert queue.take(PATIENCE) == []
    assert time.monotonic() - begun < 0.5 * PATIENCE
    timer.join()
