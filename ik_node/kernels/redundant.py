"""
Closures whose rows are redundant up to rounding, solved in the least-squares sense.

Rounded numbers of a description make redundant rows contradict each other: no configuration closes
them all, and the mechanism is held where they disagree least. `layout.Solve` names groups of such
closures. Let Q be an orthonormal basis of the independent rows and L the coordinates of all rows
in it, so that J = L Q up to rounding. The least-squares residual is stationary where L^T g = 0. An
independent row i keeps its Jacobian and gets the residual of theory.md, eq. (10),

    g'_i = L_i (L^T L)^-1 L^T g ,

and a dependent row has no effect. Since g' = 0 can be reached, steps, levels and tolerances stay
the same; g' = 0 is where the loops are closed as well as they can be.
"""

from math import sqrt

from ik_node.kernels.decorators import kernel
from ik_node.kernels.layout import CON_WEIGHT, constraint_value, Solve

# A remainder of a row below this is zero [rad or L per unit].
NOTHING_LEFT = 1e-12


@kernel
def root_of_weight(s: Solve, r: int) -> float:
    """Return the square root of a row's weight, the row's factor in least squares."""
    return (
        sqrt(max(s.w[s.weight + r], 1e-12))
        if constraint_value(s, r // 6, CON_WEIGHT) > 0.0
        else 0.0
    )


@kernel
def gather_rows(s: Solve, first: int, last: int) -> None:
    """Write a group's weighted Jacobian rows to `dense`, and mark all as dependent."""
    w = s.w
    for d in range(first, last):
        row, r = s.dense + d * s.nv, s.i[s.dense_row + d]
        c, root = r // 6, root_of_weight(s, r)
        s.k[s.implied + r] = 1
        for v in range(s.nv):
            w[row + v] = 0.0
        for t in range(s.nd):
            w[s.share + d * s.nd + t] = 0.0
        for t in range(s.i[s.slot0 + c], s.i[s.slot0 + c + 1]):
            w[row + s.i[s.slot_var + t]] = root * w[s.jac + 6 * t + r % 6]


@kernel
def choose_rows(s: Solve, g: int, first: int, last: int) -> int:
    """
    Choose independent rows of a group by Gram and Schmidt's method; return the end of their list.

    The largest remaining row is chosen first. The number of rows is the rank of the group. More
    are chosen while more than the group's slack is left of a row: away from the closed
    configuration no row is redundant.
    """
    w, nv = s.w, s.nv
    end = first
    while end < last:
        best, most = -1, 0.0
        for d in range(first, last):
            if s.k[s.implied + s.i[s.dense_row + d]] == 1:
                square = 0.0
                for v in range(nv):
                    square += w[s.dense + d * nv + v] * w[s.dense + d * nv + v]
                if square > most:
                    best, most = d, square
        length = sqrt(most)
        enough = end - first >= s.i[s.group_rank + g]
        if best < 0 or length <= NOTHING_LEFT or (enough and length <= s.f[s.group_slack + g]):
            break
        s.k[s.chosen + end] = best
        s.k[s.implied + s.i[s.dense_row + best]] = 0
        w[s.share + best * s.nd + end] = length
        for v in range(nv):
            w[s.dense + best * nv + v] /= length
        for d in range(first, last):
            if s.k[s.implied + s.i[s.dense_row + d]] == 1:
                along = 0.0
                for v in range(nv):
                    along += w[s.dense + d * nv + v] * w[s.dense + best * nv + v]
                for v in range(nv):
                    w[s.dense + d * nv + v] -= along * w[s.dense + best * nv + v]
                w[s.share + d * s.nd + end] = along
        end += 1
    return end


@kernel
def factorise_shares(s: Solve, first: int, last: int, end: int) -> None:
    """Write the Cholesky factor of L^T L of a group to `normal`."""
    w, nd = s.w, s.nd
    for a in range(first, end):
        for b in range(first, a + 1):
            total = 0.0
            for d in range(first, last):
                total += w[s.share + d * nd + a] * w[s.share + d * nd + b]
            for t in range(first, b):
                total -= w[s.normal + a * nd + t] * w[s.normal + b * nd + t]
            if a == b:
                w[s.normal + a * nd + a] = sqrt(max(total, NOTHING_LEFT * NOTHING_LEFT))
            else:
                w[s.normal + a * nd + b] = total / w[s.normal + b * nd + b]


@kernel
def choose_independent_rows(s: Solve) -> None:
    """Choose the independent rows of every group at the present Jacobian."""
    for g in range(s.groups):
        first, last = s.i[s.group0 + g], s.i[s.group0 + g + 1]
        gather_rows(s, first, last)
        end = choose_rows(s, g, first, last)
        s.k[s.chosen_end + g] = end
        factorise_shares(s, first, last, end)


@kernel
def store_grouped_rows(s: Solve) -> None:
    """Copy the residual of all grouped rows to `raw`, which `reduce_rows` reads."""
    for d in range(s.nd):
        s.w[s.raw + d] = s.w[s.trial + s.i[s.dense_row + d]]


@kernel
def reduce_rows(s: Solve) -> None:
    """
    Write the least-squares residual g' of theory.md, eq. (10), to the chosen rows.

    The other rows become 0.
    """
    w, nd = s.w, s.nd
    for g in range(s.groups):
        first, last, end = s.i[s.group0 + g], s.i[s.group0 + g + 1], s.k[s.chosen_end + g]
        for t in range(first, end):
            total = 0.0
            for d in range(first, last):
                root = root_of_weight(s, s.i[s.dense_row + d])
                total += w[s.share + d * nd + t] * root * w[s.raw + d]
            for u in range(first, t):
                total -= w[s.normal + t * nd + u] * w[s.least + u]
            w[s.least + t] = total / w[s.normal + t * nd + t]
        for t in range(end - 1, first - 1, -1):
            total = w[s.least + t]
            for u in range(t + 1, end):
                total -= w[s.normal + u * nd + t] * w[s.least + u]
            w[s.least + t] = total / w[s.normal + t * nd + t]
        for d in range(first, last):
            w[s.trial + s.i[s.dense_row + d]] = 0.0
        for t in range(first, end):
            d = s.k[s.chosen + t]
            total = 0.0
            for u in range(first, end):
                total += w[s.share + d * nd + u] * w[s.least + u]
            r = s.i[s.dense_row + d]
            w[s.trial + r] = total / root_of_weight(s, r)
