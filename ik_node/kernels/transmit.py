# flake8: noqa: E203
"""
Position, velocity and effort between actuators and a joint space, through closed loops.

With the Jacobian A of the closures, theory.md, section 4, velocities satisfy A dx = 0. Elimination
of the passive variables leaves those of the actuators, dx = G du, theory.md, eq. (13); rows of
actuators alone that remain are conditions which redundant actuators must satisfy together. What a
transmission needs besides a `Solve` is in two packed arrays, `p` (integers) and `d` (floats),
whose fields `Transmit` names.
"""

from collections.abc import Callable
from math import atan2, sqrt
from typing import Annotated, Any, NamedTuple

from ik_node.kernels.decorators import entry, FLOATS, INT, INTS, kernel
from ik_node.kernels.forward import compose, forward, frame_rows, put_frame
from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.layout import (
    CON_LEVEL,
    CON_ROTATION_MISFIT,
    CON_TRANSLATION_MISFIT,
    constraint_value,
    Floats,
    Ints,
    JOINT_LOWER,
    JOINT_UPPER,
    LARGEST,
    lengths_of,
    open_solve,
    Solve,
    unit_of_column,
)
from ik_node.kernels.redundant import choose_independent_rows, store_grouped_rows
from ik_node.kernels.rotation import euler_rates, log_rotation, quaternion_at
from ik_node.kernels.rows import axis, residuals
from ik_node.kernels.solve import advance, write_answer
from ik_node.kernels.solve_state import (
    STATUS_CONVERGED,
    STATUS_REFUSED,
    STATUS_RUNNING,
    STATUS_STALLED,
)
from ik_node.kernels.start import set_bounds, start_solve
from ik_node.kernels.step import apply_step
from ik_node.kernels.unchecked_array import beyond, flat, kept


class Transmit(NamedTuple):
    """
    One direction of a transmission: its arrays, its sizes, and where each field begins.

    A field is annotated with its array, its length and what it holds. The rows of the joint space
    are its joint values, then six for each link: linear velocity of the origin, angular velocity,
    root axes.
    """

    p: Ints
    d: Floats
    p_size: int  # lengths of the two arrays
    d_size: int
    na: int  # actuators
    ny: int  # rows of the joint space
    nl: int  # links in it
    ng: int  # joint values that are set: actuators, or independent values of the joint space
    nx: int  # the larger of na and ny
    nt: int  # the smaller one
    ni: int  # motions of passive joints that no actuator determines
    na2: int  # na squared
    nt2: int  # nt squared
    nq: int  # joint values
    nv: int  # variables of the chain
    nc: int  # constraints of the chain
    nr: int  # rows of them
    inverse: int  # 1 = the joint space is given, 0 = the actuators are
    act_column: Annotated[int, 'p', 'na', 'column of an actuator']
    variable: Annotated[int, 'p', 'nv', 'VARIABLE_*, or the actuator that moves it']
    closing: Annotated[int, 'p', 'nv', 'the same while loops are closed: what is set is locked']
    row_place: Annotated[int, 'p', 'ny', 'place in q of a joint value; -1 = row of a link']
    link_column: Annotated[int, 'p', 'nl', 'column that carries a link; -1 = root frame']
    given_row: Annotated[int, 'p', 'ng', 'which actuator or row a value that is set is']
    given_place: Annotated[int, 'p', 'ng', 'place in q of its master']
    solved: Annotated[int, 'p', 'nv', '1 = a row was solved for it']
    pivot: Annotated[int, 'p', 'nr', 'variable that a row was solved for']
    order: Annotated[int, 'p', 'nt', 'columns of the ratio in the order of their factorisation']
    given_offset: Annotated[int, 'd', 'ng', 'value = offset + scale * master [rad or m]']
    given_scale: Annotated[int, 'd', 'ng', '[rad or m per rad or m]']
    given_unit: Annotated[int, 'd', 'ng', '1 [rad] or the characteristic length [m]']
    root: Annotated[int, 'd', 'na', 'root of the weight of an effort in the least norm [1]']
    loose: Annotated[int, 'd', '2 * nc', 'tolerances that will do [m], [rad] of a constraint']
    link_offset: Annotated[int, 'd', '12 * nl', 'link in its column [dimensionless, L]']
    value_in: Annotated[int, 'd', 'nx', 'positions that are given [rad or m]']
    pose_in: Annotated[int, 'd', '3 * nl', 'positions of links that are given [m]']
    quat_in: Annotated[int, 'd', '4 * nl', 'orientations xyzw of links that are given']
    rate_in: Annotated[int, 'd', 'nx', 'velocities that are given [per s]']
    effort_in: Annotated[int, 'd', 'nx', 'efforts that are given [N or N m]']
    numbers: Annotated[int, 'd', 'RESULTS', 'scalars, RESULT_*']
    velocity: Annotated[int, 'd', 'nq', 'velocities of all joints [rad/s or m/s]']
    act_position: Annotated[int, 'd', 'na', 'actuators [rad or m]']
    act_velocity: Annotated[int, 'd', 'na', '[rad/s or m/s]']
    act_effort: Annotated[int, 'd', 'na', '[N m or N]']
    row_position: Annotated[int, 'd', 'ny', 'joint space; of a link position, rotation vector']
    row_velocity: Annotated[int, 'd', 'ny', '[rad/s or m/s]']
    row_effort: Annotated[int, 'd', 'ny', '[N m or N]']
    motion: Annotated[int, 'd', 'nq * na', 'd q / d actuator']
    ratio: Annotated[int, 'd', 'ny * na', 'd joint space / d actuator']
    rows: Annotated[int, 'd', 'nr * nv', 'the Jacobian of the closures while it is reduced']
    scale: Annotated[int, 'd', 'na', 'd variable / d actuator [rad or L per rad or m]']
    rest: Annotated[int, 'd', 'nr', 'the residual while it is reduced [L or rad]']
    gain: Annotated[int, 'd', 'nv * na', 'd variable / d variable of an actuator [rad, L]']
    idle: Annotated[int, 'd', 'nv * ni', 'orthonormal motions without any actuator [rad, L]']
    excess: Annotated[int, 'd', 'na2', 'orthonormal conditions that actuators must satisfy']
    tall: Annotated[int, 'd', 'nx * nt', 'orthonormal factor of the ratio or its transpose']
    upper: Annotated[int, 'd', 'nt2', 'its triangular factor']
    scratch: Annotated[int, 'd', 'nx', '[any]']
    q_before: Annotated[int, 'd', 'nq', 'joint values before a part of the way [rad or m]']
    q_ahead: Annotated[int, 'd', 'nq', 'joint values that the motion predicts [rad or m]']
    pose_now: Annotated[int, 'd', '12 * nl', 'frames of the links [dimensionless, m]']
    way: Annotated[int, 'd', 'nx', 'what is left to the given position [rad or m]']
    way_actuators: Annotated[int, 'd', 'na', 'the same for the actuators']
    position_part: Annotated[int, 'd', '3 * nl', 'positions of links for a part of the way [m]']
    quat_part: Annotated[int, 'd', '4 * nl', 'orientations for a part of the way']


# What a variable is, if no actuator moves it.
VARIABLE_PASSIVE, VARIABLE_LOCKED = -1, -2

# What a call gives, besides q; TRACKED: `motion` and `ratio` are those at q.
GIVES_POSITION, GIVES_VELOCITY, GIVES_EFFORT, TRACKED = 1, 2, 4, 8

# Scalars of a result.
(
    RESULT_EXCESS,  # conditions that actuators must satisfy together
    RESULT_IDLE,  # motions of passive joints that no actuator determines
    RESULT_PIVOT,  # least pivot of the passive joints, 0 = the actuators do not hold the loops
    RESULT_RATIO,  # least pivot of the ratio, 0 = some direction of the joint space is lost
    RESULT_MISFIT,  # largest disagreement of velocities that were given [per s]
    RESULT_OFF,  # largest distance from the position that was given [rad or m]
) = range(6)
RESULTS = 6

SIZES, FIELDS = lengths_of(Transmit)

# A pivot or remainder below this share of its row is rounding. A row counts at least as this large
# [1]: smaller coefficients of all its variables are rounding.
NOTHING, SMALLEST, NEARLY_NOTHING = 1e-7, 1e-4, 1e-3
# Longest part of a way: of what is given, and of any joint [rad or L]. A way is blocked where even
# its least part is. Share by which closing may correct the motion that was predicted.
PART, LONGEST, LEAST_PART, CORRECTION = 0.1, 0.3, 1e-6, 0.3
# Corrections below this are always accepted [rad or L].
ACCEPTED = 1e-4
# A residual below this is rounding [rad or L]; most steps of Newton's method, before the solver
# closes the loops in its own way, within limits.
CLOSED, NEWTON_STEPS = 1e-11, 6
# What the next turn of `transmit` is for: frames at q; loops closed by Newton's method; by the
# solver; the linear part after that; nothing, since motion and ratio are those at q.
STAGE_PLACE, STAGE_CLOSE, STAGE_SOLVE, STAGE_SOLVED, STAGE_LINEAR = range(5)
# Largest number of parts of a way, and of steps of the solver for each part.
PARTS, STEPS = 2000, 300
# A joint or link is where it should be within this distance [rad or m].
REACHED = 1e-6

_OPEN = 'def open_transmit(p, d):\n    head = kept(p, {})\n    return Transmit({}, {})'.format(
    len(SIZES) + len(FIELDS),
    f'flat(p, head[{SIZES.index("p_size")}]), flat(d, head[{SIZES.index("d_size")}])',
    ', '.join(f'head[{at}]' for at in range(len(SIZES) + len(FIELDS))),
)
_names: dict[str, Any] = {'Transmit': Transmit, 'kept': kept, 'flat': flat, '__name__': __name__}
exec(_OPEN, _names)
# Takes (p, d) and returns a `Transmit`, as `open_solve` does.
open_transmit: Callable[..., Transmit] = kernel(_names['open_transmit'])


@kernel
def write_scales(s: Solve, t: Transmit) -> None:
    """Write d variable / d actuator of each actuator's own variable."""
    for a in range(t.na):
        j = t.p[t.act_column + a]
        rate = s.w[s.rate + j]
        if abs(rate) < 1e-12:
            rate = 1e-12
        t.d[t.scale + a] = 1.0 / (rate * unit_of_column(s, j))


@kernel
def add_condition(s: Solve, t: Transmit, row: int, count: int) -> int:
    """
    Add the actuators' part of a row to the orthonormal conditions e with e D^(-1/2) du = 0.

    D are the weights of the efforts. Return the number of conditions.
    """
    d, na = t.d, t.na
    if count >= na:
        return count
    at, before = t.excess + count * na, 0.0
    for a in range(na):
        v = s.i[s.var + t.p[t.act_column + a]]
        d[at + a] = d[row + v] * d[t.scale + a] * d[t.root + a]
        before += d[at + a] * d[at + a]
    for _ in range(2):
        for e in range(count):
            other, along = t.excess + e * na, 0.0
            for a in range(na):
                along += d[at + a] * d[other + a]
            for a in range(na):
                d[at + a] -= along * d[other + a]
    after = 0.0
    for a in range(na):
        after += d[at + a] * d[at + a]
    if after <= NOTHING * before:
        return count
    for a in range(na):
        d[at + a] /= sqrt(after)
    return count + 1


@kernel
def reduce_loops(s: Solve, t: Transmit, kinds: int) -> int:
    """
    Solve the rows of the closures for passive variables, by Gauss and Jordan's elimination.

    Every row is solved for the passive variable with its largest coefficient. What is left of a
    row without any is a condition for the actuators, or nothing. `kinds` is the place of the
    variables' kinds in p. Return the number of solved rows.
    """
    d, p, nv = t.d, t.p, t.nv
    count, excess, least = 0, 0, 1.0
    # Away from the closed configuration redundant rows are only nearly so.
    nothing = NOTHING if kinds == t.variable else NEARLY_NOTHING
    if kinds == t.variable:
        write_scales(s, t)
    for v in range(nv):
        p[t.solved + v] = 0
    for c in range(s.nc):
        if constraint_value(s, c, CON_LEVEL) > 0.0:
            continue
        for r in range(6 * c, s.i[s.row_end + c]):
            if s.k[s.implied + r] == 1:
                continue
            row, size = t.rows + count * nv, SMALLEST
            d[t.rest + count] = s.w[s.trial + r]
            for v in range(nv):
                d[row + v] = 0.0
            for slot in range(s.i[s.slot0 + c], s.i[s.slot0 + c + 1]):
                v = s.i[s.slot_var + slot]
                if p[kinds + v] != VARIABLE_LOCKED:
                    d[row + v] = s.w[s.jac + 6 * slot + r - 6 * c]
                    size = max(size, abs(d[row + v]))
            for b in range(count):
                v = p[t.pivot + b]
                factor = d[row + v]
                if factor != 0.0:
                    for u in range(nv):
                        d[row + u] -= factor * d[t.rows + b * nv + u]
                    d[row + v] = 0.0
                    d[t.rest + count] -= factor * d[t.rest + b]
            best, most, rest = -1, 0.0, 0.0
            for v in range(nv):
                if p[kinds + v] != VARIABLE_PASSIVE:
                    rest = max(rest, abs(d[row + v]))
                elif abs(d[row + v]) > most:
                    best, most = v, abs(d[row + v])
            if most > nothing * size:
                least = min(least, most / size)
                factor = 1.0 / d[row + best]
                for v in range(nv):
                    d[row + v] *= factor
                d[row + best] = 1.0
                d[t.rest + count] *= factor
                p[t.pivot + count] = best
                p[t.solved + best] = 1
                count += 1
            elif kinds == t.variable and rest > NOTHING * size:
                excess = add_condition(s, t, row, excess)
    for b in range(count - 1, 0, -1):
        v = p[t.pivot + b]
        for above in range(b):
            row = t.rows + above * nv
            factor = d[row + v]
            if factor != 0.0:
                for u in range(nv):
                    d[row + u] -= factor * d[t.rows + b * nv + u]
                d[t.rest + above] -= factor * d[t.rest + b]
    d[t.numbers + RESULT_EXCESS] = excess
    d[t.numbers + RESULT_PIVOT] = least
    return count


@kernel
def write_idle(s: Solve, t: Transmit, kinds: int, count: int) -> None:
    """
    Write an orthonormal basis of the motions of passive variables alone, from the solved rows.

    There is one for each passive variable that no row was solved for.
    """
    d, p, nv = t.d, t.p, t.nv
    found = 0
    for v in range(nv):
        if p[kinds + v] != VARIABLE_PASSIVE or p[t.solved + v] == 1:
            continue
        if found < t.ni:
            at = t.idle + found * nv
            for u in range(nv):
                d[at + u] = 0.0
            d[at + v] = 1.0
            for b in range(count):
                d[at + p[t.pivot + b]] = -d[t.rows + b * nv + v]
            remove_idle(t, found, t.d, at, 1)
            square = 0.0
            for u in range(nv):
                square += d[at + u] * d[at + u]
            for u in range(nv):
                d[at + u] /= sqrt(square)
        found += 1
    d[t.numbers + RESULT_IDLE] = found


@kernel
def remove_idle(t: Transmit, count: int, into: Floats, at: int, stride: int) -> None:
    """Take the part along the first idle motions out of the variables at into[at], by strides."""
    d = t.d
    for e in range(min(count, t.ni)):
        own, along = t.idle + e * t.nv, 0.0
        for u in range(t.nv):
            along += into[at + stride * u] * d[own + u]
        for u in range(t.nv):
            into[at + stride * u] -= along * d[own + u]


@kernel
def write_gain(s: Solve, t: Transmit, count: int) -> None:
    """
    Write G of dx = G du, theory.md, eq. (13), from the solved rows.

    Motions that no actuator determines are left out: G has no part along them.
    """
    d, p, nv, na = t.d, t.p, t.nv, t.na
    for k in range(t.gain, t.gain + nv * na):
        d[k] = 0.0
    for a in range(na):
        own = s.i[s.var + p[t.act_column + a]]
        d[t.gain + own * na + a] = 1.0
        for b in range(count):
            d[t.gain + p[t.pivot + b] * na + a] = -d[t.rows + b * nv + own]
        remove_idle(t, int(d[t.numbers + RESULT_IDLE]), d, t.gain + a, na)


@kernel
def project(t: Transmit, matrix: int, rows: int) -> None:
    """
    Multiply a matrix (rows, na) by P, which takes velocities to the nearest that agree.

    P = D^(1/2) (1 - E^T E) D^(-1/2), with the orthonormal conditions E and the weights D of the
    efforts; its transpose takes efforts to those of least norm with the same power.
    """
    d, na = t.d, t.na
    for e in range(int(d[t.numbers + RESULT_EXCESS])):
        condition = t.excess + e * na
        for r in range(rows):
            at, along = matrix + r * na, 0.0
            for a in range(na):
                along += d[at + a] * d[t.root + a] * d[condition + a]
            for a in range(na):
                d[at + a] -= along * d[condition + a] / d[t.root + a]


@kernel
def write_motion(s: Solve, t: Transmit) -> None:
    """Write dq / du in [rad or m] for all columns of the chain; of a ball Euler rates."""
    d, na = t.d, t.na
    for k in range(t.motion, t.motion + t.nq * na):
        d[k] = 0.0
    for j in range(s.n):
        v = s.i[s.var + j]
        if v < 0:
            continue
        at = t.motion + s.i[s.column_q + j] * na
        if s.i[s.ball + j] > 0 and s.k[s.free_ball + v] == 1:
            if s.i[s.ball + j] != 1:
                continue
            y, x = s.i[s.var + j + 1], s.i[s.var + j + 2]
            at_y = t.motion + s.i[s.column_q + j + 1] * na
            at_x = t.motion + s.i[s.column_q + j + 2] * na
            for a in range(na):
                scale = d[t.scale + a]
                rx, ry, rz = euler_rates(
                    s.w[s.x + x],
                    s.w[s.x + y],
                    d[t.gain + x * na + a],
                    d[t.gain + y * na + a],
                    d[t.gain + v * na + a],
                )
                d[at + a], d[at_y + a], d[at_x + a] = scale * rz, scale * ry, scale * rx
        else:
            factor = s.w[s.rate + j] * unit_of_column(s, j)
            for a in range(na):
                d[at + a] = factor * d[t.gain + v * na + a] * d[t.scale + a]
    project(t, t.motion, t.nq)


@kernel
def write_link_rows(s: Solve, t: Transmit, link: int, first: int) -> None:
    """Write the six rows of a link to `ratio`: its geometric Jacobian by the actuators."""
    d, w, na = t.d, s.w, t.na
    for k in range(t.ratio + first * na, t.ratio + (first + 6) * na):
        d[k] = 0.0
    point, length = t.pose_now + 12 * link + 9, s.f[s.length]
    j = t.p[t.link_column + link]
    while j >= 0:
        v = s.i[s.var + j]
        if v >= 0:
            frame, k = s.frame + 12 * j, 2
            ball = s.i[s.ball + j]
            if ball > 0 and s.k[s.free_ball + v] == 1:
                # As in `jacobian.add_entry`.
                frame += 12 * (3 - ball)
                k = 1 if ball == 1 else (0 if ball == 2 else 2)
            ax, ay, az = axis(w, frame, k)
            rate = w[s.rate + j]
            lx = d[point] - length * w[frame + 9]
            ly = d[point + 1] - length * w[frame + 10]
            lz = d[point + 2] - length * w[frame + 11]
            for a in range(na):
                turn = rate * d[t.gain + v * na + a] * d[t.scale + a]
                at = t.ratio + first * na + a
                if s.i[s.prismatic + j] == 1:
                    d[at] += length * turn * ax
                    d[at + na] += length * turn * ay
                    d[at + 2 * na] += length * turn * az
                else:
                    d[at] += turn * (ay * lz - az * ly)
                    d[at + na] += turn * (az * lx - ax * lz)
                    d[at + 2 * na] += turn * (ax * ly - ay * lx)
                    d[at + 3 * na] += turn * ax
                    d[at + 4 * na] += turn * ay
                    d[at + 5 * na] += turn * az
        j = s.i[s.parent + j]


@kernel
def place_link(s: Solve, t: Transmit, link: int, first: int) -> None:
    """Write the frame of a link, and its position and rotation vector to the joint space."""
    d, at, j = t.d, t.pose_now + 12 * link, t.p[t.link_column + link]
    own = frame_rows(d, t.link_offset + 12 * link)
    if j >= 0:
        own = compose(s.w, s.frame + 12 * j, own)
    put_frame(own, s.w, s.scratch)
    for k in range(12):
        d[at + k] = s.w[s.scratch + k] * (s.f[s.length] if k > 8 else 1.0)
    for k in range(3):
        d[t.row_position + first + k] = d[at + 9 + k]
    (
        d[t.row_position + first + 3],
        d[t.row_position + first + 4],
        d[t.row_position + first + 5],
    ) = log_rotation(
        d[at],
        d[at + 1],
        d[at + 2],
        d[at + 3],
        d[at + 4],
        d[at + 5],
        d[at + 6],
        d[at + 7],
        d[at + 8],
    )


@kernel
def write_ratio(s: Solve, t: Transmit) -> None:
    """Write positions of actuators and joint space, and d joint space / d actuator."""
    d, na, row = t.d, t.na, 0
    for a in range(na):
        j = t.p[t.act_column + a]
        d[t.act_position + a] = s.q[s.i[s.column_q + j]]
    while row < t.ny and t.p[t.row_place + row] >= 0:
        place = t.p[t.row_place + row]
        d[t.row_position + row] = s.q[place]
        for a in range(na):
            d[t.ratio + row * na + a] = d[t.motion + place * na + a]
        row += 1
    for link in range(t.nl):
        place_link(s, t, link, row)
        write_link_rows(s, t, link, row)
        project(t, t.ratio + row * na, 6)
        row += 6


@kernel
def factorise_ratio(t: Transmit) -> None:
    """
    Factorise the ratio J, or its transpose if it is wide, into an orthonormal and an upper factor.

    Gram and Schmidt's method, twice, with the column of the largest remainder first. Columns keep
    their indices in both factors, since their order is found on the way. Those that are
    combinations of others are left out; their diagonal is 0.
    """
    d, p, na, nx, nt = t.d, t.p, t.na, t.nx, t.nt
    wide = t.ny < na
    for c in range(nt):
        square = 0.0
        for r in range(nx):
            value = d[t.ratio + c * na + r] if wide else d[t.ratio + r * na + c]
            d[t.tall + c * nx + r] = value
            square += value * value
        d[t.scratch + c] = square
        p[t.order + c] = c
    least = 1.0
    for n in range(nt):
        best, most = n, -1.0
        for m in range(n, nt):
            c, square = p[t.order + m], 0.0
            for r in range(nx):
                square += d[t.tall + c * nx + r] * d[t.tall + c * nx + r]
            if square > most:
                best, most = m, square
        c = p[t.order + best]
        p[t.order + best] = p[t.order + n]
        p[t.order + n] = c
        whole = d[t.scratch + c]
        if most <= NOTHING * NOTHING * whole:
            least = 0.0
            d[t.upper + n * nt + c] = 0.0
            continue
        least = min(least, sqrt(most / whole))
        # Once more against the columns before, which takes their rounding out.
        for before in range(n):
            b, along = p[t.order + before], 0.0
            if d[t.upper + before * nt + b] == 0.0:
                continue
            for r in range(nx):
                along += d[t.tall + b * nx + r] * d[t.tall + c * nx + r]
            for r in range(nx):
                d[t.tall + c * nx + r] -= along * d[t.tall + b * nx + r]
            d[t.upper + before * nt + c] += along
        most = 0.0
        for r in range(nx):
            most += d[t.tall + c * nx + r] * d[t.tall + c * nx + r]
        d[t.upper + n * nt + c] = sqrt(most)
        for r in range(nx):
            d[t.tall + c * nx + r] /= sqrt(most)
        for m in range(n + 1, nt):
            other, along = p[t.order + m], 0.0
            for r in range(nx):
                along += d[t.tall + c * nx + r] * d[t.tall + other * nx + r]
            for r in range(nx):
                d[t.tall + other * nx + r] -= along * d[t.tall + c * nx + r]
            d[t.upper + n * nt + other] = along
    d[t.numbers + RESULT_RATIO] = least


@kernel
def least_squares(t: Transmit, given: int, out: int) -> None:
    """Write the x with the least |M x - b| for the factored tall matrix M; b at d[given]."""
    d, p, nx, nt = t.d, t.p, t.nx, t.nt
    for n in range(nt - 1, -1, -1):
        c, total = p[t.order + n], 0.0
        if d[t.upper + n * nt + c] != 0.0:
            for r in range(nx):
                total += d[t.tall + c * nx + r] * d[given + r]
            for m in range(n + 1, nt):
                other = p[t.order + m]
                total -= d[t.upper + n * nt + other] * d[out + other]
            total /= d[t.upper + n * nt + c]
        d[out + c] = total


@kernel
def least_norm(t: Transmit, given: int, out: int) -> None:
    """Write the z with the least |z| for which M^T z = c, M as above; c is at d[given]."""
    d, p, nx, nt = t.d, t.p, t.nx, t.nt
    for n in range(nt):
        c = p[t.order + n]
        total = 0.0
        if d[t.upper + n * nt + c] != 0.0:
            total = d[given + c]
            for m in range(n):
                total -= d[t.upper + m * nt + c] * d[t.scratch + m]
            total /= d[t.upper + n * nt + c]
        d[t.scratch + n] = total
    for r in range(nx):
        total = 0.0
        for n in range(nt):
            total += d[t.scratch + n] * d[t.tall + p[t.order + n] * nx + r]
        d[out + r] = total


@kernel
def to_actuator_rates(t: Transmit, given: int, out: int) -> None:
    """Write J^+ dy at d[out], the actuators' part of a motion dy of the joint space."""
    if t.ny < t.na:
        least_norm(t, given, out)
    else:
        least_squares(t, given, out)
    project(t, out, 1)


@kernel
def multiply(t: Transmit, matrix: int, rows: int, given: int, out: int) -> None:
    """Write M x, with M (rows, na) at d[matrix]."""
    d, na = t.d, t.na
    for r in range(rows):
        total = 0.0
        for a in range(na):
            total += d[matrix + r * na + a] * d[given + a]
        d[out + r] = total


@kernel
def linear_part(s: Solve, t: Transmit, closes: bool) -> bool:
    """
    Write motion, ratio and its factors at x.

    If `closes`, the loops are closed first by Newton's method with the given values held; return
    False if that does not converge.
    """
    steps = 0
    while True:
        forward(s, s.x)
        residuals(s)
        open_by = 0.0
        for r in range(s.nr):
            open_by = max(open_by, abs(s.w[s.trial + r]))
        closed = not closes or open_by <= CLOSED
        if not closed and (steps == NEWTON_STEPS or open_by > PART):
            return False
        jacobian(s)
        if s.groups > 0:
            store_grouped_rows(s)
            choose_independent_rows(s)
        kinds = t.variable if closed else t.closing
        count = reduce_loops(s, t, kinds)
        write_idle(s, t, kinds, count)
        if closed:
            break
        for v in range(s.nv):
            s.w[s.step + v] = 0.0
        for b in range(count):
            s.w[s.step + t.p[t.pivot + b]] = -t.d[t.rest + b]
        remove_idle(t, int(t.d[t.numbers + RESULT_IDLE]), s.w, s.step, 1)
        apply_step(s, s.x, s.x)
        steps += 1
    if closes:
        write_answer(s)
    write_gain(s, t, count)
    write_motion(s, t)
    write_ratio(s, t)
    factorise_ratio(t)
    return True


@kernel
def write_rates(t: Transmit) -> None:
    """Write velocities, dq = (dq/du) du and dy = J du, or for a given dy du = J^+ dy."""
    d, misfit = t.d, 0.0
    if t.inverse == 1:
        to_actuator_rates(t, t.rate_in, t.act_velocity)
        multiply(t, t.ratio, t.ny, t.act_velocity, t.row_velocity)
        for r in range(t.ny):
            misfit = max(misfit, abs(d[t.row_velocity + r] - d[t.rate_in + r]))
    else:
        for a in range(t.na):
            d[t.act_velocity + a] = d[t.rate_in + a] / d[t.root + a]
        for e in range(int(d[t.numbers + RESULT_EXCESS])):
            condition, along = t.excess + e * t.na, 0.0
            for a in range(t.na):
                along += d[t.act_velocity + a] * d[condition + a]
            for a in range(t.na):
                d[t.act_velocity + a] -= along * d[condition + a]
        for a in range(t.na):
            d[t.act_velocity + a] *= d[t.root + a]
            misfit = max(misfit, abs(d[t.act_velocity + a] - d[t.rate_in + a]))
        multiply(t, t.ratio, t.ny, t.act_velocity, t.row_velocity)
    multiply(t, t.motion, t.nq, t.act_velocity, t.velocity)
    d[t.numbers + RESULT_MISFIT] = misfit


@kernel
def write_efforts(t: Transmit) -> None:
    """Write efforts by virtual work, tau_u = J^T tau_y, or for a given tau_u the least tau_y."""
    d, na = t.d, t.na
    if t.inverse == 1:
        for r in range(t.ny):
            d[t.row_effort + r] = d[t.effort_in + r]
        for a in range(na):
            total = 0.0
            for r in range(t.ny):
                total += d[t.ratio + r * na + a] * d[t.effort_in + r]
            d[t.act_effort + a] = total
        return
    for a in range(na):
        d[t.act_effort + a] = d[t.effort_in + a]
    if t.ny < na:
        least_squares(t, t.effort_in, t.row_effort)
    else:
        least_norm(t, t.effort_in, t.row_effort)


@kernel
def write_way(s: Solve, t: Transmit) -> float:
    """Write what is left to the given position to `way`; return its largest part [rad or L]."""
    d, most = t.d, 0.0
    row = t.ny - 6 * t.nl if t.inverse == 1 else t.na
    for r in range(row):
        if t.inverse == 1:
            left = d[t.value_in + r] - s.q[t.p[t.row_place + r]]
        else:
            left = d[t.value_in + r] - s.q[s.i[s.column_q + t.p[t.act_column + r]]]
        d[t.way + r] = left
    for g in range(t.ng):
        most = max(most, abs(d[t.way + t.p[t.given_row + g]]) / d[t.given_unit + g])
    if t.inverse == 1:
        for link in range(t.nl):
            now, quat = t.pose_now + 12 * link, t.quat_in + 4 * link
            x, y, z, real = quaternion_at(d, now)
            # The turn from now to what is given: the product of it and the conjugate of now.
            gx, gy, gz, gw = d[quat], d[quat + 1], d[quat + 2], d[quat + 3]
            rx = gx * real - gw * x - gy * z + gz * y
            ry = gy * real - gw * y - gz * x + gx * z
            rz = gz * real - gw * z - gx * y + gy * x
            rw = gw * real + gx * x + gy * y + gz * z
            if rw < 0.0:
                rx, ry, rz, rw = -rx, -ry, -rz, -rw
            sine = sqrt(rx * rx + ry * ry + rz * rz)
            factor = 2.0 * atan2(sine, rw) / sine if sine > 1e-12 else 2.0
            at = t.way + row + 6 * link
            for k in range(3):
                d[at + k] = d[t.pose_in + 3 * link + k] - d[now + 9 + k]
                most = max(most, abs(d[at + k]) / s.f[s.length])
            d[at + 3], d[at + 4], d[at + 5] = factor * rx, factor * ry, factor * rz
            for k in range(3, 6):
                most = max(most, abs(d[at + k]))
    return most


@kernel
def predict(s: Solve, t: Transmit, share: float) -> float:
    """
    Write to q_ahead where the motion leads on a share of the way; return its largest part.

    It counts in [rad or L], for joints other than balls.
    """
    d, most, way = t.d, 0.0, t.way
    if t.inverse == 1:
        to_actuator_rates(t, t.way, t.way_actuators)
        way = t.way_actuators
    multiply(t, t.motion, t.nq, way, t.q_ahead)
    for v in range(s.nv):
        most = max(most, abs(share * d[t.q_ahead + s.i[s.var_q + v]]) / s.f[s.unit + v])
    for g in range(t.nq):
        value = s.q[g] + share * d[t.q_ahead + g]
        value = max(value, s.joints[JOINT_LOWER, g])
        d[t.q_ahead + g] = min(value, s.joints[JOINT_UPPER, g])
    return most


@kernel
def set_part(s: Solve, t: Transmit, share: float) -> bool:
    """
    Set the given joint values, and the given poses, to a share of the way.

    Return False if a joint is kept back by its limits.
    """
    d, within = t.d, True
    for g in range(t.ng):
        row, place = t.p[t.given_row + g], t.p[t.given_place + g]
        value = d[t.value_in + row] - (1.0 - share) * d[t.way + row]
        value = (value - d[t.given_offset + g]) / d[t.given_scale + g]
        least, most = s.joints[JOINT_LOWER, place], s.joints[JOINT_UPPER, place]
        s.q[place] = min(max(value, least), most)
        within = within and s.q[place] == value
    for link in range(t.nl * t.inverse):
        now = t.pose_now + 12 * link
        x, y, z, real = quaternion_at(d, now)
        quat, to = t.quat_in + 4 * link, t.quat_part + 4 * link
        along = x * d[quat] + y * d[quat + 1] + z * d[quat + 2] + real * d[quat + 3]
        rest = (1.0 - share) * (1.0 if along >= 0.0 else -1.0)
        d[to] = share * d[quat] + rest * x
        d[to + 1] = share * d[quat + 1] + rest * y
        d[to + 2] = share * d[quat + 2] + rest * z
        d[to + 3] = share * d[quat + 3] + rest * real
        for k in range(3):
            d[t.position_part + 3 * link + k] = (
                share * d[t.pose_in + 3 * link + k] + (1.0 - share) * d[now + 9 + k]
            )
    return within


@kernel
def is_closed(s: Solve, t: Transmit) -> bool:
    """Return True if every constraint is within its own tolerance; the solve asks for more."""
    for c in range(s.nc):
        position = t.d[t.loose + 2 * c] + constraint_value(s, c, CON_TRANSLATION_MISFIT)
        orientation = t.d[t.loose + 2 * c + 1] + constraint_value(s, c, CON_ROTATION_MISFIT)
        if not (s.w[s.error + 2 * c] <= position and s.w[s.error + 2 * c + 1] <= orientation):
            return False
    return True


@kernel
def stays_on_branch(s: Solve, t: Transmit, moved: float) -> bool:
    """Return True if closing the loops changed little of the motion that was predicted."""
    for v in range(s.nv):
        g = s.i[s.var_q + v]
        off = abs(s.q[g] - t.d[t.q_ahead + g]) / s.f[s.unit + v]
        if off > CORRECTION * moved + ACCEPTED and s.k[s.free_ball + v] == 0:
            return False
    return True


@kernel
def are_finite(t: Transmit, gives: int) -> bool:
    """Return True if all numbers that a call gives are finite and not too large."""
    fine, count = True, t.ny if t.inverse == 1 else t.na
    for r in range(count):
        if gives & GIVES_POSITION and r < count - 6 * t.nl * t.inverse:
            fine = fine and abs(t.d[t.value_in + r]) <= LARGEST
        if gives & GIVES_VELOCITY:
            fine = fine and abs(t.d[t.rate_in + r]) <= LARGEST
        if gives & GIVES_EFFORT:
            fine = fine and abs(t.d[t.effort_in + r]) <= LARGEST
    if gives & GIVES_POSITION:
        for k in range(7 * t.nl * t.inverse):
            fine = fine and abs(t.d[t.pose_in + k]) <= LARGEST
    return fine


@entry(INTS, FLOATS, INTS, *4 * [FLOATS], INTS, FLOATS, INT)
def transmit(
    i: Ints,
    f: Floats,
    k: Ints,
    w: Floats,
    q: Floats,
    joints: Floats,
    options: Floats,
    plan: Ints,
    data: Floats,
    gives: int,
) -> int:
    """
    Carry position, velocity and effort through the loops.

    Parameters
    ----------
    i, f, k, w, options : ndarray
        As for `solve.advance`: the closures, and for given poses of links goals after them.
    q : ndarray, shape (nq,)
        Joint values with closed loops: the start, which decides the assembly; at the end those
        of the result [rad or m].
    joints : ndarray, shape (8, nq)
        Limits and locks; the values that are set have a window of 0.
    plan, data : ndarray
        Fields of `Transmit`.
    gives : int
        Sum of GIVES_* for the positions, velocities and efforts in `data`, and TRACKED if `data`
        is the result of the last call, and q its joint values.

    Returns
    -------
    int
        STATUS_CONVERGED; STALLED if a limit, the loops or a singularity end the way to the
        given position, and q is where it ends; REFUSED as for `advance`.

    Notes
    -----
    The way to a position is divided into parts. On each the tangent predicts all joints, and the
    loops are closed with the given values held; a part is made shorter if that corrects the
    prediction by much, since another assembly is near there.

    """
    s, t = open_solve(i, f, k, w, q, joints, options), open_transmit(plan, data)
    if not are_finite(t, gives):
        return STATUS_REFUSED
    d, moves, quick = t.d, gives & GIVES_POSITION != 0, t.nl * t.inverse + s.groups == 0
    stage = STAGE_LINEAR if gives & TRACKED != 0 else STAGE_PLACE
    status, parts, share, moved = STATUS_CONVERGED, 0, 1.0, 0.0
    under_way, blocked, arrived, within = False, False, False, True
    while True:
        if stage == STAGE_PLACE:
            if not start_solve(s):
                return STATUS_REFUSED
        elif stage == STAGE_CLOSE:
            set_bounds(s)
        if stage != STAGE_LINEAR:
            done = stage != STAGE_SOLVE and linear_part(s, t, stage == STAGE_CLOSE)
            if stage == STAGE_CLOSE and done:
                done = stays_on_branch(s, t, moved)
            if not done:
                for g in range(s.nq):
                    s.q[g] = d[t.q_ahead + g]
                within = set_part(s, t, share)
                status = advance(
                    i,
                    f,
                    k,
                    w,
                    q,
                    joints,
                    options,
                    beyond(data, t.position_part),
                    beyond(data, t.quat_part),
                    t.nl * t.inverse,
                    -STEPS,
                )
                stage = STAGE_SOLVED
                if (
                    status in (STATUS_REFUSED, STATUS_RUNNING)
                    or not is_closed(s, t)
                    or not stays_on_branch(s, t, moved)
                ):
                    for g in range(s.nq):
                        s.q[g] = d[t.q_before + g]
                    share *= 0.25
                    under_way = False
                    stage = STAGE_PLACE
                continue
            stage = STAGE_LINEAR
            arrived = under_way and (not within or share == 1.0)
        if not moves or blocked or arrived:
            break
        left = write_way(s, t)
        if under_way:
            share = 2.0 * share if left > 10.0 * LEAST_PART else 1.0
        elif share < 1.0 and share * left < LEAST_PART:
            blocked = True
            break
        if parts == PARTS:
            blocked = True
            break
        parts += 1
        share = min(min(1.0, share), PART / max(left, PART))
        for g in range(s.nq):
            d[t.q_before + g] = s.q[g]
        moved = predict(s, t, share)
        if moved > LONGEST:
            share *= LONGEST / moved
            moved = predict(s, t, share)
        for g in range(s.nq):
            s.q[g] = d[t.q_ahead + g]
        within = set_part(s, t, share)
        under_way = True
        stage = STAGE_CLOSE if quick else STAGE_SOLVE
    status = STATUS_CONVERGED if within and not blocked else STATUS_STALLED
    if moves:
        write_way(s, t)
        off = 0.0
        for r in range(t.nx):
            if r < (t.ny if t.inverse == 1 else t.na):
                off = max(off, abs(d[t.way + r]))
        d[t.numbers + RESULT_OFF] = off
        if status == STATUS_CONVERGED and off > REACHED:
            status = STATUS_STALLED
    if gives & GIVES_VELOCITY:
        write_rates(t)
    if gives & GIVES_EFFORT:
        write_efforts(t)
    return int(status)
