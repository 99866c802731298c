"""
Closures whose rows are redundant up to rounding, solved in the least-squares sense.

Rounded numbers of a description make redundant rows contradict each other: no configuration closes
them all, and the mechanism is held where they disagree least. `layout.Solve` names groups of such
closures. Let Q be an orthonormal basis of the independent rows and L the coordinates of all rows
in it, so that J = L Q up to rounding. The least-squares residual is stationary where L^T g = 0. An
independent row i keeps its Jacobian and gets the residual of theory.md, eq. (10),

    g'_i = L_i (L^T L)^-1 L^T g = U_i U^T g ,  with the columns of L made orthonormal, U,

and a dependent row has no effect. Since g' = 0 can be reached, steps, levels and tolerances stay
the same; g' = 0 is where the loops are closed as well as they can be.
"""

from math import sqrt

from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.layout import Solve
from ik_node.kernels.orthonormal import orthonormalise, product

# A remainder of a row below this is zero [rad or L per unit].
NOTHING_LEFT = 1e-12


@kernel
def gather_rows(s: Solve, first: int, last: int) -> None:
    """Write a group's Jacobian rows to `dense`, and mark all as dependent."""
    for d in range(first, last):
        row, r = s.dense[d * s.nv :], s.dense_row[d]
        s.implied[r] = 1
        for v in range(s.nv):
            row[v] = 0.0
        for t in range(s.slot0[r // 6], s.slot0[r // 6 + 1]):
            row[s.slot_var[t]] = s.jac[6 * t + r % 6]


@rare
def choose_independent_rows(s: Solve) -> None:
    """
    Choose independent rows of every group at the present Jacobian by Gram and Schmidt's method.

    The largest remaining row is chosen first. The number of rows is the rank of the group. More
    are chosen while more than the group's slack is left of a row: away from the closed
    configuration no row is redundant.
    """
    nv, nd = s.nv, s.nd
    for g in range(s.groups):
        first, last, end = s.group0[g], s.group0[g + 1], s.group0[g]
        gather_rows(s, first, last)
        while end < last:
            best, largest = -1, 0.0
            for d in range(first, last):
                row = s.dense[d * nv :]
                square = product(row, row, nv) if s.implied[s.dense_row[d]] == 1 else 0.0
                if square > largest:
                    best, largest = d, square
            length = sqrt(largest)
            enough = end - first >= s.group_rank[g]
            if length <= NOTHING_LEFT or (enough and length <= s.group_slack[g]):
                break
            s.chosen[end] = best
            s.implied[s.dense_row[best]] = 0
            basis, column = s.dense[best * nv :], s.share[end * (nd + 1) :]
            for d in range(nd):
                column[d] = 0.0
            column[best], column[nd] = length, 1.0
            for v in range(nv):
                basis[v] /= length
            for d in range(first, last):
                if s.implied[s.dense_row[d]] == 1:
                    row = s.dense[d * nv :]
                    column[d] = product(row, basis, nv)
                    for v in range(nv):
                        row[v] -= column[d] * basis[v]
            end += 1
        s.chosen_end[g] = end
        orthonormalise(s.share[first * (nd + 1) :], end - first, nd, nd + 1, 0.0)


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
    for g in range(s.groups):
        first, last, end = s.group0[g], s.group0[g + 1], s.chosen_end[g]
        for d in range(first, last):
            s.trial[s.dense_row[d]] = 0.0
        for t in range(first, end):
            column, along = s.share[t * (s.nd + 1) :], 0.0
            for d in range(first, last):
                along += column[d] * s.raw[d]
            for chosen in range(first, end):
                d = s.chosen[chosen]
                s.trial[s.dense_row[d]] += along * column[d]
