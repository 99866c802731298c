"""Work in a thread that a callback of the node can await."""

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
    """Background work that a coroutine callback can await, even in a single-threaded executor."""

    def __init__(self, node: Node) -> None:
        # A sleeping executor notices a finished future only when something wakes it up.
        self._wake_condition = node.create_guard_condition(bool, ReentrantCallbackGroup())

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, or raise its exception."""
        future: Any = Future()

        def attempt() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001
                future.set_exception(error)  # raised again in the waiting coroutine
            else:
                future.set_result(result)
            with contextlib.suppress(InvalidHandle):  # the node was destroyed, no coroutine waits
                self._wake_condition.trigger()

        threading.Thread(target=attempt, name='background work', daemon=True).start()
        result: T = await future
        return result
