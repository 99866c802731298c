"""The promise of a solve that runs in another thread."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from threading import Lock
from typing import Any

from ik_node.solver.result import SolveResult


class SolveFuture(Future[list[SolveResult]]):
    """
    The results of one solve of an `AsyncSolver`, one per independent chain, when they are there.

    `result(timeout)` waits for them in plain threads, `await` in asyncio; both write the values
    to the joints, in the thread that asks. `cancel()` ends the solve and throws its answer away.

    Parameters
    ----------
    take : callable
        Writes the newest answer to the joints.
    drop : callable
        Takes this future; ends its solve.

    """

    def __init__(self, take: Callable[[], None], drop: Callable[[SolveFuture], None]) -> None:
        super().__init__()
        # Bound to the AsyncSolver, which so lives as long as somebody waits for it.
        self._take = take
        self._drop = drop
        self._tell_once = Lock()

    def result(self, timeout: float | None = None) -> list[SolveResult]:
        """
        Wait for the results, and write the values to the joints.

        Parameters
        ----------
        timeout : float, optional
            [s]; None = as long as it takes.

        Raises
        ------
        TimeoutError
            If they are not there in time (`concurrent.futures.TimeoutError`); the solve goes on.
        CancelledError
            If the solve was superseded or cancelled (`concurrent.futures.CancelledError`).
        Exception
            What the solve raised.

        """
        results = super().result(timeout)
        self._take()
        return results

    def cancel(self) -> bool:
        """End the solve at its next slice and throw its answer away; False: it had ended."""
        if not super().cancel():
            return False
        self._drop(self)
        if self._tell_once.acquire(blocking=False):
            # For `concurrent.futures.wait`, which does not see a cancelled future before this.
            self.set_running_or_notify_cancel()
        return True

    def __await__(self) -> Generator[Any, None, list[SolveResult]]:
        # Imported here: only who awaits needs it, and has it.
        from asyncio import wrap_future

        wrapped = wrap_future(self)
        results: list[SolveResult] = yield from wrapped.__await__()
        return results
