"""A step that somebody else has chosen: taken here, by the rules that all steps go by."""

from ik_node.kernels._jit import entry
from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.layout import Floats, Ints, open_solve, unit_of_column
from ik_node.kernels.solve_state import STATUS_REFUSED
from ik_node.kernels.start import begin, evaluate, settle_distance
from ik_node.kernels.step import apply_step


@entry
def linearise(
    i: Ints, f: Floats, k: Ints, w: Floats, q: Floats, joints: Floats, options: Floats
) -> int:
    """
    Leave frames, residuals, errors and Jacobian at q in the workspace.

    Takes what `solve.advance` takes, and changes k and w only. Values of q outside the limits are
    taken at the limit.
    """
    s = open_solve(i, f, k, w, q, joints, options)
    if not begin(s):
        return STATUS_REFUSED
    evaluate(s)
    jacobian(s)
    return 0


@entry
def apply(
    i: Ints, f: Floats, k: Ints, w: Floats, q: Floats, joints: Floats, options: Floats
) -> int:
    """
    Move x by `step` and leave frames, residuals, errors, cost and Jacobian there.

    Takes what `solve.advance` takes, in a workspace that `linearise` has begun; x and `step` may
    be written in between. Bounds are kept, free balls turn on SO(3). `wish` then holds the way to
    joint targets or rest pose, whichever LEVEL is about as in settling, and q the values of all
    columns this chain moves.
    """
    s = open_solve(i, f, k, w, q, joints, options)
    apply_step(s, s.x, s.x)
    settle_distance(s, s.x)
    evaluate(s)
    jacobian(s)
    for j in range(s.n):
        g, unit = s.i[s.column_q + j], unit_of_column(s, j)
        # What has not moved keeps its last digit.
        if s.i[s.var + j] >= 0 and s.w[s.value + j] != s.q[g] / unit:
            s.q[g] = s.w[s.value + j] * unit
    return 0
