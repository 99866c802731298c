"""Handling of signals that arrive before ROS 2 handles them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
import signal
import threading

_ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def exit_on_early_signals() -> Iterator[None]:
    """
    Let SIGINT and SIGTERM end the process at once, with exit code 0, inside this context.

    It covers the second or two in which libraries are loaded. Nothing has started that must be
    stopped, and a traceback from the middle of an import helps nobody. Outside of the main thread,
    where Python does not deliver signals, the context has no effect.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _leave) for number in _ENDING}
    try:
        yield
    finally:
        # rclpy calls the handler that it finds, which must not be this one.
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(*_: object) -> None:
    os._exit(0)
