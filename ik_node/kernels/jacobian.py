"""The Jacobian of all rows, theory.md, eq. (4), from the row vectors that `residuals` wrote."""

from ik_node.kernels.avoid import add_pairs
from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.forward import axis_of_motion
from ik_node.kernels.kinds import KIND_AVOID, KIND_COUPLING, KIND_MASS, KIND_USER
from ik_node.kernels.layout import AXES_WORLD, Solve
from ik_node.kernels.rows import axis, relative_rotation, term_of
from ik_node.kernels.user_rows import add_user_derivatives
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
    Add the contribution of entry e, one column, to the block of constraint c; theory.md, eq. (4).

    `moving` and `turning` are the vectors w_r of the position rows and of the orientation rows, 0
    for the other rows.
    """
    j, side = s.entry_column[e], s.entry_side[e]
    scale, mass = side * s.rate[j], 0.0
    if side > 0 and s.kind[c] == KIND_MASS:
        # The centre of all mass moves by the share that this column carries, at its own centre.
        mass = s.carried[4 * e]
        scale *= mass / s.mass[c]
    of, k = axis_of_motion(s, j)
    frame = s.frame[12 * of :]
    ax, ay, az = axis(frame, k)
    index = 6 * (s.slot0[c] + s.entry_slot[e])
    if s.prismatic[j] == 1:
        put(s.jac, index, more(six(s.jac, index), scale, towards(moving, ax, ay, az)))
        return
    point = 6 * c + (0 if side > 0 else 3)
    lx, ly, lz = s.lever[point], s.lever[point + 1], s.lever[point + 2]
    if mass > 0.0:
        lx = s.carried[4 * e + 1] / mass
        ly = s.carried[4 * e + 2] / mass
        lz = s.carried[4 * e + 3] / mass
    lx, ly, lz = lx - frame[9], ly - frame[10], lz - frame[11]
    mx, my, mz = ay * lz - az * ly, az * lx - ax * lz, ax * ly - ay * lx
    column = towards(moving, mx, my, mz)
    if side < 0 and s.axes[c] == AXES_WORLD:
        # Seen from the world, what turns B turns A relative to it by R_A R_B^T of that.
        t = s.scratch
        relative_rotation(s.a_frame[12 * c :], s.b_frame[12 * c :], t)
        ax, ay, az = (
            t[0] * ax + t[1] * ay + t[2] * az,
            t[3] * ax + t[4] * ay + t[5] * az,
            t[6] * ax + t[7] * ay + t[8] * az,
        )
    column = plus(column, towards(turning, ax, ay, az))
    put(s.jac, index, more(six(s.jac, index), scale, column))


@rare
def add_coupling(s: Solve, c: int) -> None:
    """Add the derivatives of all terms to the first row of coupling c."""
    for e in range(s.entry0[c], s.entry0[c + 1]):
        slope = term_of(s, c, e)[1] * s.rate[s.entry_column[e]]
        s.jac[6 * (s.slot0[c] + s.entry_slot[e])] += slope


@kernel
def jacobian(s: Solve) -> None:
    """
    Write J = d residual / d variable, block by block, at the frames of the last `residuals`.

    The variables of a free ball joint are turns about the axes of its turned frame, not Euler
    angles.
    """
    for c in range(s.nc):
        index, first = 18 * c, s.turning[c] - 6 * c
        x, y, z = six(s.vector, index), six(s.vector, index + 6), six(s.vector, index + 12)
        moving = (before(x, first), before(y, first), before(z, first))
        turning = (after(x, first - 1), after(y, first - 1), after(z, first - 1))
        for k in range(6 * s.slot0[c], 6 * s.slot0[c + 1]):
            s.jac[k] = 0.0
        if s.kind[c] == KIND_COUPLING:
            add_coupling(s, c)
            continue
        if s.kind[c] == KIND_USER:
            add_user_derivatives(s, c)
            continue
        if s.kind[c] == KIND_AVOID:
            add_pairs(s, c)
            continue
        for e in range(s.entry0[c], s.entry0[c + 1]):
            add_entry(s, c, e, moving, turning)
