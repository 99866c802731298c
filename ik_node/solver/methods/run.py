"""The outer loop that all methods share, chain by chain."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
import math
from time import perf_counter
from typing import Protocol

from ik_node.kernels.layout import RECORD
from ik_node.solver.methods.ccd import CyclicCoordinateDescent, refuse_closures
from ik_node.solver.methods.damped_least_squares import DampedLeastSquares
from ik_node.solver.methods.gradient_descent import GradientDescent
from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.progress import Observe, Progress
from ik_node.solver.methods.pseudo_inverse import JacobianTranspose, PseudoInverse
from ik_node.solver.methods.selectively_damped import SelectivelyDamped
from ik_node.solver.methods.slsqp import Slsqp
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import ChainAnswer
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Method(Protocol):
    """
    A method that computes the steps of one chain.

    Attributes
    ----------
    pending : bool
        True if there is more to do than to meet closures and goals.
    extra : float
        Cost of the present iterate besides closures and goals.
    near : bool
        True if the present iterate is judged by `extra`, even if a tolerance is not met.

    """

    @property
    def pending(self) -> bool:
        """Return True if there is more to do than to meet closures and goals."""

    @property
    def extra(self) -> float:
        """Return the cost besides closures and goals."""

    @property
    def near(self) -> bool:
        """Return True if the iterate is judged by `extra`, even if a tolerance is not met."""

    def step(self, progress: Progress) -> None:
        """Do at least one iteration, and report each one with `progress.record`."""


_METHODS: dict[str, Callable[[Iterate], Method]] = {
    'dls': DampedLeastSquares,
    'sdls': SelectivelyDamped,
    'pseudo_inverse': PseudoInverse,
    'jacobian_transpose': JacobianTranspose,
    'ccd': CyclicCoordinateDescent,
    'gradient_descent': GradientDescent,
    'slsqp': Slsqp,
}
# The methods whose variables must be independent numbers: they step a ball by its Euler angles.
_BY_ANGLES = ('ccd', 'gradient_descent', 'slsqp')


def run_method(
    problem: Problem,
    q: Array,
    joints: Array,
    options: SolverOptions,
    stop: Sequence[bool] = (),
    observe: Observe | None = None,
) -> list[ChainAnswer]:
    """
    Solve every chain by the method of the options, from one start.

    Parameters
    ----------
    problem : Problem
        Closures and goals.
    q : ndarray, shape (nq,)
        Start; overwritten with the result [rad or m].
    joints : ndarray, shape (8, nq)
        Limits, locks and preferences, see `JointTable.rows`.
    options : SolverOptions
        The method and its options.
    stop : sequence of bool
        Checked after each iteration if it is not empty; the solve ends when stop[0] is true.
    observe : callable, optional
        Function of chain, iteration, time since the start [s], q [rad or m], and the largest
        position [m] and orientation residual [rad]; called at the start and after each iteration.

    Returns
    -------
    list of ChainAnswer
        One per chain, for its best iterate. CONVERGED means that its residuals are within all
        tolerances; otherwise closures may be open.

    Raises
    ------
    OptionError
        If the method is 'ccd' and there are closures, or `comfort` does not return a finite
        number.

    """
    started = perf_counter()
    ends = started + options.time_budget if options.time_budget > 0.0 else math.inf
    answers = []
    for number, chain in enumerate(problem.chains):

        def watch(iteration: int, here: Iterate, number: int = number) -> None:
            if observe is not None:
                observe(number, iteration, perf_counter() - started, here.q.copy(), *here.worst)

        run = MethodRun(chain, q, joints, options, stop, ends, None if observe is None else watch)
        while run.progress.status is None:
            run.method.step(run.progress)
        answers.append(run.progress.answer(joints))
    return answers


class MethodRun:
    """
    A solve of one chain by the method of the options.

    Parameters
    ----------
    chain : ChainProblem
        The chain, whose workspace is used.
    q, joints, options, stop
        As for `run_method`.
    ends : float
        Time at which the solve ends [s], on the clock of `perf_counter`; inf = no limit.
    watch : callable, optional
        As for `Progress`.

    """

    def __init__(
        self,
        chain: ChainProblem,
        q: Array,
        joints: Array,
        options: SolverOptions,
        stop: Sequence[bool] = (),
        ends: float = math.inf,
        watch: Callable[[int, Iterate], None] | None = None,
    ) -> None:
        if options.method == 'ccd':
            refuse_closures(chain)
        self.here = Iterate(chain, q, joints, options, euler=options.method in _BY_ANGLES)
        self.progress = Progress(self.here, options.max_iterations, stop, ends, watch)
        self.method = _METHODS[options.method](self.here)
        method = self.method
        self.progress.begin(pending=method.pending, extra=method.extra, near=method.near)


class SteppedRun:
    """
    A `MethodRun` that does one iteration per call.

    SLSQP does many iterations in one step and cannot be interrupted. The iterates of such a step
    are kept, and each call returns one of them.

    Parameters
    ----------
    chain, q, joints, options
        As for `MethodRun`; the run uses copies of the workspace and of the values.

    """

    def __init__(
        self, chain: ChainProblem, q: Array, joints: Array, options: SolverOptions
    ) -> None:
        self._joints = joints.copy()
        self._left: deque[Array] = deque()
        chain = chain.with_own_workspace()
        self._run = MethodRun(chain, q.copy(), self._joints, options, watch=self._keep)
        self._count = 0

    def _keep(self, iteration: int, here: Iterate) -> None:
        if iteration > 0:
            self._left.append(here.x.copy())

    @property
    def done(self) -> bool:
        """Return True if the solve has ended and its last iteration has been returned."""
        return not self._left and self._run.progress.status is not None

    def step(self, q: Array) -> ChainAnswer:
        """Do one iteration, write the chain's values to q [rad or m], and return the result."""
        here, progress = self._run.here, self._run.progress
        if not self._left and progress.status is None:
            self._run.method.step(progress)
        reached = here.x.copy()
        if self._left:
            self._count += 1
            here.go_to(self._left.popleft())
        if self.done:
            answer = progress.answer(self._joints)
        else:
            answer = here.chain.answer(self._joints, here.packed)
            answer.record[:RECORD] = Status.TIMEOUT, self._count, 1, 0, 0
        places = here.chain.flat.var_q
        q[places] = here.q[places]
        here.go_to(reached)
        return answer
