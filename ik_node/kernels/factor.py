"""
The linear system of a step, factorised along the robot's structure.

A damped step is the solution of the quasi-definite system [D J^T; J -M]: D the damping of every
variable, M the inverse weight of every row. Under any symmetric order it has a factor L diag L^T
(Vanderbei 1995). Variables whose elimination is cheap while D is diagonal go first, one outer
product each: all of them for an arm, which leaves its six rows, and each leg's own for a hexapod.
What is left is eliminated in blocks of six, rows of a constraint or variables that several
constraints share, in an order that `model.elimination` has planned.
"""

from ik_node.kernels._jit import kernel
from ik_node.kernels.layout import Solve
from ik_node.kernels.six import dot, less, put, six


@kernel
def assemble(s: Solve) -> None:
    """
    Write the matrix after the first variables' elimination.

    Takes `s.damping` (nv,) > 0, `s.softness` (nr,) > 0 and `s.jac`; held variables (`s.fixed`)
    are left out by an empty column with 1 on the diagonal.
    """
    w, i = s.w, s.i
    for k in range(s.matrix, s.matrix + 36 * s.nm):
        w[k] = 0.0
    for v in range(s.nv):
        first = i[s.var_place + v] < 0 and s.k[s.fixed + v] == 0
        w[s.give + v] = 1.0 / w[s.damping + v] if first else 0.0
    for b in range(s.nb):
        c = i[s.block_constraint + b]
        for k in range(i[s.block_size + b]):
            if c >= 0:
                diagonal = -w[s.softness + 6 * c + k]
            else:
                v = i[s.block_var + 6 * b + k]
                diagonal = w[s.damping + v] if s.k[s.fixed + v] == 0 else 1.0
            w[s.matrix + 36 * b + 7 * k] = diagonal
    for t in range(s.links):
        slot, at, stride = i[s.link_slot + t], s.matrix + i[s.link_at + t], i[s.link_stride + t]
        if s.k[s.fixed + i[s.slot_var + slot]] == 0:
            for r in range(6):
                w[at + stride * r] = w[s.jac + 6 * slot + r]
    for p in range(s.pairs):
        at = s.matrix + 36 * i[s.pair_at + p]
        for r in range(6):
            row = six(w, at + 6 * r)
            for t in range(i[s.part0 + p], i[s.part0 + p + 1]):
                share = w[s.jac + 6 * i[s.part_a + t] + r] * w[s.give + i[s.part_var + t]]
                row = less(row, share, six(w, s.jac + 6 * i[s.part_b + t]))
            put(w, at + 6 * r, row)


@kernel
def take_out(s: Solve, at: int, own: int, share: float) -> None:
    """Subtract a share of the six numbers at `own` from those at `at`."""
    put(s.w, at, less(six(s.w, at), share, six(s.w, own)))


@kernel
def factorise(s: Solve) -> None:
    """Factorise [D J^T; J -M]: pivot by pivot within a block, then what its edges change."""
    assemble(s)
    w, i = s.w, s.i
    edges, update = s.matrix + 36 * s.nb, 0
    for b in range(s.nb):
        own, size = s.matrix + 36 * b, i[s.block_size + b]
        first, last = i[s.edge0 + b], i[s.edge0 + b + 1]
        for p in range(size):
            inverse = 1.0 / w[own + 7 * p]
            w[s.inverse + 6 * b + p] = inverse
            for r in range(p + 1, size):
                share = w[own + 6 * p + r] * inverse
                take_out(s, own + 6 * r, own + 6 * p, share)
                for e in range(first, last):
                    take_out(s, edges + 36 * e + 6 * r, edges + 36 * e + 6 * p, share)
        for one in range(first, last):
            for other in range(one, last):
                at = s.matrix + 36 * i[s.update_at + update]
                update += 1
                for r in range(6):
                    row = six(w, at + 6 * r)
                    for p in range(size):
                        share = w[edges + 36 * one + 6 * p + r] * w[s.inverse + 6 * b + p]
                        row = less(row, share, six(w, edges + 36 * other + 6 * p))
                    put(w, at + 6 * r, row)


@kernel
def solve_factored(s: Solve) -> None:
    """
    Solve for the change of the variables, given the residual rows.

    Takes `load` (nr,), what the rows are short of zero. Writes to `full` (nv,) the change c of the
    free variables that minimises |c|^2_D + |J c + load|^2_(1/M), 0 for held ones, and to `load`
    the multipliers (J c + load) / M.
    """
    w, i = s.w, s.i
    edges = s.matrix + 36 * s.nb
    for b in range(s.nb):
        c = i[s.block_constraint + b]
        for k in range(6):
            w[s.y + 6 * b + k] = -w[s.load + 6 * c + k] if c >= 0 else 0.0
    for b in range(s.nb):
        own, y, size = s.matrix + 36 * b, s.y + 6 * b, i[s.block_size + b]
        for p in range(size):
            share = w[y + p] * w[s.inverse + 6 * b + p]
            for r in range(p + 1, size):
                w[y + r] -= share * w[own + 6 * p + r]
            for e in range(i[s.edge0 + b], i[s.edge0 + b + 1]):
                take_out(s, s.y + 6 * i[s.edge_to + e], edges + 36 * e + 6 * p, share)
            w[y + p] = share
    for b in range(s.nb - 1, -1, -1):
        own, y, size = s.matrix + 36 * b, s.y + 6 * b, i[s.block_size + b]
        for p in range(size - 1, -1, -1):
            total = 0.0
            for r in range(p + 1, size):
                total += w[y + r] * w[own + 6 * p + r]
            for e in range(i[s.edge0 + b], i[s.edge0 + b + 1]):
                total += dot(six(w, edges + 36 * e + 6 * p), six(w, s.y + 6 * i[s.edge_to + e]))
            w[y + p] -= total * w[s.inverse + 6 * b + p]
        c = i[s.block_constraint + b]
        if c >= 0:
            put(w, s.load + 6 * c, six(w, y))
    for v in range(s.nv):
        place = i[s.var_place + v]
        w[s.full + v] = w[s.y + place] if place >= 0 and s.k[s.fixed + v] == 0 else 0.0
    for c in range(s.nc):
        rows = six(w, s.load + 6 * c)
        for t in range(i[s.slot0 + c], i[s.slot0 + c + 1]):
            v = i[s.slot_var + t]
            w[s.full + v] -= w[s.give + v] * dot(six(w, s.jac + 6 * t), rows)
