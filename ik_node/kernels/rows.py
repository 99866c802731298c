"""
Residuals of closures and goals.

Every row is linear in the motion of a constraint's two ends: a translation row is v . velocity of
its lever point, a rotation row v . angular velocity, with one world vector v a row. So
residual and v are found here, kind by kind, and the Jacobian follows from v alone.

The three rotation rows of a full orientation are left-multiplied by Jl(phi), which does not change
the residual phi: they hold the angular velocity itself (Sola et al. 2018, section V). One or two
rotation rows are exact derivatives of the residual.
"""

from math import atan2, pi, sqrt

from ik_node.kernels import layout
from ik_node.kernels import solve_state as now
from ik_node.kernels.avoid import excess_of, measure_pairs
from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.kinds import (
    KIND_AVOID,
    KIND_CONE,
    KIND_COUPLING,
    KIND_CYLINDER,
    KIND_DISTANCE,
    KIND_LOOK_AT,
    KIND_UNIVERSAL,
    KIND_USER,
)
from ik_node.kernels.layout import Floats, Solve
from ik_node.kernels.rotation import inverse_left_jacobian, log_rotation, matrix_at, Vector
from ik_node.kernels.user_rows import user_rows

# Near half a turn some derivatives grow without bound; they are cut here [rad per rad].
STEEPEST = 25.0


@kernel
def relative_rotation(a: Floats, b: Floats, out: Floats) -> None:
    """Write R_A R_B^T, the rotation from frame B to A in root axes, to `out` (9,)."""
    for r in range(3):
        for k in range(3):
            out[3 * r + k] = (
                a[3 * r] * b[3 * k] + a[3 * r + 1] * b[3 * k + 1] + a[3 * r + 2] * b[3 * k + 2]
            )


@kernel
def unit(k: int) -> Vector:
    """Return unit vector k."""
    return (1.0 if k == 0 else 0.0), (1.0 if k == 1 else 0.0), (1.0 if k == 2 else 0.0)


@kernel
def axis(frame: Floats, k: int) -> Vector:
    """Return axis k of a frame, in root axes."""
    return frame[k], frame[3 + k], frame[6 + k]


@kernel
def counting_axis(axes: int, a: Floats, b: Floats, k: int) -> Vector:
    """
    Return axis k of the frame that a constraint measures its residual in, in root axes.

    It is the world frame, or frame a or b of the constraint; `axes` selects it.
    """
    if axes == layout.AXES_WORLD:
        return unit(k)
    return axis(b if axes == layout.AXES_B else a, k)


@rare
def across_of(
    frame: Floats, k: int, vx: float, vy: float, vz: float
) -> tuple[float, float, float, float]:
    """Return n - (n . v) v for axis n = k of a frame, and its length."""
    nx, ny, nz = axis(frame, k)
    along = nx * vx + ny * vy + nz * vz
    nx, ny, nz = nx - along * vx, ny - along * vy, nz - along * vz
    return nx, ny, nz, sqrt(nx * nx + ny * ny + nz * nz)


@kernel
def norm(w: Floats, first: int, last: int) -> float:
    """Return the Euclidean length of w[first:last]."""
    total = 0.0
    for k in range(first, last):
        total += w[k] * w[k]
    return sqrt(total)


@kernel
def set_row(s: Solve, row: int, value: float, x: float, y: float, z: float) -> None:
    """Write the residual of a row and its vector w = (x, y, z) in root axes."""
    s.trial[row] = value
    index = row + 12 * (row // 6)
    s.vector[index], s.vector[index + 6], s.vector[index + 12] = x, y, z


@kernel
def pointing_rows(s: Solve, axes: int, mask: int, row: int, a: Floats, b: Floats) -> None:
    """
    Write the two rows that align the third axes of frames A and B, free about that axis.

    The residual is the shortest turn from axis v to axis u, angle * n [rad], counted along the two
    constrained axes. Half a turn away the turn's axis n is any one at right angles to v.
    """
    free = 2 if not mask & 32 else (1 if not mask & 16 else 0)
    if axes == layout.AXES_WORLD:
        vx, vy, vz = unit(free)
        ux, uy, uz = axis(s.scratch, free)
    else:
        vx, vy, vz = axis(b, free)
        ux, uy, uz = axis(a, free)
    nx, ny, nz = vy * uz - vz * uy, vz * ux - vx * uz, vx * uy - vy * ux
    sine = sqrt(nx * nx + ny * ny + nz * nz)
    cosine = vx * ux + vy * uy + vz * uz
    angle = atan2(sine, cosine)
    length = sine
    if sine < 1e-9:
        nx, ny, nz, length = across_of(b, (free + 1) % 3, vx, vy, vz)
        if length < 0.1:
            nx, ny, nz, length = across_of(b, (free + 2) % 3, vx, vy, vz)
    nx, ny, nz = nx / length, ny / length, nz / length
    # Across n the residual turns with angle / tan(angle), without bound at half a turn: cut there,
    # which leaves the gradient as it is (the residual lies along n).
    across = angle * cosine / sine if sine > 1e-6 else (1.0 if cosine > 0.0 else -STEEPEST)
    across = max(across, -STEEPEST)
    # Which of the two axes stays put decides the coupling with a turn about it.
    px, py, pz = vx, vy, vz
    about = -angle
    if axes == layout.AXES_A:
        px, py, pz = ux, uy, uz
        about = angle
    tx, ty, tz = ny * pz - nz * py, nz * px - nx * pz, nx * py - ny * px
    gx, gy, gz = across * tx + about * px, across * ty + about * py, across * tz + about * pz
    for k in range(3):
        if mask & (8 << k):
            ex, ey, ez = counting_axis(axes, a, b, k)
            en = ex * nx + ey * ny + ez * nz
            et = ex * tx + ey * ty + ez * tz
            set_row(s, row, angle * en, en * nx + et * gx, en * ny + et * gy, en * nz + et * gz)
            row += 1


@rare
def cylinder_row(s: Solve, c: int, row: int, b: Floats, dx: float, dy: float, dz: float) -> None:
    """
    Write the row of a cylinder: the distance of A's origin from B's z axis less the radius.

    (dx, dy, dz) is A's origin less B's. On the axis any direction across it is as good.
    """
    x, y, z = axis(b, 2)
    along = x * dx + y * dy + z * dz
    x, y, z = dx - along * x, dy - along * y, dz - along * z
    length = sqrt(x * x + y * y + z * z)
    radius = s.constraints[c, layout.CON_DISTANCE] / s.length
    if length > 1e-12:
        set_row(s, row, length - radius, x / length, y / length, z / length)
    else:
        x, y, z = axis(b, 0)
        set_row(s, row, length - radius, x, y, z)


@rare
def looking_rows(s: Solve, row: int, a: Floats, dx: float, dy: float, dz: float) -> None:
    """
    Write the two rows that turn A's z axis towards the origin of B.

    The residual is angle * n [rad]: the angle between axis and line of sight, and the direction n
    in A's xy plane in which the origin of B is seen. (dx, dy, dz) is A's origin less B's. All goes
    by where B is seen from A, so the rows are velocities of that point.
    """
    x = -(a[0] * dx + a[3] * dy + a[6] * dz)
    y = -(a[1] * dx + a[4] * dy + a[7] * dz)
    z = -(a[2] * dx + a[5] * dy + a[8] * dz)
    aside = sqrt(x * x + y * y)
    square = x * x + y * y + z * z
    if square < 1e-12:
        # What is nearer than a millionth of the size is not seen: rounding would say where.
        set_row(s, row, pi, 0.0, 0.0, 0.0)
        set_row(s, row + 1, 0.0, 0.0, 0.0, 0.0)
        return
    distance = sqrt(square)
    angle = atan2(aside, z)
    cx, cy = 1.0, 0.0
    # Around the line of sight the residual turns with angle / aside, without bound right behind:
    # cut there, as for the third axes above.
    around = 1.0 / distance
    if aside > 1e-12 * distance:
        cx, cy = x / aside, y / aside
        around = min(angle / aside, STEEPEST / distance)
    along = z / square
    for k in range(2):
        c0, c1 = (cx, cy) if k == 0 else (cy, -cx)
        # Gradient in A's axes, of angle * cx and of angle * cy.
        first = along * c0 * cx + around * c1 * cy
        second = along * c0 * cy - around * c1 * cx
        third = -aside / square * c0
        set_row(
            s,
            row + k,
            angle * c0,
            -(a[0] * first + a[1] * second + a[2] * third),
            -(a[3] * first + a[4] * second + a[5] * third),
            -(a[6] * first + a[7] * second + a[8] * third),
        )


@kernel
def rotation_rows(s: Solve, c: int, row: int, a: Floats, b: Floats) -> None:
    """
    Write the rotation rows of constraint c; three of them, two or one.

    Where only the excess of each row over its tolerance counts, three rows are exact, too.
    """
    axes, mask = s.axes[c], s.mask[c]
    t = s.scratch
    count = ((mask >> 3) & 1) + ((mask >> 4) & 1) + ((mask >> 5) & 1)
    relative_rotation(a, b, t)
    if count == 2:
        pointing_rows(s, axes, mask, row, a, b)
        return
    exact = s.k[now.TOLERANT] == 1 and s.constraints[c, layout.CON_ROW_TOLERANCE] >= 0.0
    px, py, pz = log_rotation(matrix_at(t, 0))
    for k in range(3):
        if mask & (8 << k):
            # A turn has the same components in A's and in B's axes.
            ex, ey, ez = counting_axis(layout.AXES_B if axes == layout.AXES_A else axes, a, b, k)
            value = ex * px + ey * py + ez * pz
            if count == 1 or exact:
                ex, ey, ez = inverse_left_jacobian(-px, -py, -pz, ex, ey, ez)
            set_row(s, row, value, ex, ey, ez)
            row += 1


@rare
def cone_row(s: Solve, c: int, row: int, a: Floats, b: Floats) -> None:
    """
    Write the row of a limited rotation, its angle less the largest one [rad].

    It is the angle of R_A R_B^T, or for the axes EX EY alone that between both z axes.
    """
    t = s.scratch
    if s.mask[c] & 32:
        relative_rotation(a, b, t)
        x, y, z = log_rotation(matrix_at(t, 0))
        length = sqrt(x * x + y * y + z * z)
        angle = length
    else:
        ux, uy, uz = axis(a, 2)
        vx, vy, vz = axis(b, 2)
        x, y, z = vy * uz - vz * uy, vz * ux - vx * uz, vx * uy - vy * ux
        length = sqrt(x * x + y * y + z * z)
        angle = atan2(length, vx * ux + vy * uy + vz * uz)
    if length < 1e-9:
        x, y, z, length = 1.0, 0.0, 0.0, 1.0
    beyond = angle - s.constraints[c, layout.CON_DISTANCE]
    set_row(s, row, beyond, x / length, y / length, z / length)


@kernel
def term_of(s: Solve, c: int, e: int) -> tuple[float, float]:
    """Return the term of entry e in the row of coupling c, and its derivative by the value."""
    index = s.width * (s.term0[c] + e - s.entry0[c])
    value, total, slope = s.value[s.entry_column[e]], 0.0, 0.0
    for p in range(s.width - 1, -1, -1):
        slope = slope * value + total
        total = total * value + s.term[index + p]
    return total, slope


@rare
def coupling_gap(s: Solve, c: int) -> float:
    """Return the row of coupling c, the value of its follower less the sum over its masters."""
    gap = 0.0
    for e in range(s.entry0[c], s.entry0[c + 1]):
        gap += term_of(s, c, e)[0]
    return gap


@rare
def avoid_rows(s: Solve, row: int) -> None:
    """Write the rows of pairs of bodies: by how much each is nearer than its margin [L]."""
    for r in range(row, row + layout.BLOCK):
        s.trial[r] = excess_of(s, s.row_check[r])


@kernel
def residuals(s: Solve) -> None:
    """
    Write residual, row vector, lever points and residual norms of every constraint; theory.md, 3.

    Reads the frames that `forward` wrote. `trial` (nr,) is signed, in [L or rad]; `error` (nc, 2)
    holds the norms over the translation rows [m] and the rotation rows [rad] of each constraint.
    """
    if s.checks > 0:
        measure_pairs(s)
    for c in range(s.nc):
        a, b = s.a_frame[12 * c :], s.b_frame[12 * c :]
        axes, kind, mask = s.axes[c], s.kind[c], s.mask[c]
        row, end = 6 * c, s.row_end[c]
        dx, dy, dz = a[9] - b[9], a[10] - b[10], a[11] - b[11]
        # The point each end's motion is taken at: one and the same where the axes turn along.
        first = b if axes == layout.AXES_A else a
        second = a if axes == layout.AXES_B else b
        if kind == KIND_DISTANCE:
            first, second = a, b
        elif kind == KIND_LOOK_AT:
            first, second = b, b
        for k in range(3):
            s.lever[6 * c + k] = first[9 + k]
            s.lever[6 * c + 3 + k] = second[9 + k]
        translation = row
        if kind == KIND_DISTANCE:
            length = sqrt(dx * dx + dy * dy + dz * dz)
            if length > 1e-12:
                dx, dy, dz = dx / length, dy / length, dz / length
            else:
                dx, dy, dz = 1.0, 0.0, 0.0
            set_row(s, row, length - s.constraints[c, layout.CON_DISTANCE] / s.length, dx, dy, dz)
            translation += 1
        elif kind == KIND_COUPLING:
            s.trial[row] = coupling_gap(s, c)
        elif kind == KIND_CONE:
            cone_row(s, c, row, a, b)
        elif kind == KIND_AVOID:
            avoid_rows(s, row)
        elif kind == KIND_LOOK_AT:
            looking_rows(s, row, a, dx, dy, dz)
        elif kind == KIND_CYLINDER:
            cylinder_row(s, c, row, b, dx, dy, dz)
        elif kind == KIND_USER:
            user_rows(s, c)
        else:
            for k in range(3):
                if mask & (1 << k):
                    ex, ey, ez = counting_axis(axes, a, b, k)
                    set_row(s, translation, ex * dx + ey * dy + ez * dz, ex, ey, ez)
                    translation += 1
            if kind == KIND_UNIVERSAL:
                # The cross of the joint: A's y axis stays at right angles to B's x axis.
                ux, uy, uz = axis(a, 1)
                vx, vy, vz = axis(b, 0)
                set_row(
                    s,
                    translation,
                    ux * vx + uy * vy + uz * vz,
                    uy * vz - uz * vy,
                    uz * vx - ux * vz,
                    ux * vy - uy * vx,
                )
            elif translation < end:
                rotation_rows(s, c, translation, a, b)
        angular = s.angular[c]
        s.error[2 * c] = s.length * norm(s.trial, row, angular)
        s.error[2 * c + 1] = norm(s.trial, angular, end)
        if kind == KIND_CONE:
            s.error[2 * c + 1] = max(s.trial[row], 0.0)
        elif kind == KIND_AVOID:
            s.error[2 * c] = s.length * s.w[now.CLOSENESS]
