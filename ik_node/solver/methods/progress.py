"""The stopping criteria and the best iterate of a solve by one of the methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from time import perf_counter

from ik_node.kernels.layout import RECORD
from ik_node.kernels.solve_state import ENDED_INTERRUPTED, ENDED_SPENT
from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.result import ChainAnswer
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Function of chain, iteration, time [s], q [rad or m], and the largest position [m] and
# orientation residual [rad] of any closure or goal; called after each iteration.
Observe = Callable[[int, int, float, Array, float, float], None]

# A solve has diverged if its cost exceeds the first one, or 1, by this factor.
_BEYOND = 1e9


class Progress:
    """
    The progress of a solve: it counts iterations, keeps the best iterate and decides the end.

    Parameters
    ----------
    here : Iterate
        The chain at the start.
    limit : int
        Most iterations.
    stop : sequence of bool
        Checked after each iteration if it is not empty; the solve ends when stop[0] is true.
    ends : float
        Time at which the solve ends [s], on the clock of `perf_counter`; inf = no limit.
    watch : callable or None
        Function of iteration and iterate that is called after each iteration.

    Attributes
    ----------
    status : Status or None
        Status with which the solve ended; None = it has not ended.
    iterations, limit : int
        Number of iterations so far, and largest number.

    """

    def __init__(
        self,
        here: Iterate,
        limit: int,
        stop: Sequence[bool] = (),
        ends: float = math.inf,
        watch: Callable[[int, Iterate], None] | None = None,
    ) -> None:
        self._here, self.limit = here, limit
        self._stop, self._ends, self._watch = stop, ends, watch
        self.status: Status | None = None
        self.iterations, self._ended = 0, ENDED_SPENT
        self._best = here.x.copy()
        self._best_score = (3.0, math.inf)
        self._hopeless = _BEYOND * max(here.cost, 1.0)

    def begin(self, *, pending: bool, extra: float = 0.0, near: bool = False) -> None:
        """
        Record the start, and end the solve if it already is a solution.

        Parameters
        ----------
        pending : bool
            True if the method has more to do than to meet closures and goals.
        extra : float
            Cost besides closures and goals: comfort, or the cost of preferences.
        near : bool
            True if the iterate is judged by `extra`, even if a tolerance is not met.

        """
        self._keep_best(extra, near=near)
        self._notify()
        if self._here.within_tolerance and not pending:
            self.status = Status.CONVERGED

    def record(
        self, moved: float, *, pending: bool = False, extra: float = 0.0, near: bool = False
    ) -> None:
        """
        Record an iteration, and end the solve if a stopping criterion holds.

        Parameters
        ----------
        moved : float
            Largest change of a variable that was tried [rad or L].
        pending, extra, near
            As in `begin`.

        """
        here = self._here
        self.iterations += 1
        self._keep_best(extra, near=near)
        self._notify()
        if here.within_tolerance and not pending:
            self.status = Status.CONVERGED
        elif not here.cost < self._hopeless:
            self.status = Status.DIVERGED
        elif moved <= here.options.stall_threshold:
            self.status = Status.STALLED
        elif (self._stop and self._stop[0]) or perf_counter() >= self._ends:
            self.end(Status.TIMEOUT, ENDED_INTERRUPTED)
        elif self.iterations >= self.limit:
            self.status = Status.TIMEOUT

    def forget(self) -> None:
        """Forget the best iterate so far."""
        self._best_score = (3.0, math.inf)

    @property
    def left(self) -> int:
        """Return the number of iterations that are left."""
        return self.limit - self.iterations

    def end(self, status: Status, ended: int = ENDED_SPENT) -> None:
        """End the solve with a status and its reason, ENDED_*, unless it has ended already."""
        if self.status is None:
            self.status, self._ended = status, ended

    def answer(self, joints: Array) -> ChainAnswer:
        """Go to the best iterate and return its result; CONVERGED depends on its residuals."""
        here = self._here
        here.go_to(self._best)
        status = Status.STALLED if self.status is None else self.status
        if here.within_tolerance:
            status = Status.CONVERGED
        elif status is Status.CONVERGED:
            status = Status.STALLED
        answer = here.chain.answer(joints, here.packed)
        answer.record[:RECORD] = status, self.iterations, 1, 0, self._ended
        return answer

    def _keep_best(self, extra: float, *, near: bool) -> None:
        here = self._here
        if here.within_tolerance:
            score = (0.0, extra)
        else:
            score = (1.0, extra) if near else (2.0, here.cost)
        # In this form a NaN is never better than a number.
        if score[0] < self._best_score[0] or (
            score[0] == self._best_score[0] and score[1] < self._best_score[1]
        ):
            self._best_score = score
            self._best = here.x.copy()

    def _notify(self) -> None:
        if self._watch is not None:
            self._watch(self.iterations, self._here)
