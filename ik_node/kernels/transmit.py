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
from typing import Annotated, NamedTuple

from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import entry, FLOATS, INT, INTS, kernel, rare
from ik_node.kernels.fields import lengths_of, opener
from ik_node.kernels.forward import compose, forward, frame_rows, put_frame
from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.layout import (
    CON_LEVEL,
    CON_ROTATION_MISFIT,
    CON_TRANSLATION_MISFIT,
    Floats,
    Ints,
    JOINT_LOWER,
    JOINT_UPPER,
    LARGEST,
    open_solve,
    Solve,
    unit_of_column,
)
from ik_node.kernels.redundant import choose_independent_rows, store_grouped_rows
from ik_node.kernels.rotation import euler_rates, log_rotation, quaternion_at
from ik_node.kernels.rows import axis, residuals
from ik_node.kernels.solve import advance, write_answer
from ik_node.kernels.start import set_bounds, start_solve
from ik_node.kernels.step import apply_step
from ik_node.kernels.unchecked_array import start_of


class Transmit(NamedTuple):
    """
    One direction of a transmission: its sizes and its fields.

    A field is annotated with its packed array, its length and what it holds. The rows of the joint
    space are its joint values, then six for each link: linear velocity of the origin, angular
    velocity, root axes.
    """

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
    act_column: Annotated[Ints, 'p', 'na', 'column of an actuator']
    variable: Annotated[Ints, 'p', 'nv', 'VARIABLE_*, or the actuator that moves it']
    closing: Annotated[Ints, 'p', 'nv', 'the same while loops are closed: what is set is locked']
    row_place: Annotated[Ints, 'p', 'ny', 'place in q of a joint value; -1 = row of a link']
    link_column: Annotated[Ints, 'p', 'nl', 'column that carries a link; -1 = root frame']
    given_row: Annotated[Ints, 'p', 'ng', 'which actuator or row a value that is set is']
    given_place: Annotated[Ints, 'p', 'ng', 'place in q of its master']
    solved: Annotated[Ints, 'p', 'nv', '1 = a row was solved for it']
    pivot: Annotated[Ints, 'p', 'nr', 'variable that a row was solved for']
    order: Annotated[Ints, 'p', 'nt', 'columns of the ratio in the order of their factorisation']
    given_offset: Annotated[Floats, 'd', 'ng', 'value = offset + scale * master [rad or m]']
    given_scale: Annotated[Floats, 'd', 'ng', '[rad or m per rad or m]']
    given_unit: Annotated[Floats, 'd', 'ng', '1 [rad] or the characteristic length [m]']
    root: Annotated[Floats, 'd', 'na', 'root of the weight of an effort in the least norm [1]']
    loose: Annotated[Floats, 'd', '2 * nc', 'tolerances that will do [m], [rad] of a constraint']
    link_offset: Annotated[Floats, 'd', '12 * nl', 'link in its column [dimensionless, L]']
    value_in: Annotated[Floats, 'd', 'nx', 'positions that are given [rad or m]']
    pose_in: Annotated[Floats, 'd', '3 * nl', 'positions of links that are given [m]']
    quat_in: Annotated[Floats, 'd', '4 * nl', 'orientations xyzw of links that are given']
    rate_in: Annotated[Floats, 'd', 'nx', 'velocities that are given [per s]']
    effort_in: Annotated[Floats, 'd', 'nx', 'efforts that are given [N or N m]']
    numbers: Annotated[Floats, 'd', 'RESULTS', 'scalars, RESULT_*']
    velocity: Annotated[Floats, 'd', 'nq', 'velocities of all joints [rad/s or m/s]']
    act_position: Annotated[Floats, 'd', 'na', 'actuators [rad or m]']
    act_velocity: Annotated[Floats, 'd', 'na', '[rad/s or m/s]']
    act_effort: Annotated[Floats, 'd', 'na', '[N m or N]']
    row_position: Annotated[Floats, 'd', 'ny', 'joint space; of a link position, rotation vector']
    row_velocity: Annotated[Floats, 'd', 'ny', '[rad/s or m/s]']
    row_effort: Annotated[Floats, 'd', 'ny', '[N m or N]']
    motion: Annotated[Floats, 'd', 'nq * na', 'd q / d actuator']
    ratio: Annotated[Floats, 'd', 'ny * na', 'd joint space / d actuator']
    rows: Annotated[Floats, 'd', 'nr * nv', 'the Jacobian of the closures while it is reduced']
    scale: Annotated[Floats, 'd', 'na', 'd variable / d actuator [rad or L per rad or m]']
    rest: Annotated[Floats, 'd', 'nr', 'the residual while it is reduced [L or rad]']
    gain: Annotated[Floats, 'd', 'nv * na', 'd variable / d variable of an actuator [rad, L]']
    idle: Annotated[Floats, 'd', 'nv * ni', 'orthonormal motions without any actuator [rad, L]']
    excess: Annotated[Floats, 'd', 'na2', 'orthonormal conditions that actuators must satisfy']
    tall: Annotated[Floats, 'd', 'nx * nt', 'orthonormal factor of the ratio or its transpose']
    upper: Annotated[Floats, 'd', 'nt2', 'its triangular factor']
    scratch: Annotated[Floats, 'd', 'nx', '[any]']
    q_before: Annotated[Floats, 'd', 'nq', 'joint values before a part of the way [rad or m]']
    q_ahead: Annotated[Floats, 'd', 'nq', 'joint values that the motion predicts [rad or m]']
    pose_now: Annotated[Floats, 'd', '12 * nl', 'frames of the links [dimensionless, m]']
    way: Annotated[Floats, 'd', 'nx', 'what is left to the given position [rad or m]']
    way_actuators: Annotated[Floats, 'd', 'na', 'the same for the actuators']
    position_part: Annotated[Floats, 'd', '3 * nl', 'positions of links for a part of the way [m]']
    quat_part: Annotated[Floats, 'd', '4 * nl', 'orientations for a part of the way']


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

# Takes (p, d) and returns a `Transmit`.
open_transmit: Callable[..., Transmit] = opener(Transmit, 'pd', fixed={'RESULTS': RESULTS})


@kernel
def write_scales(s: Solve, t: Transmit) -> None:
    """Write d variable / d actuator of each actuator's own variable."""
    for a in range(t.na):
        j = t.act_column[a]
        rate = s.rate[j]
        if abs(rate) < 1e-12:
            rate = 1e-12
        t.scale[a] = 1.0 / (rate * unit_of_column(s, j))


@kernel
def add_condition(s: Solve, t: Transmit, row: Floats, count: int) -> int:
    """
    Add the actuators' part of a row to the orthonormal conditions e with e D^(-1/2) du = 0.

    D are the weights of the efforts. Return the number of conditions.
    """
    na = t.na
    if count >= na:
        return count
    at, before = t.excess[count * na :], 0.0
    for a in range(na):
        v = s.var[t.act_column[a]]
        at[a] = row[v] * t.scale[a] * t.root[a]
        before += at[a] * at[a]
    for _ in range(2):
        for e in range(count):
            other, along = t.excess[e * na :], 0.0
            for a in range(na):
                along += at[a] * other[a]
            for a in range(na):
                at[a] -= along * other[a]
    after = 0.0
    for a in range(na):
        after += at[a] * at[a]
    if after <= NOTHING * before:
        return count
    for a in range(na):
        at[a] /= sqrt(after)
    return count + 1


@rare
def reduce_loops(s: Solve, t: Transmit, closed: bool) -> int:
    """
    Solve the rows of the closures for passive variables, by Gauss and Jordan's elimination.

    Every row is solved for the passive variable with its largest coefficient. What is left of a
    row without any is a condition for the actuators, or nothing. While loops are not `closed`,
    what is set is locked. Return the number of solved rows.
    """
    nv, kinds = t.nv, t.variable if closed else t.closing
    count, excess, least = 0, 0, 1.0
    # Away from the closed configuration redundant rows are only nearly so.
    nothing = NOTHING if closed else NEARLY_NOTHING
    if closed:
        write_scales(s, t)
    for v in range(nv):
        t.solved[v] = 0
    for c in range(s.nc):
        if s.constraints[c, CON_LEVEL] > 0.0:
            continue
        for r in range(6 * c, s.row_end[c]):
            if s.implied[r] == 1:
                continue
            row, size = t.rows[count * nv :], SMALLEST
            t.rest[count] = s.trial[r]
            for v in range(nv):
                row[v] = 0.0
            for slot in range(s.slot0[c], s.slot0[c + 1]):
                v = s.slot_var[slot]
                if kinds[v] != VARIABLE_LOCKED:
                    row[v] = s.jac[6 * slot + r - 6 * c]
                    size = max(size, abs(row[v]))
            for b in range(count):
                v = t.pivot[b]
                factor = row[v]
                if factor != 0.0:
                    for u in range(nv):
                        row[u] -= factor * t.rows[b * nv + u]
                    row[v] = 0.0
                    t.rest[count] -= factor * t.rest[b]
            best, most, rest = -1, 0.0, 0.0
            for v in range(nv):
                if kinds[v] != VARIABLE_PASSIVE:
                    rest = max(rest, abs(row[v]))
                elif abs(row[v]) > most:
                    best, most = v, abs(row[v])
            if most > nothing * size:
                least = min(least, most / size)
                factor = 1.0 / row[best]
                for v in range(nv):
                    row[v] *= factor
                row[best] = 1.0
                t.rest[count] *= factor
                t.pivot[count] = best
                t.solved[best] = 1
                count += 1
            elif closed and rest > NOTHING * size:
                excess = add_condition(s, t, row, excess)
    for b in range(count - 1, 0, -1):
        v = t.pivot[b]
        for above in range(b):
            row = t.rows[above * nv :]
            factor = row[v]
            if factor != 0.0:
                for u in range(nv):
                    row[u] -= factor * t.rows[b * nv + u]
                t.rest[above] -= factor * t.rest[b]
    t.numbers[RESULT_EXCESS] = excess
    t.numbers[RESULT_PIVOT] = least
    return count


@rare
def write_idle(s: Solve, t: Transmit, kinds: Ints, count: int) -> None:
    """
    Write an orthonormal basis of the motions of passive variables alone, from the solved rows.

    There is one for each passive variable that no row was solved for.
    """
    nv = t.nv
    found = 0
    for v in range(nv):
        if kinds[v] != VARIABLE_PASSIVE or t.solved[v] == 1:
            continue
        if found < t.ni:
            at = t.idle[found * nv :]
            for u in range(nv):
                at[u] = 0.0
            at[v] = 1.0
            for b in range(count):
                at[t.pivot[b]] = -t.rows[b * nv + v]
            remove_idle(t, found, at, 1)
            square = 0.0
            for u in range(nv):
                square += at[u] * at[u]
            for u in range(nv):
                at[u] /= sqrt(square)
        found += 1
    t.numbers[RESULT_IDLE] = found


@rare
def remove_idle(t: Transmit, count: int, into: Floats, stride: int) -> None:
    """Take the part along the first idle motions out of the variables `into`, by strides."""
    for e in range(min(count, t.ni)):
        own, along = t.idle[e * t.nv :], 0.0
        for u in range(t.nv):
            along += into[stride * u] * own[u]
        for u in range(t.nv):
            into[stride * u] -= along * own[u]


@kernel
def write_gain(s: Solve, t: Transmit, count: int) -> None:
    """
    Write G of dx = G du, theory.md, eq. (13), from the solved rows.

    Motions that no actuator determines are left out: G has no part along them.
    """
    nv, na = t.nv, t.na
    for k in range(nv * na):
        t.gain[k] = 0.0
    for a in range(na):
        own = s.var[t.act_column[a]]
        t.gain[own * na + a] = 1.0
        for b in range(count):
            t.gain[t.pivot[b] * na + a] = -t.rows[b * nv + own]
        remove_idle(t, int(t.numbers[RESULT_IDLE]), t.gain[a:], na)


@rare
def project(t: Transmit, matrix: Floats, rows: int) -> None:
    """
    Multiply a matrix (rows, na) by P, which takes velocities to the nearest that agree.

    P = D^(1/2) (1 - E^T E) D^(-1/2), with the orthonormal conditions E and the weights D of the
    efforts; its transpose takes efforts to those of least norm with the same power.
    """
    na = t.na
    for e in range(int(t.numbers[RESULT_EXCESS])):
        condition = t.excess[e * na :]
        for r in range(rows):
            at, along = matrix[r * na :], 0.0
            for a in range(na):
                along += at[a] * t.root[a] * condition[a]
            for a in range(na):
                at[a] -= along * condition[a] / t.root[a]


@kernel
def write_motion(s: Solve, t: Transmit) -> None:
    """Write dq / du in [rad or m] for all columns of the chain; of a ball Euler rates."""
    na = t.na
    for k in range(t.nq * na):
        t.motion[k] = 0.0
    for j in range(s.n):
        v = s.var[j]
        if v < 0:
            continue
        at = t.motion[s.column_q[j] * na :]
        if s.ball[j] > 0 and s.free_ball[v] == 1:
            if s.ball[j] != 1:
                continue
            y, x = s.var[j + 1], s.var[j + 2]
            at_y = t.motion[s.column_q[j + 1] * na :]
            at_x = t.motion[s.column_q[j + 2] * na :]
            for a in range(na):
                scale = t.scale[a]
                rx, ry, rz = euler_rates(
                    s.x[x], s.x[y], t.gain[x * na + a], t.gain[y * na + a], t.gain[v * na + a]
                )
                at[a], at_y[a], at_x[a] = scale * rz, scale * ry, scale * rx
        else:
            factor = s.rate[j] * unit_of_column(s, j)
            for a in range(na):
                at[a] = factor * t.gain[v * na + a] * t.scale[a]
    project(t, t.motion, t.nq)


@rare
def write_link_rows(s: Solve, t: Transmit, link: int, first: int) -> None:
    """Write the six rows of a link to `ratio`: its geometric Jacobian by the actuators."""
    na = t.na
    for k in range(first * na, (first + 6) * na):
        t.ratio[k] = 0.0
    point, length = t.pose_now[12 * link + 9 :], s.length
    j = t.link_column[link]
    while j >= 0:
        v = s.var[j]
        if v >= 0:
            of, k = j, 2
            ball = s.ball[j]
            if ball > 0 and s.free_ball[v] == 1:
                # As in `jacobian.add_entry`.
                of += 3 - ball
                k = 1 if ball == 1 else (0 if ball == 2 else 2)
            frame = s.frame[12 * of :]
            ax, ay, az = axis(frame, k)
            rate = s.rate[j]
            lx = point[0] - length * frame[9]
            ly = point[1] - length * frame[10]
            lz = point[2] - length * frame[11]
            for a in range(na):
                turn = rate * t.gain[v * na + a] * t.scale[a]
                at = t.ratio[first * na + a :]
                if s.prismatic[j] == 1:
                    at[0] += length * turn * ax
                    at[na] += length * turn * ay
                    at[2 * na] += length * turn * az
                else:
                    at[0] += turn * (ay * lz - az * ly)
                    at[na] += turn * (az * lx - ax * lz)
                    at[2 * na] += turn * (ax * ly - ay * lx)
                    at[3 * na] += turn * ax
                    at[4 * na] += turn * ay
                    at[5 * na] += turn * az
        j = s.parent[j]


@rare
def place_link(s: Solve, t: Transmit, link: int, first: int) -> None:
    """Write the frame of a link, and its position and rotation vector to the joint space."""
    pose, j = t.pose_now[12 * link :], t.link_column[link]
    own = frame_rows(t.link_offset, 12 * link)
    if j >= 0:
        own = compose(s.frame, 12 * j, own)
    put_frame(own, s.scratch, 0)
    for k in range(12):
        pose[k] = s.scratch[k] * (s.length if k > 8 else 1.0)
    for k in range(3):
        t.row_position[first + k] = pose[9 + k]
    (t.row_position[first + 3], t.row_position[first + 4], t.row_position[first + 5]) = (
        log_rotation(
            pose[0], pose[1], pose[2], pose[3], pose[4], pose[5], pose[6], pose[7], pose[8]
        )
    )


@kernel
def write_ratio(s: Solve, t: Transmit) -> None:
    """Write positions of actuators and joint space, and d joint space / d actuator."""
    na, row = t.na, 0
    for a in range(na):
        j = t.act_column[a]
        t.act_position[a] = s.q[s.column_q[j]]
    while row < t.ny and t.row_place[row] >= 0:
        place = t.row_place[row]
        t.row_position[row] = s.q[place]
        for a in range(na):
            t.ratio[row * na + a] = t.motion[place * na + a]
        row += 1
    for link in range(t.nl):
        place_link(s, t, link, row)
        write_link_rows(s, t, link, row)
        project(t, t.ratio[row * na :], 6)
        row += 6


@rare
def factorise_ratio(t: Transmit) -> None:
    """
    Factorise the ratio J, or its transpose if it is wide, into an orthonormal and an upper factor.

    Gram and Schmidt's method, twice, with the column of the largest remainder first. Columns keep
    their indices in both factors, since their order is found on the way. Those that are
    combinations of others are left out; their diagonal is 0.
    """
    na, nx, nt = t.na, t.nx, t.nt
    wide = t.ny < na
    for c in range(nt):
        square = 0.0
        for r in range(nx):
            value = t.ratio[c * na + r] if wide else t.ratio[r * na + c]
            t.tall[c * nx + r] = value
            square += value * value
        t.scratch[c] = square
        t.order[c] = c
    least = 1.0
    for n in range(nt):
        best, most = n, -1.0
        for m in range(n, nt):
            c, square = t.order[m], 0.0
            for r in range(nx):
                square += t.tall[c * nx + r] * t.tall[c * nx + r]
            if square > most:
                best, most = m, square
        c = t.order[best]
        t.order[best] = t.order[n]
        t.order[n] = c
        whole = t.scratch[c]
        if most <= NOTHING * NOTHING * whole:
            least = 0.0
            t.upper[n * nt + c] = 0.0
            continue
        least = min(least, sqrt(most / whole))
        # Once more against the columns before, which takes their rounding out.
        for before in range(n):
            b, along = t.order[before], 0.0
            if t.upper[before * nt + b] == 0.0:
                continue
            for r in range(nx):
                along += t.tall[b * nx + r] * t.tall[c * nx + r]
            for r in range(nx):
                t.tall[c * nx + r] -= along * t.tall[b * nx + r]
            t.upper[before * nt + c] += along
        most = 0.0
        for r in range(nx):
            most += t.tall[c * nx + r] * t.tall[c * nx + r]
        t.upper[n * nt + c] = sqrt(most)
        for r in range(nx):
            t.tall[c * nx + r] /= sqrt(most)
        for m in range(n + 1, nt):
            other, along = t.order[m], 0.0
            for r in range(nx):
                along += t.tall[c * nx + r] * t.tall[other * nx + r]
            for r in range(nx):
                t.tall[other * nx + r] -= along * t.tall[c * nx + r]
            t.upper[n * nt + other] = along
    t.numbers[RESULT_RATIO] = least


@rare
def least_squares(t: Transmit, given: Floats, out: Floats) -> None:
    """Write the x with the least |M x - b| for the factored tall matrix M, b = `given`."""
    nx, nt = t.nx, t.nt
    for n in range(nt - 1, -1, -1):
        c, total = t.order[n], 0.0
        if t.upper[n * nt + c] != 0.0:
            for r in range(nx):
                total += t.tall[c * nx + r] * given[r]
            for m in range(n + 1, nt):
                other = t.order[m]
                total -= t.upper[n * nt + other] * out[other]
            total /= t.upper[n * nt + c]
        out[c] = total


@rare
def least_norm(t: Transmit, given: Floats, out: Floats) -> None:
    """Write the z with the least |z| for which M^T z = c, M as above, c = `given`."""
    nx, nt = t.nx, t.nt
    for n in range(nt):
        c = t.order[n]
        total = 0.0
        if t.upper[n * nt + c] != 0.0:
            total = given[c]
            for m in range(n):
                total -= t.upper[m * nt + c] * t.scratch[m]
            total /= t.upper[n * nt + c]
        t.scratch[n] = total
    for r in range(nx):
        total = 0.0
        for n in range(nt):
            total += t.scratch[n] * t.tall[t.order[n] * nx + r]
        out[r] = total


@kernel
def to_actuator_rates(t: Transmit, given: Floats, out: Floats) -> None:
    """Write J^+ dy to `out`, the actuators' part of a motion dy of the joint space."""
    if t.ny < t.na:
        least_norm(t, given, out)
    else:
        least_squares(t, given, out)
    project(t, out, 1)


@rare
def multiply(t: Transmit, matrix: Floats, rows: int, given: Floats, out: Floats) -> None:
    """Write M x to `out`, with M (rows, na) and x = `given`."""
    na = t.na
    for r in range(rows):
        total = 0.0
        for a in range(na):
            total += matrix[r * na + a] * given[a]
        out[r] = total


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
            open_by = max(open_by, abs(s.trial[r]))
        closed = not closes or open_by <= CLOSED
        if not closed and (steps == NEWTON_STEPS or open_by > PART):
            return False
        jacobian(s)
        if s.groups > 0:
            store_grouped_rows(s)
            choose_independent_rows(s)
        kinds = t.variable if closed else t.closing
        count = reduce_loops(s, t, closed)
        write_idle(s, t, kinds, count)
        if closed:
            break
        for v in range(s.nv):
            s.step[v] = 0.0
        for b in range(count):
            s.step[t.pivot[b]] = -t.rest[b]
        remove_idle(t, int(t.numbers[RESULT_IDLE]), s.step, 1)
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
    misfit = 0.0
    if t.inverse == 1:
        to_actuator_rates(t, t.rate_in, t.act_velocity)
        multiply(t, t.ratio, t.ny, t.act_velocity, t.row_velocity)
        for r in range(t.ny):
            misfit = max(misfit, abs(t.row_velocity[r] - t.rate_in[r]))
    else:
        for a in range(t.na):
            t.act_velocity[a] = t.rate_in[a] / t.root[a]
        for e in range(int(t.numbers[RESULT_EXCESS])):
            condition, along = t.excess[e * t.na :], 0.0
            for a in range(t.na):
                along += t.act_velocity[a] * condition[a]
            for a in range(t.na):
                t.act_velocity[a] -= along * condition[a]
        for a in range(t.na):
            t.act_velocity[a] *= t.root[a]
            misfit = max(misfit, abs(t.act_velocity[a] - t.rate_in[a]))
        multiply(t, t.ratio, t.ny, t.act_velocity, t.row_velocity)
    multiply(t, t.motion, t.nq, t.act_velocity, t.velocity)
    t.numbers[RESULT_MISFIT] = misfit


@kernel
def write_efforts(t: Transmit) -> None:
    """Write efforts by virtual work, tau_u = J^T tau_y, or for a given tau_u the least tau_y."""
    na = t.na
    if t.inverse == 1:
        for r in range(t.ny):
            t.row_effort[r] = t.effort_in[r]
        for a in range(na):
            total = 0.0
            for r in range(t.ny):
                total += t.ratio[r * na + a] * t.effort_in[r]
            t.act_effort[a] = total
        return
    for a in range(na):
        t.act_effort[a] = t.effort_in[a]
    if t.ny < na:
        least_squares(t, t.effort_in, t.row_effort)
    else:
        least_norm(t, t.effort_in, t.row_effort)


@rare
def write_way(s: Solve, t: Transmit) -> float:
    """Write what is left to the given position to `way`; return its largest part [rad or L]."""
    most = 0.0
    row = t.ny - 6 * t.nl if t.inverse == 1 else t.na
    for r in range(row):
        if t.inverse == 1:
            left = t.value_in[r] - s.q[t.row_place[r]]
        else:
            left = t.value_in[r] - s.q[s.column_q[t.act_column[r]]]
        t.way[r] = left
    for g in range(t.ng):
        most = max(most, abs(t.way[t.given_row[g]]) / t.given_unit[g])
    if t.inverse == 1:
        for link in range(t.nl):
            pose, quat = t.pose_now[12 * link :], t.quat_in[4 * link :]
            x, y, z, real = quaternion_at(pose, 0)
            # The turn from now to what is given: the product of it and the conjugate of now.
            gx, gy, gz, gw = quat[0], quat[1], quat[2], quat[3]
            rx = gx * real - gw * x - gy * z + gz * y
            ry = gy * real - gw * y - gz * x + gx * z
            rz = gz * real - gw * z - gx * y + gy * x
            rw = gw * real + gx * x + gy * y + gz * z
            if rw < 0.0:
                rx, ry, rz, rw = -rx, -ry, -rz, -rw
            sine = sqrt(rx * rx + ry * ry + rz * rz)
            factor = 2.0 * atan2(sine, rw) / sine if sine > 1e-12 else 2.0
            way = t.way[row + 6 * link :]
            for k in range(3):
                way[k] = t.pose_in[3 * link + k] - pose[9 + k]
                most = max(most, abs(way[k]) / s.length)
            way[3], way[4], way[5] = factor * rx, factor * ry, factor * rz
            for k in range(3, 6):
                most = max(most, abs(way[k]))
    return most


@rare
def predict(s: Solve, t: Transmit, share: float) -> float:
    """
    Write to q_ahead where the motion leads on a share of the way; return its largest part.

    It counts in [rad or L], for joints other than balls.
    """
    most, way = 0.0, t.way
    if t.inverse == 1:
        to_actuator_rates(t, t.way, t.way_actuators)
        way = t.way_actuators
    multiply(t, t.motion, t.nq, way, t.q_ahead)
    for v in range(s.nv):
        most = max(most, abs(share * t.q_ahead[s.var_q[v]]) / s.unit[v])
    for g in range(t.nq):
        value = s.q[g] + share * t.q_ahead[g]
        value = max(value, s.joints[JOINT_LOWER, g])
        t.q_ahead[g] = min(value, s.joints[JOINT_UPPER, g])
    return most


@rare
def set_part(s: Solve, t: Transmit, share: float) -> bool:
    """
    Set the given joint values, and the given poses, to a share of the way.

    Return False if a joint is kept back by its limits.
    """
    within = True
    for g in range(t.ng):
        row, place = t.given_row[g], t.given_place[g]
        value = t.value_in[row] - (1.0 - share) * t.way[row]
        value = (value - t.given_offset[g]) / t.given_scale[g]
        least, most = s.joints[JOINT_LOWER, place], s.joints[JOINT_UPPER, place]
        s.q[place] = min(max(value, least), most)
        within = within and s.q[place] == value
    for link in range(t.nl * t.inverse):
        pose = t.pose_now[12 * link :]
        x, y, z, real = quaternion_at(pose, 0)
        quat, to = t.quat_in[4 * link :], t.quat_part[4 * link :]
        along = x * quat[0] + y * quat[1] + z * quat[2] + real * quat[3]
        rest = (1.0 - share) * (1.0 if along >= 0.0 else -1.0)
        to[0] = share * quat[0] + rest * x
        to[1] = share * quat[1] + rest * y
        to[2] = share * quat[2] + rest * z
        to[3] = share * quat[3] + rest * real
        for k in range(3):
            t.position_part[3 * link + k] = (
                share * t.pose_in[3 * link + k] + (1.0 - share) * pose[9 + k]
            )
    return within


@kernel
def is_closed(s: Solve, t: Transmit) -> bool:
    """Return True if every constraint is within its own tolerance; the solve asks for more."""
    for c in range(s.nc):
        position = t.loose[2 * c] + s.constraints[c, CON_TRANSLATION_MISFIT]
        orientation = t.loose[2 * c + 1] + s.constraints[c, CON_ROTATION_MISFIT]
        if not (s.error[2 * c] <= position and s.error[2 * c + 1] <= orientation):
            return False
    return True


@kernel
def stays_on_branch(s: Solve, t: Transmit, moved: float) -> bool:
    """Return True if closing the loops changed little of the motion that was predicted."""
    for v in range(s.nv):
        g = s.var_q[v]
        off = abs(s.q[g] - t.q_ahead[g]) / s.unit[v]
        if off > CORRECTION * moved + ACCEPTED and s.free_ball[v] == 0:
            return False
    return True


@kernel
def are_finite(t: Transmit, gives: int) -> bool:
    """Return True if all numbers that a call gives are finite and not too large."""
    fine, count = True, t.ny if t.inverse == 1 else t.na
    for r in range(count):
        if gives & GIVES_POSITION and r < count - 6 * t.nl * t.inverse:
            fine = fine and abs(t.value_in[r]) <= LARGEST
        if gives & GIVES_VELOCITY:
            fine = fine and abs(t.rate_in[r]) <= LARGEST
        if gives & GIVES_EFFORT:
            fine = fine and abs(t.effort_in[r]) <= LARGEST
    if gives & GIVES_POSITION:
        for k in range(7 * t.nl * t.inverse):
            fine = fine and abs(t.pose_in[k]) <= LARGEST
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
        return now.STATUS_REFUSED
    moves, quick = gives & GIVES_POSITION != 0, t.nl * t.inverse + s.groups == 0
    stage = STAGE_LINEAR if gives & TRACKED != 0 else STAGE_PLACE
    status, parts, share, moved = now.STATUS_CONVERGED, 0, 1.0, 0.0
    under_way, blocked, arrived, within = False, False, False, True
    while True:
        if stage == STAGE_PLACE:
            if not start_solve(s):
                return now.STATUS_REFUSED
        elif stage == STAGE_CLOSE:
            set_bounds(s)
        if stage != STAGE_LINEAR:
            done = stage != STAGE_SOLVE and linear_part(s, t, stage == STAGE_CLOSE)
            if stage == STAGE_CLOSE and done:
                done = stays_on_branch(s, t, moved)
            if not done:
                for g in range(s.nq):
                    s.q[g] = t.q_ahead[g]
                within = set_part(s, t, share)
                status = advance(
                    i,
                    f,
                    k,
                    w,
                    q,
                    joints,
                    options,
                    start_of(t.position_part),
                    start_of(t.quat_part),
                    t.nl * t.inverse,
                    -STEPS,
                )
                stage = STAGE_SOLVED
                if (
                    status in (now.STATUS_REFUSED, now.STATUS_RUNNING)
                    or not is_closed(s, t)
                    or not stays_on_branch(s, t, moved)
                ):
                    for g in range(s.nq):
                        s.q[g] = t.q_before[g]
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
            t.q_before[g] = s.q[g]
        moved = predict(s, t, share)
        if moved > LONGEST:
            share *= LONGEST / moved
            moved = predict(s, t, share)
        for g in range(s.nq):
            s.q[g] = t.q_ahead[g]
        within = set_part(s, t, share)
        under_way = True
        stage = STAGE_CLOSE if quick else STAGE_SOLVE
    status = now.STATUS_CONVERGED if within and not blocked else now.STATUS_STALLED
    if moves:
        write_way(s, t)
        off = 0.0
        for r in range(t.nx):
            if r < (t.ny if t.inverse == 1 else t.na):
                off = max(off, abs(t.way[r]))
        t.numbers[RESULT_OFF] = off
        if status == now.STATUS_CONVERGED and off > REACHED:
            status = now.STATUS_STALLED
    if gives & GIVES_VELOCITY:
        write_rates(t)
    if gives & GIVES_EFFORT:
        write_efforts(t)
    return int(status)
