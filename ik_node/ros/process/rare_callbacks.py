# flake8: noqa: E203
"""Callbacks that may wait for a moment, so that ticks need not wait for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from rclpy.callback_groups import CallbackGroup

# Between two looks at what is rarely called [s].
PAUSE = 0.05
# Of more things than this the executor looks at so many in one look, and at the others in turn.
MOST = 64
# What was called is looked at in every look for so long after it [s].
RECENT = 1.0


class RareCallbacks(CallbackGroup):
    """
    Services and events that the executor looks at twenty times a second instead of at every tick.

    rclpy's executor puts together all that it waits for anew each time that it waits. What is in
    this group is left out of that while ticks come on time, and found at the next look: requests
    and events stay where they are until somebody takes them. Who has called once may call again:
    for a while after that it looks at every tick. A thousand things take the executor longer than
    a tick lasts; of so many it looks at a part in each look, in turn. See docs/decisions/0009.

    Parameters
    ----------
    within : rclpy.callback_groups.CallbackGroup
        The group of the ticks: what it excludes from running at the same time stays excluded.
    pause : float
        Time between two looks [s]; 0 = at every tick.

    Attributes
    ----------
    is_open : bool
        Whether the executor looks at present.

    """

    def __init__(self, within: CallbackGroup, pause: float = PAUSE) -> None:
        super().__init__()
        self._within = within
        self._pause = pause
        self._turn = 0
        self._recent: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        self._ticks = False
        self._all = True
        self._now = 0.0
        self._next = 0.0
        self._was_due = False
        self._called = False
        self._quiet_from = 0.0
        self.is_open = True

    def tick(self, now: float) -> None:
        """
        Look now, if it is time.

        Who never ticks looks always.

        Parameters
        ----------
        now : float
            [s], a value of `time.perf_counter`.

        """
        self._now, self._ticks, self._all = now, True, False
        due = now >= self._next
        if due:
            self._next = now + self._pause
        if self._called:
            self._called, self._quiet_from = False, now + PAUSE
        # For two ticks: where they are late one is ready at every look, and comes first.
        self.is_open = due or self._was_due or now < self._quiet_from
        if self.is_open and (due or not self._was_due):
            self._turn += 1
        self._was_due = due

    def look(self) -> None:
        """
        Look until the next tick, also where none comes: simulated time may stand still.

        Where none has come since the last time, it is a look at everything.
        """
        self.is_open = True
        self._all, self._ticks = not self._ticks, False

    def take(self, *entities: Any) -> None:
        """Have services, subscriptions or handlers of events be of this group."""
        for entity in entities:
            entity.callback_group = self
            self.add_entity(entity)

    def present(self, entities: Iterable[Any]) -> Iterable[Any]:
        """Return those that are to be waited for now: only passing over others takes time, too."""
        entities = list(entities)
        if self.is_open and (self._all or len(entities) <= MOST):
            return entities
        present = [each for each in entities if each.callback_group is not self]
        if self.is_open:
            present += self._in_turn([each for each in entities if each.callback_group is self])
        return present

    def _in_turn(self, entities: list[Any]) -> list[Any]:
        """Return the part that it is the turn of, and what was called a short time ago."""
        if len(entities) <= MOST:
            return entities
        # Each is in two turns one after the other: where a tick comes between the two times that
        # an executor asks, what was ready in the first is in the second as well.
        begin = self._turn * (MOST // 2) % len(entities)
        turn = (entities + entities[:MOST])[begin : begin + MOST]
        for each, until in list(self._recent.items()):
            if until < self._now:
                del self._recent[each]
        if not self._recent:
            return turn
        others = set(entities).difference(turn)
        return turn + [each for each in self._recent if each in others]

    # -- what executors ask

    def add_entity(self, entity: Any) -> None:
        """Let an entity in."""
        super().add_entity(entity)
        self._within.add_entity(entity)

    def can_execute(self, entity: Any) -> bool:
        """Tell whether an entity is to be waited for and called."""
        return self.is_open and bool(self._within.can_execute(entity))

    def beginning_execution(self, entity: Any) -> bool:
        """Tell whether a callback may begin."""
        return bool(self._within.beginning_execution(entity))

    def ending_execution(self, entity: Any) -> None:
        """Take note of its end."""
        self._called = True
        self._recent[entity] = self._now + RECENT
        self._within.ending_execution(entity)
