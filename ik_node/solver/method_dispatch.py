"""A solve by another method than the compiled one, with the loops closed at its end."""

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


def run_other(
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
        All that is asked, and its closures alone.
    q : ndarray, shape (nq,)
        Start, and in place the answer [rad or m].
    joints : ndarray, shape (8, nq)
        Limits, locks and wishes.
    options : SolverOptions
        As given to the solver.
    packed : ndarray
        The same for kernels.
    stop : sequence of bool
        Looked at between iterations when not empty; stop[0] true ends the solve.

    Notes
    -----
    Most methods know closures as rows beside the goals' and may leave loops open where they do
    not get there. Loops never open, so they are closed from where the method ended.

    """
    from ik_node.solver.methods import run_method

    start = q.copy()
    answers = run_method(problem, q, joints, options, stop=stop)
    if all(closed(answer) for answer in answers):
        return answers
    rows = joints.copy()
    rows[(JOINT_TARGET_WEIGHT, JOINT_REST_ON), :] = 0.0
    # The window is around where the method began, not around where it ended.
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
    """Return whether all closures of a chain are within their tolerances."""
    within = answer.errors <= answer.tolerances
    return bool(within[~np.array(answer.chain.names.are_goals, dtype=bool)].all())
