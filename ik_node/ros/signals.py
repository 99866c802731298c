"""SIGINT and SIGTERM: before ROS 2 is imported, and as a request to end between two callbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import os
import signal
import threading
import time
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM)
# A signal this long after the first one interrupts a callback that does not end [s]; `ros2 launch`
# and a terminal send two at once, and the next ones later.
PATIENCE = 1.0


@contextmanager
def exit_on_early_signals(code: int | None = 0) -> Iterator[None]:
    """
    Let SIGINT and SIGTERM end the process at once inside this context.

    It covers the second or two in which libraries are loaded. Nothing has started that must be
    stopped, and a traceback from the middle of an import helps nobody. Outside of the main thread,
    where Python does not deliver signals, the context has no effect. `code`: exit code; None = 128
    + the number of the signal, as in shells.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, _: object) -> None:
        os._exit(128 + number if code is None else code)

    before = {number: signal.signal(number, leave) for number in ENDING}
    try:
        yield
    finally:
        # rclpy calls the handler that it finds, which must not be this one.
        for number, handler in before.items():
            signal.signal(number, handler)


class EndSignals:
    """
    The signals that end the process, noted while ROS 2 still works.

    rclpy's own handlers shut its context down at once. Nothing can be published after that, so
    that drives would keep their last velocity. An exception in the middle of a callback would
    break what the callback does.
    """

    def __init__(self) -> None:
        self.requested = False  # True after a signal.
        self._first = 0.0
        self._wake: Callable[[], object] = bool
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        for number in ENDING:
            signal.signal(number, self._request)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, name='end signals', daemon=True).start()

    def spin(self, executor: Any) -> None:
        """Run the callbacks of an executor until a signal or a shutdown of ROS 2."""
        self._wake = executor.wake
        while not self.requested and executor.context.ok():
            executor.spin_once()

    def ignore(self) -> None:
        """Ignore further signals."""
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)

    def _request(self, number: int, _: object) -> None:
        now = time.monotonic()
        if not self.requested:
            self.requested, self._first = True, now
        elif now - self._first > PATIENCE:
            raise KeyboardInterrupt

    def _watch(self) -> None:
        """Wake the executor, whose wait a signal does not end."""
        while os.read(self._reader, 1):
            self._wake()
