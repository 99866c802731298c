"""SIGINT and SIGTERM as a request to end between two callbacks."""

from __future__ import annotations

from collections.abc import Callable
import os
import signal
import threading
import time
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM)
# A signal this long after the first one interrupts a callback that does not end [s]; `ros2 launch`
# and a terminal send two at once, and the next ones later.
PATIENCE = 1.0


class EndSignals:
    """
    The signals that end the process, noted while ROS 2 still works.

    rclpy's own handlers shut its context down at once. Nothing can be published after that, so
    that drives would keep their last velocity. An exception in the middle of a callback would
    break what the callback does.

    Attributes
    ----------
    requested : bool
        True after a signal.

    """

    def __init__(self) -> None:
        self.requested = False
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
