"""Driven joints by continuation: the loops stay closed, and in their branch, all the way."""

from __future__ import annotations

from time import perf_counter

from ik_node.kernels.layout import (
    JOINT_LOWER,
    JOINT_REST_ON,
    JOINT_TARGET,
    JOINT_TARGET_WEIGHT,
    JOINT_TURNS,
    JOINT_UPPER,
    JOINT_WINDOW,
)
from ik_node.kernels.options import MAX_ITERATIONS, RESTARTS
from ik_node.solver.joint_table import JointTable
from ik_node.solver.problem import Problem
from ik_node.solver.result import Solution
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# As near as settling comes; from there the values are set and the loops closed once more.
NEAR = 1e-3
# From there a few steps close the loops, if anything does.
CLOSING_STEPS = 20


def drive(
    problem: Problem,
    table: JointTable,
    q: Array,
    wanted: dict[int, float],
    packed: Array,
    steps: int | None = None,
) -> Solution:
    """
    Move values of q to where they are wanted.

    Parameters
    ----------
    problem : Problem
        Closures only.
    table : JointTable
        Locks of driven joints do not hold them; targets and rest poses take no part.
    q : ndarray, shape (nq,)
        Start, and in place the answer [rad or m].
    wanted : dict of int to float
        Place in q, and value [rad or m]; cut at limits.
    packed : ndarray
        Options of the solver; a time budget does not apply.
    steps : int, optional
        Most steps on the way; then there are no restarts. None = 1000, or more by the options.

    Returns
    -------
    Solution
        CONVERGED when the loops are closed and all values are reached; TIMEOUT when the steps were
        spent on the way, and q is as far as they have led.

    Notes
    -----
    The driven values are drawn to what is wanted as joint targets are, in steps after which the
    loops are closed; a step that closing would take far from its tangent is halved, for there the
    branches lie close together. At last the values are set exactly and held.

    """
    started = perf_counter()
    places = np.fromiter(wanted, dtype=np.int64, count=len(wanted))
    values = np.fromiter(wanted.values(), dtype=np.float64, count=len(wanted))
    rows = table.rows.copy()
    np.clip(q, rows[JOINT_LOWER], rows[JOINT_UPPER], out=q)
    rows[(JOINT_TARGET_WEIGHT, JOINT_REST_ON, JOINT_TURNS), :] = 0.0
    locked = rows[JOINT_WINDOW, places].copy()
    rows[JOINT_WINDOW, places] = np.inf
    rows[JOINT_TARGET, places] = values
    rows[JOINT_TARGET_WEIGHT, places] = 1.0
    # Every step covers up to 0.3 rad or m; the way may be long.
    packed = packed.copy()
    packed[MAX_ITERATIONS] = max(packed[MAX_ITERATIONS], 1000.0) if steps is None else steps
    if steps is not None:
        packed[RESTARTS] = 0.0
    table.move_to_targets(problem.moved, rows, q)
    answers = problem.run(q, rows, packed, 0.0)
    spent = [answer.iterations for answer in answers]
    near = bool(np.all(np.abs(q[places] - values) <= NEAR))
    if near:
        if steps is not None:
            packed[MAX_ITERATIONS] = min(steps, CLOSING_STEPS)
        q[places] = values
        rows[JOINT_TARGET_WEIGHT] = 0.0
        rows[JOINT_WINDOW, places] = 0.0
        packed[RESTARTS] = 0.0
        answers = problem.run(q, rows, packed, 0.0)
        for answer, before in zip(answers, spent, strict=True):
            answer.record[1] += before
    table.follow(q)
    rows[JOINT_WINDOW, places] = locked
    short = ', '.join(
        f'{problem.tree.names[at]!r} stopped at {q[at]:.6g}, not {value:.6g}'
        for at, value in wanted.items()
        if q[at] != value
    )
    objection = f'driven joint {short}' if short else ''
    least = Status.STALLED if objection else Status.CONVERGED
    if not near and max(spent, default=0) >= packed[MAX_ITERATIONS]:
        least = Status.TIMEOUT
    return Solution(q, answers, perf_counter() - started, objection, least)
