"""Work that is done in a thread while the executor goes on."""

from __future__ import annotations

from collections.abc import Callable
import contextlib
import threading
from typing import Any, TypeVar

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.task import Future

T = TypeVar('T')


class BackgroundWork:
    """
    Let a coroutine callback wait for a thread, also where the executor has only one of its own.

    Parameters
    ----------
    node : rclpy.node.Node

    """

    def __init__(self, node: Node) -> None:
        self._node = node
        # An executor that sleeps sees that a future is done when something wakes it.
        self._bell = node.create_guard_condition(_nothing, ReentrantCallbackGroup())

    async def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, or raise what it raises."""
        future: Any = Future()

        def attempt() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001
                future.set_exception(error)  # raised again where it is waited for
            else:
                future.set_result(result)
            with contextlib.suppress(InvalidHandle):  # the node is gone, nobody waits
                self._bell.trigger()

        threading.Thread(target=attempt, name='background work', daemon=True).start()
        result: T = await future
        return result

    def close(self) -> None:
        """Take the bell away; work under way is not waited for any more."""
        self._node.destroy_guard_condition(self._bell)


def _nothing() -> None:
    """Answer the bell: to be awake is all."""
