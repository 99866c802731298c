"""
Many problems of one chain in one call.

Each is solved by the same compiled code as a single problem, so that what a batch finds is what
single solves find, to the bit.
"""

from __future__ import annotations

from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import entry, FLOATS, INT, INTS
from ik_node.kernels.layout import Floats, Ints, JOINT_ROWS, open_solve, RECORD
from ik_node.kernels.solve import advance
from ik_node.kernels.unchecked_array import beyond, table


@entry(INTS, FLOATS, INTS, *7 * [FLOATS], *5 * [INT])
def advance_batch(
    i: Ints,
    f: Floats,
    k: Ints,
    w: Floats,
    q: Floats,
    joints: Floats,
    options: Floats,
    positions: Floats,
    quats_xyzw: Floats,
    records: Floats,
    count: int,
    tables: int,
    goals: int,
    first: int,
    steps: int,
) -> int:
    """
    Solve problem after problem from `first`, or go on, for at most `steps` steps together.

    The arguments are those of `advance`, for `count` problems: q (count, nq) has a start in every
    row and at the end the answer, `joints` (tables, 8, nq) one table for all or one for each, and
    the poses are (count, goals, 3) and (count, goals, 4). `records` (count, RECORD + 2 nc) gets
    what every problem's record begins with and the residual norms. Return the problem to go on
    with, `count` = done; -1 - m when problem m is refused.
    """
    s = open_solve(i, f, k, w, q, joints, options)
    kept = RECORD + 2 * s.nc
    made = table(records, count, kept)
    for n in range(first, count):
        before = 0 if s.k[now.PHASE] == now.PHASE_DONE else s.k[now.ITERATIONS]
        status = advance(
            i,
            f,
            k,
            w,
            beyond(q, s.nq * n),
            beyond(joints, JOINT_ROWS * s.nq * min(n, tables - 1)),
            options,
            beyond(positions, 3 * goals * n),
            beyond(quats_xyzw, 4 * goals * n),
            goals,
            steps,
        )
        if status == now.STATUS_RUNNING:
            return n
        if status == now.STATUS_REFUSED:
            return -1 - n
        for e in range(kept):
            made[n, e] = s.record[e] if e < RECORD else s.error[e - RECORD]
        steps -= s.k[now.ITERATIONS] - before + 1
        if steps <= 0:
            return n + 1
    return count
