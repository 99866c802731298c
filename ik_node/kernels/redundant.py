"""
Closures whose rows imply each other up to rounding, met in the least-squares sense.

A description's rounding makes redundant rows contradict each other a little: no configuration
closes them all, and what moves is held where they disagree the least. Where `layout.Solve` names
groups of such closures, rows are chosen that are independent of each other; the others are, but
for rounding, combinations of them. With Q an orthonormal basis of the independent rows and L the
coordinates of all rows in it, J = L Q but for rounding, and the residual of least squares is
stationary where L^T g = 0. An independent row therefore goes by the residual

    g' = L_i (L^T L)^-1 L^T g

in place of its own, by its own Jacobian, and a row that is implied counts for nothing. All else in
a step is as ever: g' = 0 can be met, and is where the loops are closed as well as they can be.
"""

from math import sqrt

from ik_node.kernels._jit import kernel
from ik_node.kernels.layout import asked, CON_WEIGHT, Solve

# A row of which less is left is none [rad or m per unit].
NOTHING_LEFT = 1e-12


@kernel
def root_of_weight(s: Solve, r: int) -> float:
    """Return by what a row is multiplied for the least squares."""
    return sqrt(max(s.w[s.weight + r], 1e-12)) if asked(s, r // 6, CON_WEIGHT) > 0.0 else 0.0


@kernel
def gather_rows(s: Solve, first: int, last: int) -> None:
    """Write the Jacobian's rows of a group, weighted, to `dense`; none of them is chosen yet."""
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
    Choose independent rows of a group, the largest that is left first; return the end of them.

    Gram and Schmidt's method. There are as many as the group's rank, and more as long as more than
    its tolerance is left of one: away from where the loops close, no row is redundant.
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
def split_rows(s: Solve) -> None:
    """Find at the present Jacobian which rows of every group are independent."""
    for g in range(s.groups):
        first, last = s.i[s.group0 + g], s.i[s.group0 + g + 1]
        gather_rows(s, first, last)
        end = choose_rows(s, g, first, last)
        s.k[s.chosen_end + g] = end
        factorise_shares(s, first, last, end)


@kernel
def keep_rows(s: Solve) -> None:
    """Note the residual of all grouped rows, which `reduce_rows` goes by."""
    for d in range(s.nd):
        s.w[s.raw + d] = s.w[s.trial + s.i[s.dense_row + d]]


@kernel
def reduce_rows(s: Solve) -> None:
    """Write the least-squares residual g' to the rows of `trial` that are chosen, 0 to others."""
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
