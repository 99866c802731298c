"""The one outer loop of all methods, chain by chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from time import perf_counter

from ik_node.solver.methods.ccd import CyclicCoordinateDescent, refuse_closures
from ik_node.solver.methods.damped_least_squares import DampedLeastSquares
from ik_node.solver.methods.gradient_descent import GradientDescent
from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.jacobian_transpose import JacobianTranspose
from ik_node.solver.methods.method import Method
from ik_node.solver.methods.progress import Observe, Progress
from ik_node.solver.methods.pseudo_inverse import PseudoInverse
from ik_node.solver.methods.selectively_damped import SelectivelyDamped
from ik_node.solver.methods.slsqp import Slsqp
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem import Problem
from ik_node.solver.result import ChainAnswer
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

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
    max_iterations: int | None = None,
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
    max_iterations : int, optional
        In place of the options', for a solve that somebody else goes on with: the answer is then
        the last iterate, be it worse than one before.

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
    limit = options.max_iterations if max_iterations is None else max_iterations
    if options.method == 'ccd':
        for chain in problem.chains:
            refuse_closures(chain)
    answers = []
    for number, chain in enumerate(problem.chains):

        def watch(iteration: int, here: Iterate, number: int = number) -> None:
            if observe is not None:
                observe(number, iteration, perf_counter() - started, here.q.copy(), *here.worst)

        here = Iterate(chain, q, joints, options, euler=options.method in _BY_ANGLES)
        watcher = None if observe is None else watch
        progress = Progress(here, limit, stop, ends, watcher, keep_best=max_iterations is None)
        answers.append(_solve(here, progress, joints))
    return answers


def _solve(here: Iterate, progress: Progress, joints: Array) -> ChainAnswer:
    method = _METHODS[here.options.method](here)
    progress.begin(pending=method.pending, extra=method.extra, near=method.near)
    while progress.status is None:
        method.step(progress)
    return progress.answer(joints)
