"""The solve by a method of `solver/methods`, after which open loops are closed."""

from __future__ import annotations

from collections.abc import Sequence

from ik_node.kernels.layout import (
    JOINT_LOWER,
    JOINT_REST_ON,
    JOINT_TARGET_WEIGHT,
    JOINT_UPPER,
    JOINT_WINDOW,
)
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import ChainAnswer
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def run_method_closed(
    problem: Problem,
    loops: Problem,
    q: Array,
    joints: Array,
    options: SolverOptions,
    packed: Array,
    stop: Sequence[bool] = (),
) -> list[ChainAnswer]:
    """
    Solve every chain by `options.method`.

    Parameters
    ----------
    problem, loops : Problem
        All closures and goals, and the closures alone.
    q : ndarray, shape (nq,)
        Start; overwritten with the result [rad or m].
    joints : ndarray, shape (8, nq)
        Limits, locks and preferences, see `JointTable.rows`.
    options : SolverOptions
        Options of the solver.
    packed : ndarray
        The same options packed for the kernels.
    stop : sequence of bool
        Checked between iterations if it is not empty; the solve ends when stop[0] is true.

    Returns
    -------
    list of ChainAnswer
        One per chain.

    Notes
    -----
    Most methods treat closures as rows like those of goals, and may leave loops open if they do
    not converge. The result of a solve must have closed loops, so the compiled solver closes them
    from the configuration at which the method ended.

    """
    from ik_node.solver.methods import run_method

    start = q.copy()
    answers = run_method(problem, q, joints, options, stop=stop)
    if all(closed(answer) for answer in answers):
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


def closed(answer: ChainAnswer) -> bool:
    """Return True if all closures of a chain are within their tolerances."""
    within = answer.errors <= answer.tolerances
    return bool(within[~np.array(answer.chain.names.are_goals, dtype=bool)].all())
