# flake8: noqa: E203
"""
The linear system of a step, factorised along the robot's structure.

A damped step is the solution of the quasi-definite system [D J^T; J -M]: D the damping of every
variable, M the inverse weight of every row. Under any symmetric order it has a factor L diag L^T
(Vanderbei 1995); the order of least fill turns it by itself into the dual form for a long chain
with few rows, and into block elimination for legs that touch only their own joints and the
platform. The order and the pattern of L are found once per structure.
"""

from ik_node.kernels._jit import kernel, planner
from ik_node.kernels.layout import Ints, Solve
import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


@planner
def minimum_degree(adjacent: Bytes, order: Ints, pattern: Bytes) -> None:
    """
    Find an elimination order of little fill; the unknown with the fewest neighbours goes first.

    `adjacent` (nk, nk) uint8 is symmetric and used up. `order` (nk,) int64 receives the unknowns
    in order of elimination, `pattern` (nk, nk) uint8 has pattern[i, k] = 1 where eliminating i
    leaves a number for k.
    """
    count = order.size
    degree = np.zeros(count, np.int64)
    neighbours = np.zeros(count, np.int64)
    for i in range(count):
        for k in range(count):
            degree[i] += adjacent[i, k]
    done = np.zeros(count, np.uint8)
    for step in range(count):
        best = -1
        for i in range(count):
            if done[i] == 0 and (best < 0 or degree[i] < degree[best]):
                best = i
        order[step] = best
        done[best] = 1
        found = 0
        for k in range(count):
            if adjacent[best, k] == 1 and done[k] == 0:
                neighbours[found] = k
                found += 1
                pattern[best, k] = 1
        for s in range(found):
            i = neighbours[s]
            adjacent[i, best] = 0
            degree[i] -= 1
            for t in range(found):
                k = neighbours[t]
                if k != i and adjacent[i, k] == 0:
                    adjacent[i, k] = 1
                    degree[i] += 1


@kernel
def factorise(s: Solve) -> None:
    """
    Factorise [D J^T; J -M] for the free variables.

    Takes `s.damping` (nv,) > 0, `s.softness` (nr,) > 0 and `s.jac`; held variables
    (`s.fixed`) are left out by an empty column with 1 on the diagonal. Up-looking: row k of L
    from the rows above it (Davis 2005).
    """
    y = s.w[s.y : s.y + s.nk]
    inverse = s.w[s.inverse : s.inverse + s.nk]
    lower = s.w[s.lower_factor : s.lower_factor + s.nl]
    jac = s.w[s.jac : s.jac + s.nj]
    row = s.i[s.factor_row : s.factor_row + s.nl]
    column = s.i[s.lower_column : s.lower_column + s.nl]
    kept_at = s.i[s.lower_at : s.lower_at + s.nl]
    first = s.i[s.factor0 : s.factor0 + s.nk]
    for k in range(s.nk):
        y[k] = 0.0
    for k in range(s.nk):
        own = s.i[s.own + k]
        if own < 0:
            diagonal = -s.w[s.softness - 1 - own]
        elif s.k[s.fixed + own] != 0:
            diagonal = 1.0
        else:
            diagonal = s.w[s.damping + own]
        for t in range(s.i[s.matrix0 + k], s.i[s.matrix0 + k + 1]):
            if s.k[s.fixed + s.i[s.matrix_var + t]] == 0:
                y[s.i[s.matrix_column + t]] = jac[s.i[s.matrix_jac + t]]
        for t in range(s.i[s.lower0 + k], s.i[s.lower0 + k + 1]):
            j = column[t]
            yj = y[j]
            if yj == 0.0:
                lower[kept_at[t]] = 0.0
                continue
            y[j] = 0.0
            at = kept_at[t]
            for p in range(first[j], at):
                y[row[p]] -= lower[p] * yj
            scaled = yj * inverse[j]
            lower[at] = scaled
            diagonal -= scaled * yj
        inverse[k] = 1.0 / diagonal


@kernel
def solve_factored(s: Solve) -> None:
    """
    Solve for the change of the variables, given the residual rows.

    Takes `load` (nr,), what the rows are short of zero. Writes to `full` (nv,) the change c of the
    free variables that minimises |c|^2_D + |J c + load|^2_(1/M), 0 for held ones, and to `load`
    the multipliers (J c + load) / M.
    """
    y = s.w[s.y : s.y + s.nk]
    inverse = s.w[s.inverse : s.inverse + s.nk]
    lower = s.w[s.lower_factor : s.lower_factor + s.nl]
    row = s.i[s.factor_row : s.factor_row + s.nl]
    for k in range(s.nk):
        own = s.i[s.own + k]
        y[k] = 0.0 if own >= 0 else -s.w[s.load - 1 - own]
    for j in range(s.nk):
        yj = y[j]
        if yj != 0.0:
            for p in range(s.i[s.factor0 + j], s.i[s.factor0 + j + 1]):
                y[row[p]] -= lower[p] * yj
    for j in range(s.nk - 1, -1, -1):
        total = y[j] * inverse[j]
        for p in range(s.i[s.factor0 + j], s.i[s.factor0 + j + 1]):
            total -= lower[p] * y[row[p]]
        y[j] = total
    for k in range(s.nk):
        own = s.i[s.own + k]
        if own < 0:
            s.w[s.load - 1 - own] = y[k]
        else:
            s.w[s.full + own] = y[k] if s.k[s.fixed + own] == 0 else 0.0
