"""Callbacks that may wait for a moment, so that ticks need not wait for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rclpy.callback_groups import CallbackGroup

# Between two looks at what is rarely called [s].
PAUSE = 0.05


class RareCallbacks(CallbackGroup):
    """
    Services and events that the executor looks at twenty times a second instead of at every tick.

    rclpy's executor puts together all that it waits for anew each time that it waits. What is in
    this group is left out of that while ticks come on time, and found at the next look: requests
    and events stay where they are until somebody takes them. Who has called once may call again:
    for a while after that it looks at every tick. See docs/decisions/0009.

    Parameters
    ----------
    within : rclpy.callback_groups.CallbackGroup
        The group of the ticks: what it excludes from running at the same time stays excluded.

    Attributes
    ----------
    is_open : bool
        Whether the executor looks at present.

    """

    def __init__(self, within: CallbackGroup) -> None:
        super().__init__()
        self._within = within
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
        due = now >= self._next
        if due:
            self._next = now + PAUSE
        if self._called:
            self._called, self._quiet_from = False, now + PAUSE
        # For two ticks: where they are late one is ready at every look, and comes first.
        self.is_open = due or self._was_due or now < self._quiet_from
        self._was_due = due

    def look(self) -> None:
        """Look until the next tick, also where none comes: simulated time may stand still."""
        self.is_open = True

    def take(self, *entities: Any) -> None:
        """Have services, subscriptions or handlers of events be of this group."""
        for entity in entities:
            entity.callback_group = self
            self.add_entity(entity)

    def present(self, entities: Iterable[Any]) -> Iterable[Any]:
        """Return those that are to be waited for now: only passing over others takes time, too."""
        if self.is_open:
            return entities
        return [each for each in entities if each.callback_group is not self]

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
        self._within.ending_execution(entity)
