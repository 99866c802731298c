"""What is to be done next, by one thread; of many wishes for one thing the last counts."""

from __future__ import annotations

from collections.abc import Callable
import itertools
import math
import threading


class PictureDue:
    """
    Wait a little for the answer to what was asked: one picture then shows both.

    A node that is sent a goal has moved a snapshot later, and a picture of what has not moved yet
    would only be in the way of the one that counts.

    Parameters
    ----------
    patience : float
        How long an answer is waited for [s].

    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._asked = math.inf

    def at(self, now: float, *, asked: bool, moved: bool) -> bool:
        """
        Return whether it is now, at a time [s].

        Parameters
        ----------
        now : float
            Of a clock that only goes forward.
        asked : bool
            Whether something was asked for since the last time.
        moved : bool
            Whether there is something new to be seen.

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
    Take work from any thread, hand it out to one.

    A pointer sends faster than a large robot is drawn: work of one key replaces what waits under
    that key, and comes in its turn anew.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[object, Work] = {}
        self._numbers = itertools.count()
        self._woken = False

    def put(self, work: Work, key: object = None) -> None:
        """Have something done; with a key, instead of what waits under it."""
        with self._changed:
            key = ('unique', next(self._numbers)) if key is None else key
            self._waiting.pop(key, None)
            self._waiting[key] = work
            self._changed.notify()

    def wake(self) -> None:
        """End the wait of `take`."""
        with self._changed:
            self._woken = True
            self._changed.notify()

    def take(self, timeout: float) -> list[Work]:
        """Return all that waits, in order; wait for it at most so long [s]."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken or bool(self._waiting), timeout)
            self._woken = False
            taken = list(self._waiting.values())
            self._waiting.clear()
            return taken
