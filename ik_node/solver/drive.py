"""Driven joints by continuation: the loops stay closed, and in their branch, all the way."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from ik_node.errors import listed, shown
from ik_node.kernels.layout import (
    JOINT_LOWER,
    JOINT_REST_ON,
    JOINT_TARGET,
    JOINT_TARGET_WEIGHT,
    JOINT_TURNS,
    JOINT_UPPER,
    JOINT_WINDOW,
    RECORD_STEPS,
)
from ik_node.kernels.options import MAX_ITERATIONS, RESTARTS
from ik_node.solver.problem.chain_problem import RANK_TOLERANCE
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import ChainAnswer, Solution
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# As near as settling comes [rad, or characteristic lengths]; from there the values are set and the
# loops closed once more.
NEAR = 1e-3
# Where all steps are spent, so many more tell whether they still lead on: by more than a share of
# what is left to go, or by one [rad or characteristic lengths]. A free way is gone 0.3 a step.
PROBE_STEPS = 100
PROGRESS = 0.02
# The loops are near a singularity of type II where the other joints' smallest singular value is
# below this share of that of all joints.
SINGULAR = 0.05
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
        spent on the way, and q is as far as they have led; STALLED when no step leads on, and the
        message says what is in the way.

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
    # Every step covers up to 0.3 rad, or characteristic lengths; the way may be long.
    packed = packed.copy()
    packed[MAX_ITERATIONS] = max(packed[MAX_ITERATIONS], 1000.0) if steps is None else steps
    if steps is not None:
        packed[RESTARTS] = 0.0
    table.move_to_targets(problem.moved, rows, q)
    answers = problem.run(q, rows, packed, 0.0)
    spent = [answer.iterations for answer in answers]
    units = problem.units[places]
    near = bool(np.all(np.abs(q[places] - values) <= NEAR * units))
    is_spent = not near and max(spent, default=0) >= packed[MAX_ITERATIONS]
    if is_spent and steps is None:
        before = float(np.max(np.abs(q[places] - values) / units))
        packed[[MAX_ITERATIONS, RESTARTS]] = PROBE_STEPS, 0.0
        answers = problem.run(q, rows, packed, 0.0)
        after = float(np.max(np.abs(q[places] - values) / units))
        is_spent = before - after > min(PROGRESS * before, 1.0)
        for answer, earlier in zip(answers, spent, strict=True):
            answer.record[RECORD_STEPS] += earlier
    if near:
        if steps is not None:
            packed[MAX_ITERATIONS] = min(steps, CLOSING_STEPS)
        q[places] = values
        rows[JOINT_TARGET_WEIGHT] = 0.0
        rows[JOINT_WINDOW, places] = 0.0
        packed[RESTARTS] = 0.0
        answers = problem.run(q, rows, packed, 0.0)
        for answer, before in zip(answers, spent, strict=True):
            answer.record[RECORD_STEPS] += before
    table.follow(q)
    rows[JOINT_WINDOW, places] = locked
    short = ', '.join(
        f'{shown(problem.tree.names[at])} stopped at {q[at]:.6g}, not {value:.6g}'
        for at, value in wanted.items()
        if q[at] != value
    )
    objection = f'driven joint {short}' if short else ''
    least = Status.STALLED if objection else Status.CONVERGED
    if is_spent:
        least = Status.TIMEOUT
    if objection and steps is None:
        # Who goes on step by step, as a node does, has no use for the reason at each of them.
        objection += (
            '; all steps are spent, and more would lead on'
            if is_spent
            else (f'; {_obstacle(problem, rows, q, places, packed, answers)}')
        )
    return Solution(q, answers, perf_counter() - started, objection, least)


def _obstacle(
    problem: Problem,
    rows: Array,
    q: Array,
    places: NDArray[np.int64],
    packed: Array,
    answers: Sequence[ChainAnswer],
) -> str:
    """Return what keeps driven joints from going on."""
    limits = [name for answer in answers for name in answer.active_limits(q)]
    if limits:
        return f'at limits: {listed(limits)}'
    rows = rows.copy()
    rows[JOINT_WINDOW, places] = np.inf
    for chain in problem.chains:
        _, jacobian, _ = chain.linearise_by_size(q, rows, packed)
        free = rows[JOINT_WINDOW, chain.flat.var_q] > 0.0
        others = free & ~np.isin(chain.flat.var_q, places)
        whole = np.linalg.svd(jacobian[:, free], compute_uv=False)
        rank = int(np.sum(whole > RANK_TOLERANCE * whole[:1].max(initial=0.0)))
        part = np.linalg.svd(jacobian[:, others], compute_uv=False)
        if rank and (part.size < rank or part[rank - 1] < SINGULAR * whole[rank - 1]):
            return (
                'the loops are near a singularity of type II, where the driven joints cannot move '
                'them on'
            )
    return 'the loops leave no way on from there'
