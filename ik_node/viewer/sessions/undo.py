# flake8: noqa: E203
"""Steps back."""

from __future__ import annotations

from collections.abc import Callable

# A drag of a slider comes as many changes; those nearer in time than this [s] are one step.
TOGETHER = 1.0
DEPTH = 200


class Undo:
    """
    Remember how things were before each change.

    Parameters
    ----------
    remember : callable
        Returns how things are.
    restore : callable
        Brings that back.

    """

    def __init__(self, remember: Callable[[], object], restore: Callable[[object], None]) -> None:
        self._remember = remember
        self._restore = restore
        self._steps: list[object] = []
        self._last: tuple[object, float] = (None, 0.0)

    @property
    def count(self) -> int:
        """Return how many steps there are."""
        return len(self._steps)

    def mark(self, key: object = None, now: float = 0.0) -> None:
        """
        Remember how things are, before they change.

        Parameters
        ----------
        key : object, optional
            Changes of one key in quick succession are one step.
        now : float
            Time [s].

        """
        before, self._last = self._last, (key, now)
        if key is not None and before[0] == key and now - before[1] < TOGETHER:
            return
        self._steps = [*self._steps[1 - DEPTH :], self._remember()]

    def step_back(self) -> bool:
        """Go one step back; return whether there was one."""
        self._last = (None, 0.0)
        if not self._steps:
            return False
        self._restore(self._steps.pop())
        return True

    def clear(self) -> None:
        """Forget all steps."""
        self._steps = []
