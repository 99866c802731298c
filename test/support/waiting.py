"""
Waiting for the state that a test asserts.

A message, a moment or a count is no answer to what a test has just done: it may be on its way
since before, or late because the machine is busy. Tests wait for the state itself.
"""

from collections.abc import Callable
import time
from typing import Any

import pytest

PATIENCE = 240.0  # [s] for what cannot fail to come, on a machine whose cores are all busy
PAUSE = 0.01  # [s] between two readings


def pause() -> None:
    time.sleep(PAUSE)


def wait_until(
    read: Callable[[], Any],
    what: str,
    *,
    ready: Callable[[Any], Any] = bool,
    meanwhile: Callable[[], Any] = pause,
    patience: float = PATIENCE,
    about: Callable[[], str] = str,
) -> Any:
    """
    Read a state again and again until it is ready, and return it.

    `what` names the state for the message of the failure, to which `about` adds more. Between two
    readings, `meanwhile` is called: it spins an executor, sends a goal again, or pauses. The test
    fails with the last state seen if none is ready within `patience` [s].
    """
    end = time.monotonic() + patience
    while True:
        state = read()
        if ready(state):
            return state
        if time.monotonic() > end:
            pytest.fail(
                f'waited {patience:g} s in vain for {what}; last seen: {state!r}\n{about()}'
            )
        meanwhile()
