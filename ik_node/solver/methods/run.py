"""The one outer loop of all methods, chain by chain."""

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
    A way to choose steps for one chain.

    Attributes
    ----------
    pending : bool
        Whether there is more to do than meeting closures and goals.
    extra : float
        What is to be small beside them, here.
    near : bool
        Whether it is near enough here to go by `extra`, tolerances or not.

    """

    @property
    def pending(self) -> bool:
        """Say whether meeting closures and goals is not yet the end."""

    @property
    def extra(self) -> float:
        """Return the cost beside that of closures and goals."""

    @property
    def near(self) -> bool:
        """Say whether the iterate may be judged by `extra`, tolerances or not."""

    def step(self, progress: Progress) -> None:
        """Do at least one iteration, and report every one with `progress.look`."""


_METHODS: dict[str, Callable[[Iterate], Method]] = {
    'dls': DampedLeastSquares,
    'sdls': SelectivelyDamped,
    'pseudo_inverse': PseudoInverse,
    'jacobian_transpose': JacobianTranspose,
    'ccd': CyclicCoordinateDescent,
    'gradient_descent': GradientDescent,
    'slsqp': Slsqp,
}
# Those that take joint after joint or know nothing of turns: a ball is three angles to them.
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
        Start, and on return the answer, in place [rad or m].
    joints : ndarray, shape (8, nq)
        Limits, locks and wishes.
    options : SolverOptions
        The method, and what it goes by.
    stop : sequence of bool
        Looked at after each iteration when not empty; stop[0] true ends the solve.
    observe : callable, optional
        Called at the start and after each iteration with chain, iteration, time since the start
        [s], q, and the largest position [m] and orientation residual [rad].

    Returns
    -------
    list of ChainAnswer
        One a chain, of its best iterate. CONVERGED means that the residuals there are within
        every tolerance; closures may be open otherwise.

    Raises
    ------
    OptionError
        If the method cannot serve, or `comfort` returns no finite number.

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
        Whose workspace is used.
    q, joints, options, stop
        As for `run_method`.
    ends : float
        When the time is spent, on the clock of `perf_counter`.
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
    The same, one iteration a call.

    A method may do many iterations in one step, as SLSQP does, which cannot be stopped and taken
    up again: these are kept, and handed out call by call.

    Parameters
    ----------
    chain, q, joints, options
        As for `MethodRun`; the workspace and the values used are copies.

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
        """Whether the solve has come to its end, and its last iteration was handed out."""
        return not self._left and self._run.progress.status is not None

    def step(self, q: Array) -> ChainAnswer:
        """Do one iteration; write the values of the chain to q, and return what they come to."""
        here, progress = self._run.here, self._run.progress
        if not self._left and progress.status is None:
            self._run.method.step(progress)
        reached = here.x.copy()
        if self._left:
            self._count += 1
            here.place(self._left.popleft())
        if self.done:
            answer = progress.answer(self._joints)
        else:
            answer = here.chain.answer(self._joints, here.packed)
            answer.record[:RECORD] = Status.TIMEOUT, self._count, 1, 0
        places = here.chain.flat.var_q
        q[places] = here.q[places]
        here.place(reached)
        return answer
