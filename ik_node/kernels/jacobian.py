"""The Jacobian of all rows, column by column, from the world vectors that `residuals` found."""

from ik_node.kernels._jit import kernel
from ik_node.kernels.layout import AXES_WORLD, KIND_MASS, Solve
from ik_node.kernels.rows import axis, relative_rotation


@kernel
def add_rows(
    s: Solve, first: int, last: int, at: int, scale: float, x: float, y: float, z: float
) -> None:
    """Add scale * v . (x, y, z) to a column at s.w[at] for each of its rows first to last - 1."""
    w = s.w
    for r in range(first, last):
        v = s.vector + 3 * r
        w[at + r] += scale * (w[v] * x + w[v + 1] * y + w[v + 2] * z)


@kernel
def add_entry(s: Solve, c: int, e: int) -> None:
    """Add what one column moves to the block of constraint c."""
    w = s.w
    row, end, turning = 6 * c, s.i[s.row_end + c], s.i[s.turning + c]
    j, side = s.i[s.entry_column + e], s.i[s.entry_side + e]
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
    # Where row 0 of this slot would be.
    at = s.jac + 6 * (s.i[s.slot0 + c] + s.i[s.entry_slot + e]) - row
    if s.i[s.prismatic + j] == 1:
        add_rows(s, row, turning, at, scale, ax, ay, az)
        return
    point = s.lever + 6 * c + (0 if side > 0 else 3)
    lx, ly, lz = w[point], w[point + 1], w[point + 2]
    if mass > 0.0:
        lx = w[s.carried + 4 * e + 1] / mass
        ly = w[s.carried + 4 * e + 2] / mass
        lz = w[s.carried + 4 * e + 3] / mass
    lx, ly, lz = lx - w[frame + 9], ly - w[frame + 10], lz - w[frame + 11]
    mx, my, mz = ay * lz - az * ly, az * lx - ax * lz, ax * ly - ay * lx
    add_rows(s, row, turning, at, scale, mx, my, mz)
    if side < 0 and s.i[s.axes + c] == AXES_WORLD and turning < end:
        # Seen from the world, what turns B turns A relative to it by R_A R_B^T of that.
        t = s.scratch
        relative_rotation(w, s.a_frame + 12 * c, s.b_frame + 12 * c, t)
        ax, ay, az = (
            w[t] * ax + w[t + 1] * ay + w[t + 2] * az,
            w[t + 3] * ax + w[t + 4] * ay + w[t + 5] * az,
            w[t + 6] * ax + w[t + 7] * ay + w[t + 8] * az,
        )
    add_rows(s, turning, end, at, scale, ax, ay, az)


@kernel
def jacobian(s: Solve) -> None:
    """
    Write d residual / d variable, block by block, at the frames of the last `residuals`.

    A ball joint that may turn freely has turns about the axes of its turned frame for variables,
    not its Euler angles (`free_ball`).
    """
    for c in range(s.nc):
        for k in range(s.jac + 6 * s.i[s.slot0 + c], s.jac + 6 * s.i[s.slot0 + c + 1]):
            s.w[k] = 0.0
        for e in range(s.i[s.entry0 + c], s.i[s.entry0 + c + 1]):
            add_entry(s, c, e)
