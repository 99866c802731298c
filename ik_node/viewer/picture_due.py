"""When the next picture is due."""

from __future__ import annotations

import math


class PictureDue:
    """
    Wait a little for the answer to what was asked: one picture then shows both.

    A node that is sent a goal has moved a moment later, and a picture of what has not moved yet
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
