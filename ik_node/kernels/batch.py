"""
Many problems of one chain in one call.

The solver is called where its compiled code stands, not compiled a second time into the batch: a
third of a second instead of eight, and what a batch finds is what single solves find, to the bit.
"""

from __future__ import annotations

from typing import Any

from ik_node.kernels._jit import code_address, compiled, entry
from ik_node.kernels.layout import Floats, Ints
from ik_node.kernels.solve import advance
from ik_node.kernels.solve_state import (
    ITERATIONS,
    PHASE,
    PHASE_DONE,
    STATUS_REFUSED,
    STATUS_RUNNING,
)

if compiled:
    from ik_node.kernels.numba_ext.prepared_call import call
else:

    def call(code: int, *arguments: Any) -> Any:
        """Call `advance`, whose compiled code stands at `code`."""
        del code
        return advance(*arguments)


def code_of_advance(*arguments: Any) -> int:
    """Return where the code of `advance` for such arguments stands; compiled if need be."""
    return code_address(advance, arguments)


@entry
def advance_batch(
    code: int,
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
    record: int,
    first: int,
    steps: int,
) -> int:
    """
    Solve problem after problem, or go on, for at most `steps` steps.

    Parameters
    ----------
    code : int
        `code_of_advance`.
    i, f, k, w, options : ndarray
        As for `advance`; the workspace serves one problem after the other.
    q : ndarray, shape (n, nq)
        A start in every row, and at the end the answer [rad or m].
    joints : ndarray, shape (1, 8, nq) or (n, 8, nq)
        Table of all problems, or of each.
    positions, quats_xyzw : ndarray, shape (n, k, 3), (n, k, 4)
        Poses of all goals of the chain, in order.
    records : ndarray, shape (n, length)
        What is copied of every problem's record.
    record : int
        Where that begins in w.
    first : int
        Problem to begin or to go on with.
    steps : int
        All problems together; the one at whose end they are used up is the last.

    Returns
    -------
    int
        Problem to go on with, n = done; -1 - m when problem m is refused.

    """
    count = q.shape[0]
    for n in range(first, count):
        before = 0 if k[PHASE] == PHASE_DONE else k[ITERATIONS]
        table = min(n, joints.shape[0] - 1)
        status = call(
            code, i, f, k, w, q[n], joints[table], options, positions[n], quats_xyzw[n], steps
        )
        if status == STATUS_RUNNING:
            return n
        if status == STATUS_REFUSED:
            return -1 - n
        for e in range(records.shape[1]):
            records[n, e] = w[record + e]
        steps -= k[ITERATIONS] - before + 1
        if steps <= 0:
            return n + 1
    return int(count)
