"""What panels of the page can ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ik_node.viewer.sessions.session import Session


class SessionQueue(Protocol):
    """Takes wishes from any thread and has them done, one after the other."""

    @property
    def session(self) -> Session:
        """Return the present session; of use in the page's own thread only."""

    def do(
        self, work: Callable[[Session], object], *, key: object = None, undo: bool = False
    ) -> None:
        """
        Have something done with the session.

        Parameters
        ----------
        work : callable
            Takes the session.
        key : object, optional
            It replaces what still waits under that key.
        undo : bool
            Whether it is a step to be undone; those of one key in quick succession are one.

        """


def by_hand(handle: Any, work: Callable[[Any], object]) -> None:
    """Call `work` with the value whenever somebody changes an input, not when the page does."""

    async def changed(event: Any) -> None:
        if event.client_id is not None:
            work(event.target.value)

    (handle.on_click if hasattr(handle, 'on_click') else handle.on_update)(changed)
