"""The Jacobian of all rows, theory.md, eq. (4), from the row vectors that `residuals` wrote."""

from ik_node.kernels.decorators import kernel
from ik_node.kernels.layout import AXES_WORLD, KIND_COUPLING, KIND_MASS, Solve
from ik_node.kernels.rows import axis, relative_rotation, term_of
from ik_node.kernels.vectors import after, before, more, plus, put, Six, six, six_of

Vectors = tuple[Six, Six, Six]


@kernel
def towards(vectors: Vectors, x: float, y: float, z: float) -> Six:
    """Return the scalar products of the rows' vectors with (x, y, z)."""
    none = six_of(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return more(more(more(none, x, vectors[0]), y, vectors[1]), z, vectors[2])


@kernel
def add_entry(s: Solve, c: int, e: int, moving: Vectors, turning: Vectors) -> None:
    """
    Add the contribution of one column, theory.md, eq. (4), to the block of constraint c.

    Parameters
    ----------
    s : Solve
        The solve.
    c, e : int
        Constraint and entry.
    moving, turning : three vectors
        Vectors w_r of the position rows and of the orientation rows, 0 for the other rows.

    """
    w = s.w
    j, side = s.i[s.entry_column + e], s.i[s.entry_side + e]
    if s.i[s.kind + c] == KIND_COUPLING:
        w[s.jac + 6 * (s.i[s.slot0 + c] + s.i[s.entry_slot + e])] += (
            term_of(s, c, e)[1] * w[s.rate + j]
        )
        return
    scale, mass = side * w[s.rate + j], 0.0
    if side > 0 and s.i[s.kind + c] == KIND_MASS:
        # The centre of all mass moves by the share that this column carries, at its own centre.
        mass = w[s.carried + 4 * e]
        scale *= mass / s.f[s.mass + c]
    frame, k = s.frame + 12 * j, 2
    ball = s.i[s.ball + j]
    if ball > 0 and s.k[s.free_ball + s.i[s.var + j]] == 1:
        # The EX column's frame, the last of the three, has the joint's y, z, x for its x, y, z.
        frame += 12 * (3 - ball)
        k = 1 if ball == 1 else (0 if ball == 2 else 2)
    ax, ay, az = axis(w, frame, k)
    at = s.jac + 6 * (s.i[s.slot0 + c] + s.i[s.entry_slot + e])
    if s.i[s.prismatic + j] == 1:
        put(w, at, more(six(w, at), scale, towards(moving, ax, ay, az)))
        return
    point = s.lever + 6 * c + (0 if side > 0 else 3)
    lx, ly, lz = w[point], w[point + 1], w[point + 2]
    if mass > 0.0:
        lx = w[s.carried + 4 * e + 1] / mass
        ly = w[s.carried + 4 * e + 2] / mass
        lz = w[s.carried + 4 * e + 3] / mass
    lx, ly, lz = lx - w[frame + 9], ly - w[frame + 10], lz - w[frame + 11]
    mx, my, mz = ay * lz - az * ly, az * lx - ax * lz, ax * ly - ay * lx
    column = towards(moving, mx, my, mz)
    if side < 0 and s.i[s.axes + c] == AXES_WORLD:
        # Seen from the world, what turns B turns A relative to it by R_A R_B^T of that.
        t = s.scratch
        relative_rotation(w, s.a_frame + 12 * c, s.b_frame + 12 * c, t)
        ax, ay, az = (
            w[t] * ax + w[t + 1] * ay + w[t + 2] * az,
            w[t + 3] * ax + w[t + 4] * ay + w[t + 5] * az,
            w[t + 6] * ax + w[t + 7] * ay + w[t + 8] * az,
        )
    column = plus(column, towards(turning, ax, ay, az))
    put(w, at, more(six(w, at), scale, column))


@kernel
def jacobian(s: Solve) -> None:
    """
    Write J = d residual / d variable, block by block, at the frames of the last `residuals`.

    The variables of a free ball joint are turns about the axes of its turned frame, not Euler
    angles.
    """
    for c in range(s.nc):
        at, first = s.vector + 18 * c, s.i[s.turning + c] - 6 * c
        x, y, z = six(s.w, at), six(s.w, at + 6), six(s.w, at + 12)
        moving = (before(x, first), before(y, first), before(z, first))
        turning = (after(x, first - 1), after(y, first - 1), after(z, first - 1))
        for k in range(s.jac + 6 * s.i[s.slot0 + c], s.jac + 6 * s.i[s.slot0 + c + 1]):
            s.w[k] = 0.0
        for e in range(s.i[s.entry0 + c], s.i[s.entry0 + c + 1]):
            add_entry(s, c, e, moving, turning)
