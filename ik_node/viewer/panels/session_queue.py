"""The interface through which panels change the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ik_node.viewer.sessions.session import Session


class SessionQueue(Protocol):
    """A queue of work on the session, which any thread can fill and the page's thread executes."""

    def do(
        self, work: Callable[[Session], object], *, key: object = None, undo: bool = False
    ) -> None:
        """
        Queue work, which is called with the session.

        It replaces waiting work with the same key. With `undo` it can be reverted; work with the
        same key in quick succession counts as one step.
        """


def each_hand(handle: Any, work: Callable[[int, Any], object]) -> Any:
    """Call `work` with the browser's id and the value when a user, not the page, changes it."""

    async def changed(event: Any) -> None:
        if event.client_id is not None:
            work(event.client_id, event.target.value)

    (handle.on_click if hasattr(handle, 'on_click') else handle.on_update)(changed)
    return handle


def by_hand(handle: Any, work: Callable[[Any], object]) -> Any:
    """Call `work` with the value when a user, not the page, changes an input; return the input."""
    return each_hand(handle, lambda _, value: work(value))
