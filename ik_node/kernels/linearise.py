"""Residuals and Jacobian at a configuration, for who wants to look rather than to solve."""

from ik_node.kernels._jit import entry
from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.layout import Floats, Ints, open_solve
from ik_node.kernels.solve_state import STATUS_REFUSED
from ik_node.kernels.start import begin, evaluate


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
