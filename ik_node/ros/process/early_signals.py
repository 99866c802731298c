"""Signals that come before ROS 2 has taken them over."""

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
    Have SIGINT and SIGTERM end the process at once, with exit code 0.

    For the second or two in which libraries are loaded: nothing has begun that must be ended, and
    a traceback out of the middle of an import helps nobody. Outside of the main thread, where
    signals cannot be taken, it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _leave) for number in _ENDING}
    try:
        yield
    finally:
        # rclpy calls whatever was there before it: that must not be this.
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(*_: object) -> None:
    os._exit(0)
