"""The future of a solve that runs in another thread."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from threading import Lock
from typing import Any

from ik_node.display import public_names
from ik_node.solver.result import SolveResult


class SolveFuture(Future[list[SolveResult]]):
    """
    The future results of one solve of an `AsyncSolver`, one per independent chain.

    `result(timeout)` waits for them in threads, `await` in asyncio; both write the values to the
    joints, in the thread that waits. `cancel()` ends the solve and discards its result.

    Parameters
    ----------
    take : callable
        Function without arguments that writes the newest result to the joints.
    drop : callable
        Function of this future that ends its solve.

    Examples
    --------
    >>> import ik_node as ik
    >>> with ik.AsyncSolver(ik.load_robot('hexapod')) as solver:
    ...     future = solver.solve()
    ...     results = future.result(timeout=60.0)
    >>> future.done(), future.cancel(), results[0].converged
    (True, False, True)

    """

    def __init__(self, take: Callable[[], None], drop: Callable[[SolveFuture], None]) -> None:
        super().__init__()
        # These bound methods keep the AsyncSolver alive as long as its future is referenced.
        self._take = take
        self._drop = drop
        self._notify_once = Lock()

    __dir__ = public_names

    def __repr__(self) -> str:
        state = 'cancelled' if self.cancelled() else 'done' if self.done() else 'running'
        return f'SolveFuture({state})'

    def result(self, timeout: float | None = None) -> list[SolveResult]:
        """
        Wait for the results, and write the values to the joints.

        Parameters
        ----------
        timeout : float, optional
            Longest time to wait [s]; None = no limit.

        Returns
        -------
        list of SolveResult
            One per independent chain.

        Raises
        ------
        TimeoutError
            If there is no result in time (`concurrent.futures.TimeoutError`); the solve continues.
        CancelledError
            If the solve was replaced or cancelled (`concurrent.futures.CancelledError`).
        Exception
            The exception that the solve raised.

        Examples
        --------
        >>> import ik_node as ik
        >>> with ik.AsyncSolver(ik.load_robot('fivebar')) as solver:
        ...     print(solver.solve().result(timeout=60.0)[0].status.name)
        CONVERGED

        """
        results = super().result(timeout)
        self._take()
        return results

    def cancel(self) -> bool:
        """
        End the solve at its next slice and discard its result.

        Return False if it has already ended.
        """
        if not super().cancel():
            return False
        self._drop(self)
        if self._notify_once.acquire(blocking=False):
            # `concurrent.futures.wait` does not notice a cancelled future before this call.
            self.set_running_or_notify_cancel()
        return True

    def __await__(self) -> Generator[Any, None, list[SolveResult]]:
        # Imported here, because only asyncio programs need asyncio, and they have imported it.
        from asyncio import wrap_future

        wrapped = wrap_future(self)
        results: list[SolveResult] = yield from wrapped.__await__()
        return results
