"""The methods by name, and the solve of all chains by one of them."""

from __future__ import annotations

from collections.abc import Sequence
import math
from time import perf_counter

from ik_node.kernels.layout import (
    JOINT_LOWER,
    JOINT_REST_ON,
    JOINT_TARGET_WEIGHT,
    JOINT_UPPER,
    JOINT_WINDOW,
)
from ik_node.solver.methods import ccd, descent, linear
from ik_node.solver.methods.loop import Method, Run
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import ChainAnswer
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

METHODS: dict[str, Method] = {
    'dls': Method(linear.damped_least_squares, by_angles=False),
    'sdls': Method(linear.selectively_damped, by_angles=False),
    'pseudo_inverse': Method(linear.pseudo_inverse, by_angles=False),
    'jacobian_transpose': Method(linear.jacobian_transpose, by_angles=False),
    'ccd': Method(ccd.cyclic_coordinate_descent, by_angles=True),
    'gradient_descent': Method(descent.gradient_descent, by_angles=True),
    'slsqp': Method(descent.slsqp, by_angles=True),
}


def run_method(
    problem: Problem, q: Array, joints: Array, options: SolverOptions, stop: Sequence[bool] = ()
) -> list[ChainAnswer]:
    """
    Solve every chain by the method of the options, from one start.

    q is the start, shape (nq,) [rad or m], and becomes the result. `joints` are limits, locks and
    preferences, see `JointTable.rows`. If `stop` is not empty, the solve ends after the iteration
    in which stop[0] becomes true. The answers are those of the best iterates: CONVERGED means that
    all residuals are within their tolerances; otherwise closures may be open.

    Raises
    ------
    OptionError
        If the method is 'ccd' and there are closures, or `comfort` does not return a finite
        number.

    """
    started = perf_counter()
    ends = started + options.time_budget if options.time_budget > 0.0 else math.inf
    answers = []
    for chain in problem.chains:
        run = Run(METHODS[options.method], chain, q, joints, options, stop, ends)
        while run.status is None:
            run.step()
        answers.append(run.answer())
    return answers


def run_closed(
    problem: Problem,
    loops: Problem,
    q: Array,
    joints: Array,
    options: SolverOptions,
    packed: Array,
    stop: Sequence[bool] = (),
) -> list[ChainAnswer]:
    """
    Solve as `run_method`, and close the loops that the method left open.

    Most methods treat closures as rows like those of goals. The result of a solve must have closed
    loops, so the compiled solver closes them from the configuration at which the method ended.
    `loops` are the closures alone, and `packed` the options packed for the kernels.
    """
    start = q.copy()
    answers = run_method(problem, q, joints, options, stop=stop)
    if all(_closed(answer) for answer in answers):
        return answers
    rows = joints.copy()
    rows[(JOINT_TARGET_WEIGHT, JOINT_REST_ON), :] = 0.0
    # The window is around the start of the method, not around its end.
    window = rows[JOINT_WINDOW]
    rows[JOINT_LOWER] = np.maximum(rows[JOINT_LOWER], start - window)
    rows[JOINT_UPPER] = np.minimum(rows[JOINT_UPPER], start + window)
    rows[JOINT_WINDOW, window > 0.0] = np.inf
    loops.run(q, rows, packed, 0.0)
    return [
        answer.at(chain.linearise(q, joints, packed)[2])
        for chain, answer in zip(problem.chains, answers, strict=True)
    ]


def _closed(answer: ChainAnswer) -> bool:
    within = answer.errors <= answer.tolerances
    return bool(within[~np.array(answer.chain.names.are_goals, dtype=bool)].all())
