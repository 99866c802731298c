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

from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.layout import CON_WEIGHT, Solve

# A remainder of a row below this is zero [rad or L per unit].
NOTHING_LEFT = 1e-12


@kernel
def root_of_weight(s: Solve, r: int) -> float:
    """Return the square root of a row's weight, the row's factor in least squares."""
    return sqrt(max(s.weight[r], 1e-12)) if s.constraints[r // 6, CON_WEIGHT] > 0.0 else 0.0


@kernel
def gather_rows(s: Solve, first: int, last: int) -> None:
    """Write a group's weighted Jacobian rows to `dense`, and mark all as dependent."""
    for d in range(first, last):
        row, r = s.dense[d * s.nv :], s.dense_row[d]
        c, root = r // 6, root_of_weight(s, r)
        s.implied[r] = 1
        for v in range(s.nv):
            row[v] = 0.0
        for t in range(s.nd):
            s.share[d * s.nd + t] = 0.0
        for t in range(s.slot0[c], s.slot0[c + 1]):
            row[s.slot_var[t]] = root * s.jac[6 * t + r % 6]


@kernel
def choose_rows(s: Solve, g: int, first: int, last: int) -> int:
    """
    Choose independent rows of a group by Gram and Schmidt's method; return the end of their list.

    The largest remaining row is chosen first. The number of rows is the rank of the group. More
    are chosen while more than the group's slack is left of a row: away from the closed
    configuration no row is redundant.
    """
    nv = s.nv
    end = first
    while end < last:
        best, most = -1, 0.0
        for d in range(first, last):
            if s.implied[s.dense_row[d]] == 1:
                square = 0.0
                for v in range(nv):
                    square += s.dense[d * nv + v] * s.dense[d * nv + v]
                if square > most:
                    best, most = d, square
        length = sqrt(most)
        enough = end - first >= s.group_rank[g]
        if best < 0 or length <= NOTHING_LEFT or (enough and length <= s.group_slack[g]):
            break
        s.chosen[end] = best
        s.implied[s.dense_row[best]] = 0
        s.share[best * s.nd + end] = length
        for v in range(nv):
            s.dense[best * nv + v] /= length
        for d in range(first, last):
            if s.implied[s.dense_row[d]] == 1:
                along = 0.0
                for v in range(nv):
                    along += s.dense[d * nv + v] * s.dense[best * nv + v]
                for v in range(nv):
                    s.dense[d * nv + v] -= along * s.dense[best * nv + v]
                s.share[d * s.nd + end] = along
        end += 1
    return end


@kernel
def factorise_shares(s: Solve, first: int, last: int, end: int) -> None:
    """Write the Cholesky factor of L^T L of a group to `normal`."""
    nd = s.nd
    for a in range(first, end):
        for b in range(first, a + 1):
            total = 0.0
            for d in range(first, last):
                total += s.share[d * nd + a] * s.share[d * nd + b]
            for t in range(first, b):
                total -= s.normal[a * nd + t] * s.normal[b * nd + t]
            if a == b:
                s.normal[a * nd + a] = sqrt(max(total, NOTHING_LEFT * NOTHING_LEFT))
            else:
                s.normal[a * nd + b] = total / s.normal[b * nd + b]


@rare
def choose_independent_rows(s: Solve) -> None:
    """Choose the independent rows of every group at the present Jacobian."""
    for g in range(s.groups):
        first, last = s.group0[g], s.group0[g + 1]
        gather_rows(s, first, last)
        end = choose_rows(s, g, first, last)
        s.chosen_end[g] = end
        factorise_shares(s, first, last, end)


@kernel
def store_grouped_rows(s: Solve) -> None:
    """Copy the residual of all grouped rows to `raw`, which `reduce_rows` reads."""
    for d in range(s.nd):
        s.raw[d] = s.trial[s.dense_row[d]]


@rare
def reduce_rows(s: Solve) -> None:
    """
    Write the least-squares residual g' of theory.md, eq. (10), to the chosen rows.

    The other rows become 0.
    """
    nd = s.nd
    for g in range(s.groups):
        first, last, end = s.group0[g], s.group0[g + 1], s.chosen_end[g]
        for t in range(first, end):
            total = 0.0
            for d in range(first, last):
                root = root_of_weight(s, s.dense_row[d])
                total += s.share[d * nd + t] * root * s.raw[d]
            for u in range(first, t):
                total -= s.normal[t * nd + u] * s.least[u]
            s.least[t] = total / s.normal[t * nd + t]
        for t in range(end - 1, first - 1, -1):
            total = s.least[t]
            for u in range(t + 1, end):
                total -= s.normal[u * nd + t] * s.least[u]
            s.least[t] = total / s.normal[t * nd + t]
        for d in range(first, last):
            s.trial[s.dense_row[d]] = 0.0
        for t in range(first, end):
            d = s.chosen[t]
            total = 0.0
            for u in range(first, end):
                total += s.share[d * nd + u] * s.least[u]
            r = s.dense_row[d]
            s.trial[r] = total / root_of_weight(s, r)
