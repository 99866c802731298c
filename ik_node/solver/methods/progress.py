"""What the outer loop of every method looks at after an iteration, and what it keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from time import perf_counter

from ik_node.kernels.layout import RECORD
from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.result import ChainAnswer
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Called after each iteration with chain, iteration, time [s], q, and the largest position [m] and
# orientation residual [rad] of any closure or goal.
Observe = Callable[[int, int, float, Array, float, float], None]

# A cost that grew by this factor will not come back.
_BEYOND = 1e9


class Progress:
    """
    Counts iterations, keeps the best iterate, and says when a solve has come to its end.

    Parameters
    ----------
    here : Iterate
        At its start.
    limit : int
        Most iterations.
    stop : sequence of bool
        Looked at when not empty; stop[0] true ends the solve.
    ends : float
        When the time is spent, on the clock of `perf_counter`; inf = never.
    watch : callable or None
        Called after each iteration with its number and the iterate.

    Attributes
    ----------
    status : Status or None
        None while the solve goes on.
    iterations, limit : int
        Done so far, and most.

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
        self.iterations = 0
        self._best = here.x.copy()
        self._best_score = (3.0, math.inf)
        self._hopeless = _BEYOND * max(here.cost, 1.0)

    def begin(self, *, pending: bool, extra: float = 0.0, near: bool = False) -> None:
        """
        Look at the start.

        Parameters
        ----------
        pending : bool
            Whether there is something to do beside meeting closures and goals.
        extra : float
            What is to be small beside them: comfort, or the way to the rest pose.
        near : bool
            Whether the start is near enough for the method, tolerances or not.

        """
        self._keep_best(extra, near=near)
        self._tell()
        if self._here.within_tolerance and not pending:
            self.status = Status.CONVERGED

    def look(
        self, moved: float, *, pending: bool = False, extra: float = 0.0, near: bool = False
    ) -> None:
        """
        Judge an iteration.

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
        self._tell()
        if here.within_tolerance and not pending:
            self.status = Status.CONVERGED
        elif not here.cost < self._hopeless:
            self.status = Status.DIVERGED
        elif moved <= here.options.stall_threshold:
            self.status = Status.STALLED
        elif (
            self.iterations >= self.limit
            or (self._stop and self._stop[0])
            or perf_counter() >= self._ends
        ):
            self.status = Status.TIMEOUT

    def forget(self) -> None:
        """Begin to look for the best iterate anew."""
        self._best_score = (3.0, math.inf)

    @property
    def left(self) -> int:
        """Return the iterations that are left."""
        return self.limit - self.iterations

    def end(self, status: Status) -> None:
        """End the solve, unless it has ended."""
        if self.status is None:
            self.status = status

    def answer(self, joints: Array) -> ChainAnswer:
        """Go to the iterate that is the answer; its residuals decide on CONVERGED."""
        here = self._here
        here.place(self._best)
        status = Status.STALLED if self.status is None else self.status
        if here.within_tolerance:
            status = Status.CONVERGED
        elif status is Status.CONVERGED:
            status = Status.STALLED
        answer = here.chain.answer(joints, here.packed)
        answer.record[:RECORD] = status, self.iterations, 1, 0
        return answer

    def _keep_best(self, extra: float, *, near: bool) -> None:
        here = self._here
        if here.within_tolerance:
            score = (0.0, extra)
        else:
            score = (1.0, extra) if near else (2.0, here.cost)
        # Written so that a NaN is never the best.
        if score[0] < self._best_score[0] or (
            score[0] == self._best_score[0] and score[1] < self._best_score[1]
        ):
            self._best_score = score
            self._best = here.x.copy()

    def _tell(self) -> None:
        if self._watch is not None:
            self._watch(self.iterations, self._here)
