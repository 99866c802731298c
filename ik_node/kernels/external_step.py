"""Linearisation at a given q, and steps that are chosen outside the kernels."""

from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import entry, FLOATS, INTS
from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.layout import Floats, Ints, open_solve, unit_of_column
from ik_node.kernels.start import evaluate, start_solve, write_preferred_step
from ik_node.kernels.step import apply_step


@entry(INTS, FLOATS, INTS, *4 * [FLOATS])
def linearise(
    i: Ints, f: Floats, k: Ints, w: Floats, q: Floats, joints: Floats, options: Floats
) -> int:
    """
    Write frames, residuals, errors and Jacobian at q to the workspace.

    Takes the arguments of `solve.advance`, and changes k and w only. Values of q outside the
    limits are clipped. Returns STATUS_REFUSED if q or a pose is refused, otherwise 0.
    """
    s = open_solve(i, f, k, w, q, joints, options)
    if not start_solve(s):
        return now.STATUS_REFUSED
    evaluate(s)
    jacobian(s)
    return 0


@entry(INTS, FLOATS, INTS, *4 * [FLOATS])
def external_step(
    i: Ints, f: Floats, k: Ints, w: Floats, q: Floats, joints: Floats, options: Floats
) -> int:
    """
    Apply `step` to x, and write frames, residuals, errors, cost and Jacobian at the new x.

    Takes the arguments of `solve.advance`, in a workspace that `linearise` has set up; the caller
    may write x and `step` in between. Bounds are kept, and free balls turn on SO(3). Afterwards
    `preferred_step` holds the way to joint targets or rest pose (LEVEL selects which, as in
    SETTLE), and q the values of all columns of this chain.
    """
    s = open_solve(i, f, k, w, q, joints, options)
    apply_step(s, s.x, s.x)
    write_preferred_step(s, s.x)
    evaluate(s)
    jacobian(s)
    for j in range(s.n):
        g, unit = s.column_q[j], unit_of_column(s, j)
        # What has not moved keeps its last digit.
        if s.var[j] >= 0 and s.value[j] != s.q[g] / unit:
            s.q[g] = s.value[j] * unit
    return 0
