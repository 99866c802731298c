"""A queue of work for one thread, in which newer work replaces older work of the same key."""

from __future__ import annotations

from collections.abc import Callable
import itertools
import math
import threading


class PictureDue:
    """
    A timer that delays a picture until the response to a command, so that one picture shows both.

    After a goal is sent to a node, the robot moves a moment later. A picture before that would
    only delay the picture with the result.

    Parameters
    ----------
    patience : float
        Longest wait for a response [s].

    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._asked = math.inf

    def at(self, now: float, *, asked: bool, moved: bool) -> bool:
        """
        Return True if a picture is due at a time [s].

        Parameters
        ----------
        now : float
            Time of a monotonic clock.
        asked : bool
            Whether a command was executed since the last call.
        moved : bool
            Whether something visible has changed.

        """
        if asked:
            self._asked = min(self._asked, now)
        if not moved and now - self._asked < self._patience:
            return False
        self._asked = math.inf
        return True


Work = Callable[[], None]


class WorkQueue:
    """
    A queue of work from any thread for one thread.

    Pointer events can arrive faster than a large robot is drawn. New work replaces waiting work
    with the same key and moves to the end of the queue.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[object, Work] = {}
        self._numbers = itertools.count()
        self._woken = False

    def put(self, work: Work, key: object = None) -> None:
        """Add work; with a key, it replaces waiting work with the same key."""
        with self._changed:
            key = ('unique', next(self._numbers)) if key is None else key
            self._waiting.pop(key, None)
            self._waiting[key] = work
            self._changed.notify()

    def wake(self) -> None:
        """End the waiting of `take`."""
        with self._changed:
            self._woken = True
            self._changed.notify()

    def take(self, timeout: float) -> list[Work]:
        """Return all waiting work in order; wait for it at most for `timeout` [s]."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken or bool(self._waiting), timeout)
            self._woken = False
            taken = list(self._waiting.values())
            self._waiting.clear()
            return taken
