"""The loop that all methods share: stopping criteria, best iterate, single steps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
import math
from time import perf_counter
from typing import NamedTuple

from ik_node.kernels.layout import RECORD
from ik_node.kernels.solve_state import ENDED_INTERRUPTED, ENDED_SPENT
from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.result import ChainAnswer
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A method is a generator. It reports the start and then each iteration with `Run.report`, and
# yields whenever it can be interrupted. Methods that need variables that are independent numbers
# step a ball by its Euler angles.
Generator = Callable[['Run'], Iterator[None]]


class Method(NamedTuple):
    """A method, and True if it steps a ball by its Euler angles."""

    steps: Generator
    by_angles: bool


# A solve has diverged if its cost exceeds the first one, or 1, by this factor.
_BEYOND = 1e9


class Run:
    """
    A solve of one chain: it counts iterations, keeps the best iterate and decides the end.

    Takes the workspace of the chain, and the arguments of `run_method`; the solve ends at the time
    `ends` [s] on the clock of `perf_counter`. `watch` is called after each report.
    """

    def __init__(
        self,
        method: Method,
        chain: ChainProblem,
        q: Array,
        joints: Array,
        options: SolverOptions,
        stop: Sequence[bool] = (),
        ends: float = math.inf,
        watch: Callable[[Iterate], None] | None = None,
    ) -> None:
        here = Iterate(chain, q, joints, options, euler=method.by_angles)
        self.here, self.options, self._joints = here, options, joints
        self._stop, self._ends, self._watch = stop, ends, watch
        self.status: Status | None = None
        self.iterations, self._reason = -1, ENDED_SPENT
        self._best = here.x.copy()
        self._best_score = (3.0, math.inf)
        self._hopeless = _BEYOND * max(here.cost, 1.0)
        self._steps = method.steps(self)
        self.step()

    def step(self) -> None:
        """Do at least one iteration; the first call reports the start."""
        next(self._steps)

    def report(
        self,
        moved: float = math.inf,
        *,
        pending: bool = False,
        extra: float = 0.0,
        near: bool = False,
    ) -> None:
        """
        Record the start or an iteration, and end the solve if a stopping criterion holds.

        The largest change of a variable that was tried is `moved` [rad or L]. The method has more
        to do than to meet closures and goals if it is `pending`. Iterates that meet them are
        judged by `extra`, the cost of comfort or preferences; others too if they are `near`.
        """
        here = self.here
        self.iterations += 1
        met = here.within_tolerance
        score = (0.0, extra) if met else (1.0, extra) if near else (2.0, here.cost)
        # In this form a NaN is never better than a number.
        best = self._best_score
        if score[0] < best[0] or (score[0] == best[0] and score[1] < best[1]):
            self._best_score, self._best = score, here.x.copy()
        if self._watch is not None:
            self._watch(here)
        if met and not pending:
            self.status = Status.CONVERGED
        elif self.iterations == 0:
            return
        elif not here.cost < self._hopeless:
            self.status = Status.DIVERGED
        elif moved <= self.options.stall_threshold:
            self.status = Status.STALLED
        elif (self._stop and self._stop[0]) or perf_counter() >= self._ends:
            self.end(Status.TIMEOUT, ENDED_INTERRUPTED)
        elif self.iterations >= self.options.max_iterations:
            self.status = Status.TIMEOUT

    def forget(self) -> None:
        """Forget the best iterate so far."""
        self._best_score = (3.0, math.inf)

    def end(self, status: Status, reason: int = ENDED_SPENT) -> None:
        """End the solve with a status and its reason, ENDED_*, unless it has ended already."""
        if self.status is None:
            self.status, self._reason = status, reason

    def answer(self) -> ChainAnswer:
        """Go to the best iterate and return its result; CONVERGED depends on its residuals."""
        here = self.here
        here.go_to(self._best)
        status = Status.STALLED if self.status is None else self.status
        if here.within_tolerance:
            status = Status.CONVERGED
        elif status is Status.CONVERGED:
            status = Status.STALLED
        return self.answer_of(status, self.iterations, self._reason)

    def answer_of(self, status: Status, iterations: int, reason: int = 0) -> ChainAnswer:
        """Return the result of the present iterate."""
        answer = self.here.chain.answer(self._joints, self.here.packed)
        answer.record[:RECORD] = status, iterations, 1, 0, reason
        return answer


class SteppedRun:
    """
    A `Run` that does one iteration per call, in copies of the workspace and of the values.

    SLSQP does many iterations in one step and cannot be interrupted. The iterates of such a step
    are kept, and each call returns one of them.
    """

    def __init__(
        self, method: Method, chain: ChainProblem, q: Array, joints: Array, options: SolverOptions
    ) -> None:
        self._left: deque[Array] = deque()
        chain, self._count = chain.with_own_workspace(), -1
        self._run = Run(method, chain, q.copy(), joints.copy(), options, watch=self._keep)

    def _keep(self, here: Iterate) -> None:
        self._left.append(here.x.copy())

    @property
    def done(self) -> bool:
        """Return True if the solve has ended and its last iteration has been returned."""
        return not self._left and self._run.status is not None

    def step(self, q: Array) -> ChainAnswer:
        """Do one iteration, and write it to q [rad or m]; the first call returns the start."""
        run, here = self._run, self._run.here
        if not self._left:
            run.step()
        reached, x = here.x.copy(), self._left.popleft()
        self._count += 1
        # To set a ball changes its last digits.
        moves = not np.array_equal(x, reached)
        if moves:
            here.go_to(x)
        self._write(q)
        answer = run.answer_of(Status.TIMEOUT, self._count)
        if moves:
            here.go_to(reached)
        return answer

    def end(self, q: Array) -> ChainAnswer:
        """Write the best iterate to q [rad or m] and return the result."""
        answer = self._run.answer()
        self._write(q)
        return answer

    def _write(self, q: Array) -> None:
        here = self._run.here
        places = here.chain.flat.var_q
        q[places] = here.q[places]
