"""Linearisation at given q, and steps that are chosen outside the kernels."""

from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import entry, FLOATS, INT, INTS, kernel
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


@kernel
def determinant(data: Floats, begin: int, size: int) -> float:
    """Return the determinant of the matrix (size, size) that begins at an index; overwrite it."""
    product = 1.0
    for c in range(size):
        best = c
        for r in range(c + 1, size):
            if abs(data[begin + size * r + c]) > abs(data[begin + size * best + c]):
                best = r
        pivot = data[begin + size * best + c]
        if pivot == 0.0:
            return 0.0
        product *= pivot if best == c else -pivot
        row = begin + size * c
        for e in range(c, size):
            above = data[begin + size * best + e]
            data[begin + size * best + e] = data[row + e]
            data[row + e] = above
        for r in range(c + 1, size):
            other = begin + size * r
            share = data[other + c] / pivot
            if share != 0.0:
                for e in range(c + 1, size):
                    data[other + e] -= share * data[row + e]
    return product


@entry(INTS, FLOATS, INTS, *4 * [FLOATS], INTS, FLOATS, INT)
def determinants(
    i: Ints,
    f: Floats,
    k: Ints,
    w: Floats,
    q: Floats,
    joints: Floats,
    options: Floats,
    plan: Ints,
    data: Floats,
    count: int,
) -> int:
    """
    Write determinants of square parts of the Jacobian at many configurations to `data`.

    Takes the arguments of `linearise`, and overwrites q. `plan`: its length, that of `data`, the
    number of determinants, and for each one its size and, row by row, where its elements are in
    `jac`; -1 = an element is zero. `data`: configurations (count, nq), determinants (count, n),
    and room for the largest matrix. Returns STATUS_REFUSED if a configuration is refused.
    """
    s = open_solve(i, f, k, w, q, joints, options)
    result, matrix = s.nq * count, (s.nq + plan[2]) * count
    for number in range(count):
        for g in range(s.nq):
            q[g] = data[s.nq * number + g]
        if linearise(i, f, k, w, q, joints, options) == now.STATUS_REFUSED:
            return now.STATUS_REFUSED
        place = 3
        for _ in range(plan[2]):
            size = plan[place]
            for e in range(size * size):
                index = plan[place + 1 + e]
                data[matrix + e] = s.jac[index] if index >= 0 else 0.0
            data[result] = determinant(data, matrix, size)
            result += 1
            place += 1 + size * size
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
