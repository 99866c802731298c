"""Handling of signals that arrive while libraries are loaded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
import os
import signal
import threading

_ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def exit_on_early_signals(code: int | None = 0) -> Iterator[None]:
    """
    Let SIGINT and SIGTERM end the process at once inside this context.

    It covers the second or two in which libraries are loaded. Nothing has started that must be
    stopped, and a traceback from the middle of an import helps nobody. Outside of the main thread,
    where Python does not deliver signals, the context has no effect.

    Parameters
    ----------
    code : int or None
        Exit code; None = 128 + the number of the signal, as in shells.

    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _: object) -> None:
        os._exit(128 + number if code is None else code)

    before = {number: signal.signal(number, leave) for number in _ENDING}
    try:
        yield
    finally:
        # rclpy calls the handler that it finds, which must not be this one.
        for number, handler in before.items():
            signal.signal(number, handler)
