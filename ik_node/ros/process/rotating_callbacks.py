# flake8: noqa: E203
"""A callback group that limits how many of its entities an executor waits for at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from rclpy.callback_groups import CallbackGroup

# Most entities of the group in one wait set.
MOST = 64
# Time for which an entity that was called stays in every wait set [s].
RECENT = 1.0


class RotatingCallbacks(CallbackGroup):
    """
    Subscriptions, events and services of goals, of which each wait set contains a part in turn.

    An rclpy executor builds its wait set anew for every wait. With a thousand goals this takes
    longer than a tick. Up to 64 entities the group changes nothing. Above that, each tick selects
    the next 64 of them, and those that were called within the last second. A message or request
    stays in its queue until its turn. See docs/decisions/0009.

    Parameters
    ----------
    within : rclpy.callback_groups.CallbackGroup
        The group of the ticks. Callbacks of both groups exclude each other as `within` says.

    """

    def __init__(self, within: CallbackGroup) -> None:
        super().__init__()
        self._within = within
        self._recent: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
        self._turn = 0
        self._now = 0.0
        self._ticked = False
        self._select_all = True

    def tick(self, now: float) -> None:
        """
        Select the next part.

        Parameters
        ----------
        now : float
            Value of `time.perf_counter` [s].

        """
        self._now, self._ticked, self._select_all = now, True, False
        self._turn += 1

    def check_ticks(self) -> None:
        """Select all entities if no tick has come since the last call, as in paused simulation."""
        self._select_all, self._ticked = not self._ticked, False

    def take(self, *entities: Any) -> None:
        """Move the given services, subscriptions or event handlers into this group."""
        for entity in entities:
            entity.callback_group = self
            self.add_entity(entity)

    def selected(self, entities: Iterable[Any]) -> list[Any]:
        """Return the entities that the next wait set shall contain."""
        entities = list(entities)
        if self._select_all or len(entities) <= MOST:
            return entities
        own = [each for each in entities if each.callback_group is self]
        if len(own) <= MOST:
            return entities
        # Consecutive parts overlap by half: an entity that becomes ready while an executor waits
        # is still selected when the executor asks again after a tick.
        begin = self._turn * (MOST // 2) % len(own)
        part = (own + own[:MOST])[begin : begin + MOST]
        for each, until in list(self._recent.items()):
            if until < self._now:
                del self._recent[each]
        rest = set(own).difference(part) if self._recent else set()
        others = [each for each in entities if each.callback_group is not self]
        return [*others, *part, *(each for each in self._recent if each in rest)]

    # -- interface of rclpy's executors

    def add_entity(self, entity: Any) -> None:
        """Add an entity to the group."""
        super().add_entity(entity)
        self._within.add_entity(entity)

    def can_execute(self, entity: Any) -> bool:
        """Return True if the callback of an entity may be called now."""
        return bool(self._within.can_execute(entity))

    def beginning_execution(self, entity: Any) -> bool:
        """Return True if the callback may start, and mark it as running."""
        return bool(self._within.beginning_execution(entity))

    def ending_execution(self, entity: Any) -> None:
        """Record that the callback has ended."""
        self._recent[entity] = self._now + RECENT
        self._within.ending_execution(entity)
