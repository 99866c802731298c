"""
Assembly and factorisation of the quasi-definite system of a step, theory.md, eq. (7).

The matrix [D J^T; J -M] has a factor L Delta L^T under every symmetric order (Vanderbei 1995).
Variables whose elimination is cheap while D is diagonal go first, one outer product each: all
variables of an arm, which leaves its six rows, and the own variables of each leg of a hexapod.
The rest is eliminated in blocks of six, rows of a constraint or variables that several
constraints share, in the order that `model.elimination` has planned.
"""

from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.layout import Floats, Solve
from ik_node.kernels.vectors import after, before, dot, less, placed, put, Six, six, six_of, times

Block = tuple[Six, Six, Six, Six, Six, Six]
Lower = tuple[Six, Six, Six, Six, Six]


@kernel
def rows_of(w: Floats, index: int) -> Block:
    """Return the six rows of the block at w[index]."""
    return (
        six(w, index),
        six(w, index + 6),
        six(w, index + 12),
        six(w, index + 18),
        six(w, index + 24),
        six(w, index + 30),
    )


@kernel
def put_rows(w: Floats, index: int, rows: Block) -> None:
    """Write the six rows of a block to w[index]."""
    put(w, index, rows[0])
    put(w, index + 6, rows[1])
    put(w, index + 12, rows[2])
    put(w, index + 18, rows[3])
    put(w, index + 24, rows[4])
    put(w, index + 30, rows[5])


@kernel
def scale(a: Six, share: float) -> Six:
    """Return share * a."""
    return times(a, six_of(share, share, share, share, share, share))


@rare
def add_relief(s: Solve) -> None:
    """Add g g^T to the blocks -diag(softness), for the rows of each unit; theory.md, eq. (17)."""
    for index in range(s.nb):
        c = s.block_constraint[index]
        if c < 0:
            continue
        angular = s.angular[c] - 6 * c
        for k in range(6):
            for j in range(6):
                if (k < angular) == (j < angular):
                    s.matrix[36 * index + 6 * k + j] += s.relief[6 * c + k] * s.relief[6 * c + j]


@kernel
def assemble(s: Solve) -> None:
    """
    Write the matrix after the elimination of the first variables: -M - sum_v J_v J_v^T / D_v.

    Reads `damping` (nv,) > 0, `softness` (nr,) > 0 and `jac`. A fixed variable gets an empty
    column with 1 on the diagonal.
    """
    for k in range(36 * s.nm):
        s.matrix[k] = 0.0
    for v in range(s.nv):
        first = s.var_place[v] < 0 and s.fixed[v] == 0
        s.inverse_damping[v] = 1.0 / s.damping[v] if first else 0.0
    for index in range(s.nb):
        c = s.block_constraint[index]
        for k in range(6):
            diagonal = 1.0
            if k >= s.block_size[index]:
                pass
            elif c >= 0:
                diagonal = -s.softness[6 * c + k]
            else:
                v = s.block_var[6 * index + k]
                diagonal = s.damping[v] if s.fixed[v] == 0 else 1.0
            s.matrix[36 * index + 7 * k] = diagonal
    if s.k[now.TOLERANT] == 1:
        add_relief(s)
    for t in range(s.links):
        slot, index, stride = s.link_slot[t], s.link_at[t], s.link_stride[t]
        if s.fixed[s.slot_var[slot]] == 0:
            for r in range(6):
                s.matrix[index + stride * r] = s.jac[6 * slot + r]
    for p in range(s.pairs):
        index = 36 * s.pair_at[p]
        a, b, c, d, e, f = rows_of(s.matrix, index)
        for t in range(s.part0[p], s.part0[p + 1]):
            one, give = 6 * s.part_a[t], s.inverse_damping[s.part_var[t]]
            other = scale(six(s.jac, 6 * s.part_b[t]), give)
            a, b = less(a, s.jac[one], other), less(b, s.jac[one + 1], other)
            c, d = less(c, s.jac[one + 2], other), less(d, s.jac[one + 3], other)
            e, f = less(e, s.jac[one + 4], other), less(f, s.jac[one + 5], other)
        put_rows(s.matrix, index, (a, b, c, d, e, f))


@kernel
def sweep(rows: Block, lower: Lower) -> Block:
    """Return L^-1 B for a block B, given the columns that `factorise_block` returns."""
    a, b, c, d, e, f = rows
    l0, l1, l2, l3, l4 = lower
    b, c, d = less(b, l0[1], a), less(c, l0[2], a), less(d, l0[3], a)
    e, f = less(e, l0[4], a), less(f, l0[5], a)
    c, d, e, f = less(c, l1[2], b), less(d, l1[3], b), less(e, l1[4], b), less(f, l1[5], b)
    d, e, f = less(d, l2[3], c), less(e, l2[4], c), less(f, l2[5], c)
    e, f = less(e, l3[4], d), less(f, l3[5], d)
    return a, b, c, d, e, less(f, l4[5], e)


@kernel
def factorise_block(w: Floats, index: int, inverse: Floats) -> Lower:
    """
    Factorise a diagonal block as L Delta L^T; return the first five columns of L.

    L is written to the place of the block, in both halves, and 1 / Delta to `inverse[:6]`. The
    loop is written out because the compiler then keeps the block in registers.
    """
    a, b, c, d, e, f = rows_of(w, index)
    ia = 1.0 / a[0]
    l0 = after(scale(a, ia), 0)
    b, c, d = less(b, l0[1], a), less(c, l0[2], a), less(d, l0[3], a)
    e, f = less(e, l0[4], a), less(f, l0[5], a)
    ib = 1.0 / b[1]
    l1 = after(scale(b, ib), 1)
    c, d, e, f = less(c, l1[2], b), less(d, l1[3], b), less(e, l1[4], b), less(f, l1[5], b)
    ic = 1.0 / c[2]
    l2 = after(scale(c, ic), 2)
    d, e, f = less(d, l2[3], c), less(e, l2[4], c), less(f, l2[5], c)
    id_ = 1.0 / d[3]
    l3 = after(scale(d, id_), 3)
    e, f = less(e, l3[4], d), less(f, l3[5], d)
    ie = 1.0 / e[4]
    l4 = after(scale(e, ie), 4)
    put(inverse, 0, six_of(ia, ib, ic, id_, ie, 1.0 / less(f, l4[5], e)[5]))
    r2 = placed(placed(l2, 0, l0[2]), 1, l1[2])
    r3 = placed(placed(placed(l3, 0, l0[3]), 1, l1[3]), 2, l2[3])
    r4 = six_of(l0[4], l1[4], l2[4], l3[4], 0.0, l4[5])
    r5 = six_of(l0[5], l1[5], l2[5], l3[5], l4[5], 0.0)
    put_rows(w, index, (l0, placed(l1, 0, l0[1]), r2, r3, r4, r5))
    return l0, l1, l2, l3, l4


@kernel
def factorise(s: Solve) -> None:
    """Factorise the system of eq. (7) block by block, and update the blocks that follow."""
    assemble(s)
    edges, update = s.matrix[36 * s.nb :], 0
    for b in range(s.nb):
        first, last, inverse = s.edge0[b], s.edge0[b + 1], s.inverse[6 * b :]
        lower = factorise_block(s.matrix, 36 * b, inverse)
        for e in range(first, last):
            put_rows(edges, 36 * e, sweep(rows_of(edges, 36 * e), lower))
        for one in range(first, last):
            for p in range(6):
                row = six(edges, 36 * one + 6 * p)
                put(s.scaled, 6 * p, scale(row, inverse[p]))
            for other in range(one, last):
                index = 36 * s.update_at[update]
                update += 1
                o0, o1, o2, o3, o4, o5 = rows_of(edges, 36 * other)
                for r in range(6):
                    row = less(six(s.matrix, index + 6 * r), s.scaled[r], o0)
                    row = less(less(row, s.scaled[6 + r], o1), s.scaled[12 + r], o2)
                    row = less(less(row, s.scaled[18 + r], o3), s.scaled[24 + r], o4)
                    put(s.matrix, index + 6 * r, less(row, s.scaled[30 + r], o5))


@kernel
def forward_substitute(y: Six, w: Floats, index: int) -> Six:
    """Return L^-1 y for the block at w[index]."""
    y = less(y, y[0], after(six(w, index), 0))
    y = less(y, y[1], after(six(w, index + 6), 1))
    y = less(y, y[2], after(six(w, index + 12), 2))
    y = less(y, y[3], after(six(w, index + 18), 3))
    return less(y, y[4], after(six(w, index + 24), 4))


@kernel
def back_substitute(y: Six, w: Floats, index: int) -> Six:
    """Return L^-T y for the block at w[index]."""
    y = less(y, y[5], before(six(w, index + 30), 5))
    y = less(y, y[4], before(six(w, index + 24), 4))
    y = less(y, y[3], before(six(w, index + 18), 3))
    y = less(y, y[2], before(six(w, index + 12), 2))
    return less(y, y[1], before(six(w, index + 6), 1))


@kernel
def solve_factored(s: Solve) -> None:
    """
    Solve eq. (7) for the change c of the variables and the multipliers y, with the factor at hand.

    Reads `load` (nr,), the right-hand side. Writes to `full` (nv,) the c that minimises
    |c|_D^2 + |J c + load|_{M^-1}^2, with 0 for fixed variables, and to `load` the multipliers
    y = M^-1 (J c + load).
    """
    edges = s.matrix[36 * s.nb :]
    none = six_of(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for b in range(s.nb):
        c = s.block_constraint[b]
        put(s.y, 6 * b, less(none, 1.0, six(s.load, 6 * c)) if c >= 0 else none)
    for b in range(s.nb):
        y = forward_substitute(six(s.y, 6 * b), s.matrix, 36 * b)
        y = times(y, six(s.inverse, 6 * b))
        for e in range(s.edge0[b], s.edge0[b + 1]):
            to, index = 6 * s.edge_to[e], 36 * e
            row = less(less(six(s.y, to), y[0], six(edges, index)), y[1], six(edges, index + 6))
            row = less(less(row, y[2], six(edges, index + 12)), y[3], six(edges, index + 18))
            put(
                s.y,
                to,
                less(less(row, y[4], six(edges, index + 24)), y[5], six(edges, index + 30)),
            )
        put(s.y, 6 * b, y)
    for b in range(s.nb - 1, -1, -1):
        y = six(s.y, 6 * b)
        for e in range(s.edge0[b], s.edge0[b + 1]):
            to, index = six(s.y, 6 * s.edge_to[e]), 36 * e
            change = six_of(
                dot(six(edges, index), to),
                dot(six(edges, index + 6), to),
                dot(six(edges, index + 12), to),
                dot(six(edges, index + 18), to),
                dot(six(edges, index + 24), to),
                dot(six(edges, index + 30), to),
            )
            y = less(y, 1.0, times(change, six(s.inverse, 6 * b)))
        y = back_substitute(y, s.matrix, 36 * b)
        put(s.y, 6 * b, y)
        c = s.block_constraint[b]
        if c >= 0:
            put(s.load, 6 * c, y)
    for v in range(s.nv):
        place = s.var_place[v]
        s.full[v] = s.y[place] if place >= 0 and s.fixed[v] == 0 else 0.0
    for c in range(s.nc):
        rows = six(s.load, 6 * c)
        for t in range(s.slot0[c], s.slot0[c + 1]):
            v = s.slot_var[t]
            s.full[v] -= s.inverse_damping[v] * dot(six(s.jac, 6 * t), rows)
