"""Forward kinematics, theory.md, eq. (2) and (3): frames of columns and of constraints."""

from math import cos, sin

from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.kinds import KIND_MASS
from ik_node.kernels.layout import CON_POSE, CON_QUAT, Floats, Solve
from ik_node.kernels.rotation import quaternion_to_matrix
from ik_node.kernels.vectors import (
    Four,
    four,
    LARGEST_ANGLE,
    more,
    pack,
    plus,
    put,
    sines_cosines,
    times,
)

Rows = tuple[Four, Four, Four]


@kernel
def frame_rows(a: Floats, index: int) -> Rows:
    """Return the frame at a[index] as the three rows of its matrix [R p]."""
    x, y, z, p = four(a, index), four(a, index + 3), four(a, index + 6), four(a, index + 8)
    return (
        pack(x[0], x[1], x[2], p[1]),
        pack(y[0], y[1], y[2], p[2]),
        pack(z[0], z[1], z[2], p[3]),
    )


@kernel
def put_frame(rows: Rows, out: Floats, index: int) -> None:
    """Write a frame to out[index:index + 12]."""
    x, y, z = rows
    # What is one number too many each time, the next one sets right.
    put(out, index, x)
    put(out, index + 3, y)
    put(out, index + 6, z)
    put(out, index + 8, pack(z[2], x[3], y[3], z[3]))


@kernel
def row_times(a: Floats, row: int, position: int, b: Rows) -> Four:
    """Return one row of the product of two frames; its rotation stands at a[row]."""
    x, y, z = b
    total = more(pack(0.0, 0.0, 0.0, a[position]), a[row], x)
    return more(more(total, a[row + 1], y), a[row + 2], z)


@kernel
def compose(a: Floats, index: int, b: Rows) -> Rows:
    """Return the product of the frame at a[index] and the frame b."""
    return (
        row_times(a, index, index + 9, b),
        row_times(a, index + 3, index + 10, b),
        row_times(a, index + 6, index + 11, b),
    )


@kernel
def turned(row: Four, sine: float, cosine: float) -> Four:
    """Return a row of [R p] Rz(angle), given sine and cosine of the angle."""
    across = times(pack(row[1], row[0], row[2], row[3]), pack(sine, -sine, 0.0, 0.0))
    return plus(times(row, pack(cosine, cosine, 1.0, 1.0)), across)


@kernel
def place_b_frames(s: Solve) -> None:
    """
    Write the pose of every frame B in its column: the constant frame of its parent times its pose.

    The pose of a goal may change with every call, which is why this is not part of the packed
    model.
    """
    for c in range(s.nc):
        x, y = s.constraints[c, CON_QUAT], s.constraints[c, CON_QUAT + 1]
        z, real = s.constraints[c, CON_QUAT + 2], s.constraints[c, CON_QUAT + 3]
        quaternion_to_matrix(x, y, z, real, s.scratch, 0)
        for r in range(3):
            s.scratch[9 + r] = s.constraints[c, CON_POSE + r] / s.length
        placed = compose(s.b_offset, 12 * c, frame_rows(s.scratch, 0))
        put_frame(placed, s.b_local, 12 * c)


@kernel
def column_values(s: Solve, x: Floats) -> None:
    """
    Compute the value v_j = sum_p c_jp x^p of every column and its derivative, by Horner's scheme.

    `x` (nv,) are the variables. Columns of other chains keep their value.
    """
    for j in range(s.n):
        v = s.var[j]
        if v < 0:
            s.value[j] = s.held[j]
            s.rate[j] = 0.0
        else:
            total, slope = 0.0, 0.0
            for p in range(s.width - 1, -1, -1):
                slope = slope * x[v] + total
                total = total * x[v] + s.coefficients[s.width * j + p]
            s.value[j] = total
            s.rate[j] = slope


@rare
def place_centre_of_mass(s: Solve, c: int) -> None:
    """
    Put frame A at the centre of mass sum_i m_i p_i / sum_i m_i, in the axes of the root frame.

    Also writes mass and moment of everything that each column carries, which eq. (4) needs.
    """
    first, last = s.entry0[c], s.entry0[c + 1]
    for e in range(first, last):
        j, mass = 12 * s.entry_column[e], s.entry_mass[e]
        s.carried[4 * e] = mass
        for r in range(3):
            s.carried[4 * e + 1 + r] = (
                s.frame[j + 3 * r] * s.entry_moment[3 * e]
                + s.frame[j + 3 * r + 1] * s.entry_moment[3 * e + 1]
                + s.frame[j + 3 * r + 2] * s.entry_moment[3 * e + 2]
                + s.frame[j + 9 + r] * mass
            )
    for r in range(9):
        s.a_frame[12 * c + r] = 1.0 if r % 4 == 0 else 0.0
    for r in range(3):
        s.a_frame[12 * c + 9 + r] = s.moment[3 * c + r]
    for e in range(last - 1, first - 1, -1):
        if s.entry_side[e] > 0:
            up = s.entry_up[e]
            for r in range(4):
                if up >= 0:
                    s.carried[4 * up + r] += s.carried[4 * e + r]
                elif r > 0:
                    s.a_frame[12 * c + 8 + r] += s.carried[4 * e + r]
    for r in range(3):
        s.a_frame[12 * c + 9 + r] /= s.mass[c]


@kernel
def axis_of_motion(s: Solve, j: int) -> tuple[int, int]:
    """Return the column whose frame has the axis that column j moves along or about, and which."""
    ball = s.ball[j]
    if ball > 0 and s.var[j] >= 0 and s.free_ball[s.var[j]] == 1:
        # The EX column's frame, the last of the three, has the joint's y, z, x for its x, y, z.
        return j + 3 - ball, (1 if ball == 1 else (0 if ball == 2 else 2))
    return j, 2


@kernel
def twist_of(
    s: Solve, j: int, x: float, y: float, z: float
) -> tuple[float, float, float, float, float, float]:
    """Return velocity of a point [L] and angular velocity for a unit rate of column j."""
    of, k = axis_of_motion(s, j)
    frame = s.frame[12 * of :]
    ax, ay, az = frame[k], frame[3 + k], frame[6 + k]
    if s.prismatic[j] == 1:
        return ax, ay, az, 0.0, 0.0, 0.0
    x, y, z = x - frame[9], y - frame[10], z - frame[11]
    return ay * z - az * y, az * x - ax * z, ax * y - ay * x, ax, ay, az


@kernel
def forward(s: Solve, x: Floats) -> None:
    """
    Write X_j = X_p(j) O_j M_j(v_j), eq. (3), for every column j.

    Then write frames A and B of every constraint in the root frame.
    """
    column_values(s, x)
    for j in range(0, s.n, 4):
        sines_cosines(s.value, s.sine, s.cosine, j)
    for j in range(s.n):
        b0, b1, b2 = frame_rows(s.offset, 12 * j)
        q, p = s.value[j], s.parent[j]
        if s.prismatic[j] == 1:
            b0 = pack(b0[0], b0[1], b0[2], b0[3] + q * b0[2])
            b1 = pack(b1[0], b1[1], b1[2], b1[3] + q * b1[2])
            b2 = pack(b2[0], b2[1], b2[2], b2[3] + q * b2[2])
        else:
            sine, cosine = s.sine[j], s.cosine[j]
            if not abs(q) <= LARGEST_ANGLE:
                sine, cosine = sin(q), cos(q)
            b0, b1, b2 = (
                turned(b0, sine, cosine),
                turned(b1, sine, cosine),
                turned(b2, sine, cosine),
            )
        placed = (b0, b1, b2)
        if p >= 0:
            placed = compose(s.frame, 12 * p, placed)
        put_frame(placed, s.frame, 12 * j)
    for c in range(s.nc):
        a, b = s.a_column[c], s.b_column[c]
        if s.kind[c] == KIND_MASS:
            place_centre_of_mass(s, c)
        else:
            placed = frame_rows(s.a_offset, 12 * c)
            if a >= 0:
                placed = compose(s.frame, 12 * a, placed)
            put_frame(placed, s.a_frame, 12 * c)
        placed = frame_rows(s.b_local, 12 * c)
        if b >= 0:
            placed = compose(s.frame, 12 * b, placed)
        put_frame(placed, s.b_frame, 12 * c)
