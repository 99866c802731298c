"""
Position, velocity and effort between actuators and a joint space, through closed loops.

With the Jacobian A of the closures, theory.md, section 4, velocities satisfy A dx = 0. Its rows,
made orthonormal in the passive variables, give dx = G du for those of the actuators, theory.md,
eq. (13); what remains of the others are conditions which redundant actuators must satisfy
together. What a transmission needs besides a `Solve` is in two packed arrays, `p` (integers) and
`d` (floats), whose fields `Transmit` names.
"""

from collections.abc import Callable
from math import sqrt
from typing import Annotated, NamedTuple

from ik_node.kernels import continue_to, layout
from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import entry, FLOATS, INT, INTS, kernel, rare
from ik_node.kernels.fields import lengths_of, opener
from ik_node.kernels.forward import forward, place_b_frames
from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.layout import Floats, Ints, LARGEST, open_solve, Solve, unit_of_column
from ik_node.kernels.orthonormal import orthonormalise
from ik_node.kernels.redundant import choose_independent_rows, reduce_rows, store_grouped_rows
from ik_node.kernels.rotation import euler_rates, log_rotation, matrix_at, quaternion_at
from ik_node.kernels.rows import residuals
from ik_node.kernels.solve import write_answer
from ik_node.kernels.start import all_within_tolerance, set_bounds, start_solve
from ik_node.kernels.step import apply_step


class Transmit(NamedTuple):
    """
    One direction of a transmission: its sizes and its fields.

    A field is annotated with its packed array, its length and what it holds. Rows are those of the
    actuators, then those of the joint space: its joint values, then six for each link, linear
    velocity of the origin and angular velocity, root axes.
    """

    p_size: int  # lengths of the two arrays
    d_size: int
    na: int  # actuators
    ny: int  # rows of the joint space
    nl: int  # links in it
    ng: int  # joint values that are set: actuators, or independent values of the joint space
    ni: int  # rows that are given: na or ny
    stride: int  # numbers of a row of the loops: variables, actuators, residual, size
    factor: int  # numbers of a row of the ratio: itself, its combination of rows, size
    nq: int  # joint values
    nv: int  # variables of the chain
    nr: int  # rows of its constraints
    inverse: int  # 1 = the joint space is given, 0 = the actuators are
    variable: Annotated[Ints, 'p', 'nv', 'VARIABLE_*, or the actuator that moves it']
    row_column: Annotated[Ints, 'p', 'na + ny', 'column of a joint value; -1 = row of a link']
    given_row: Annotated[Ints, 'p', 'ng', 'which of the given rows a value that is set is']
    rank: Annotated[Ints, 'p', '1', 'number of independent rows of the loops']
    root: Annotated[Floats, 'd', 'na', 'root of the weight of an effort in the least norm [1]']
    value_in: Annotated[Floats, 'd', 'ni', 'positions that are given [rad or m]']
    pose_in: Annotated[Floats, 'd', '7 * nl', 'poses of links that are given [m], xyzw']
    rate_in: Annotated[Floats, 'd', 'ni', 'velocities that are given [per s]']
    effort_in: Annotated[Floats, 'd', 'ni', 'efforts that are given [N or N m]']
    numbers: Annotated[Floats, 'd', 'RESULTS', 'scalars, RESULT_*']
    velocity: Annotated[Floats, 'd', 'nq', 'velocities of all joints [rad/s or m/s]']
    position: Annotated[Floats, 'd', 'na + ny', 'of rows; of a link position, rotation vector']
    rate: Annotated[Floats, 'd', 'na + ny', 'velocities of rows [rad/s or m/s]']
    effort: Annotated[Floats, 'd', 'na + ny', 'efforts of rows [N m or N]']
    motion: Annotated[Floats, 'd', 'nq * na', 'd q / d actuator']
    ratio: Annotated[Floats, 'd', 'ny * na', 'd joint space / d actuator']
    back: Annotated[Floats, 'd', 'na * ny', 'pseudo-inverse of the ratio']
    rows: Annotated[Floats, 'd', 'nr * stride', 'rows of the loops, made orthonormal']
    scale: Annotated[Floats, 'd', 'na', 'd variable / d actuator [rad or L per rad or m]']
    gain: Annotated[Floats, 'd', 'nv * na', 'd variable / d variable of each actuator [rad, L]']
    ratio_rows: Annotated[Floats, 'd', 'ny * factor', 'the ratio or its transpose, orthonormal']
    q_before: Annotated[Floats, 'd', 'nq', 'joint values before a part of the way [rad or m]']
    q_ahead: Annotated[Floats, 'd', 'nq', 'their whole change, then values predicted [rad or m]']
    left: Annotated[Floats, 'd', 'ni', 'difference to the given position [rad or m]']
    pose_part: Annotated[Floats, 'd', '7', 'pose of a link at a share of the way [m], xyzw']


# What a variable is, if no actuator moves it.
VARIABLE_PASSIVE, VARIABLE_LOCKED = -1, -2

# What a call gives, besides q; TRACKED: `motion` and `ratio` are those at q.
GIVES_POSITION, GIVES_VELOCITY, GIVES_EFFORT, TRACKED = 1, 2, 4, 8

# Scalars of a result.
(
    RESULT_EXCESS,  # conditions that actuators must satisfy together
    RESULT_IDLE,  # motions of passive joints that no actuator determines
    RESULT_PIVOT,  # least share of a row of the loops that is left, near 0 = singular, type II
    RESULT_RATIO,  # the same of the ratio, 0 = some direction of the joint space is lost
    RESULT_MISFIT,  # largest disagreement of velocities that were given [per s]
) = range(5)
RESULTS = 5

SIZES, FIELDS = lengths_of(Transmit)
PACKED, FIXED = 'pd', {'RESULTS': RESULTS}

# A remainder below this share of its row is rounding; while loops are closed, since away from the
# closed configuration redundant rows are only nearly so; of a condition. A row counts at least as
# this large [1]: smaller coefficients of all its variables are rounding.
NOTHING, NEARLY_NOTHING, SAME_CONDITION, SMALLEST = 1e-7, 1e-3, 3e-4, 1e-4
# Longest part of a way [rad or L], of what is given. How a part is limited, see `continue_to`.
PART = 0.1
LONGEST, BEND, LEAST = (
    each[continue_to.TRANSMISSION]
    for each in (continue_to.LONGEST, continue_to.BEND, continue_to.LEAST)
)
# Corrections below this are always accepted [rad or L].
ACCEPTED = 1e-4
# A residual below this is rounding [rad or L]; most steps of Newton's method; largest number of
# parts of a way.
CLOSED, NEWTON_STEPS, PARTS = 1e-11, 6, 2000
# A joint or link is where it should be within this distance [rad or m].
REACHED = 1e-6

# Takes (p, d) and returns a `Transmit`.
open_transmit: Callable[..., Transmit] = opener(Transmit, PACKED, fixed=FIXED)


@kernel
def least_share(rows: Floats, count: int, stride: int) -> float:
    """Return the least share of independent rows."""
    least = 1.0
    for n in range(count):
        least = min(least, rows[n * stride + stride - 1])
    return least


@kernel
def is_held(s: Solve, t: Transmit, c: int) -> bool:
    """Return True for closures, and for links whose poses are given."""
    return bool(s.constraints[c, layout.CON_LEVEL] == 0.0 or t.inverse == 1)


@kernel
def reduce_loops(s: Solve, t: Transmit, closed: bool) -> None:
    """
    Make the rows of the closures orthonormal in the passive variables.

    While loops are closed, all variables are passive that may move, and given poses of links are
    rows as well. With closed loops, what is left of a row without any is a condition for the
    actuators, or nothing: the orthonormal conditions e with e D^(-1/2) du = 0, with the weights D
    of the efforts, follow the independent rows.
    """
    nv, na, count, idle = t.nv, t.na, 0, 0
    for v in range(nv):
        if closed:
            s.fixed[v] = t.variable[v]
        if s.fixed[v] == VARIABLE_PASSIVE:
            idle += 1
    for c in range(s.nc):
        if not is_held(s, t, c) or (closed and s.constraints[c, layout.CON_LEVEL] > 0.0):
            continue
        for r in range(6 * c, s.row_end[c]):
            if s.implied[r] == 1:
                continue
            row, size = t.rows[count * t.stride :], SMALLEST
            for v in range(t.stride):
                row[v] = 0.0
            for slot in range(s.slot0[c], s.slot0[c + 1]):
                v = s.slot_var[slot]
                kind = s.fixed[v]
                if kind != VARIABLE_LOCKED:
                    value = s.jac[6 * slot + r - 6 * c]
                    size = max(size, abs(value))
                    row[v if kind == VARIABLE_PASSIVE else nv + kind] = value
            row[nv + na] = s.trial[r]
            row[nv + na + 1] = size
            count += 1
    rank = orthonormalise(t.rows, count, nv, t.stride, NOTHING if closed else NEARLY_NOTHING)
    t.rank[0] = rank
    t.numbers[RESULT_IDLE] = idle - rank
    if not closed:
        return
    t.numbers[RESULT_PIVOT] = least_share(t.rows, rank, t.stride)
    for a in range(na):
        j = t.row_column[a]
        rate = s.rate[j]
        if abs(rate) < 1e-12:
            rate = 1e-12
        t.scale[a] = 1.0 / (rate * unit_of_column(s, j))
    conditions = t.rows[rank * t.stride :]
    for r in range(count - rank):
        row, square, largest = conditions[r * t.stride :], 0.0, 0.0
        for a in range(na):
            largest = max(largest, abs(row[nv + a]))
            row[a] = row[nv + a] * t.scale[a] * t.root[a]
            square += row[a] * row[a]
        if largest <= NOTHING * row[nv + na + 1]:
            for a in range(na):
                row[a] = 0.0
        row[nv + na + 1] = max(sqrt(square), 1e-300)
    excess = orthonormalise(conditions, count - rank, na, t.stride, SAME_CONDITION)
    t.numbers[RESULT_EXCESS] = excess


@kernel
def write_gain(s: Solve, t: Transmit) -> None:
    """
    Write G of dx = G du, theory.md, eq. (13), from the orthonormal rows.

    It has no part along motions that no actuator determines.
    """
    nv, na = t.nv, t.na
    for k in range(nv * na):
        t.gain[k] = 0.0
    for b in range(t.rank[0]):
        row = t.rows[b * t.stride :]
        for a in range(na):
            part, column = row[nv + a], t.gain[a * nv :]
            if part != 0.0:
                for v in range(nv):
                    column[v] -= part * row[v]
    for a in range(na):
        t.gain[a * nv + s.var[t.row_column[a]]] = 1.0


@rare
def project(t: Transmit, matrix: Floats, rows: int, back: bool) -> None:
    """
    Multiply a matrix (rows, na) by P, which takes velocities to the nearest that agree.

    P = D^(1/2) (1 - E^T E) D^(-1/2), with the orthonormal conditions E and the weights D of the
    efforts; P^T takes efforts to those of least norm with the same power. `back` multiplies by
    P^T, so that a row du becomes P du.
    """
    na = t.na
    for e in range(int(t.numbers[RESULT_EXCESS])):
        condition = t.rows[(t.rank[0] + e) * t.stride :]
        for r in range(rows):
            row, along = matrix[r * na :], 0.0
            for a in range(na):
                root = 1.0 / t.root[a] if back else t.root[a]
                along += row[a] * root * condition[a]
            for a in range(na):
                root = 1.0 / t.root[a] if back else t.root[a]
                row[a] -= along * condition[a] / root


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
        row = t.motion[s.column_q[j] * na :]
        if s.ball[j] > 0 and s.free_ball[v] == 1:
            if s.ball[j] != 1:
                continue
            y, x = s.var[j + 1], s.var[j + 2]
            row_y = t.motion[s.column_q[j + 1] * na :]
            row_x = t.motion[s.column_q[j + 2] * na :]
            for a in range(na):
                gain, scale = t.gain[a * t.nv :], t.scale[a]
                rx, ry, rz = euler_rates(s.x[x], s.x[y], gain[x], gain[y], gain[v])
                row[a], row_y[a], row_x[a] = scale * rz, scale * ry, scale * rx
        else:
            factor = s.rate[j] * unit_of_column(s, j)
            for a in range(na):
                row[a] = factor * t.gain[a * t.nv + v] * t.scale[a]
    project(t, t.motion, t.nq, False)


@rare
def write_link_rows(s: Solve, t: Transmit, c: int, first: int) -> None:
    """Write position and rotation vector of the link of goal c, and its rows of the ratio."""
    na, frame = t.na, s.a_frame[12 * c :]
    row, ratio = t.position[na + first :], t.ratio[first * na :]
    for k in range(3):
        row[k] = frame[9 + k] * s.length
    row[3], row[4], row[5] = log_rotation(matrix_at(frame, 0))
    for k in range(6 * na):
        ratio[k] = 0.0
    for slot in range(s.slot0[c], s.slot0[c + 1]):
        for k in range(6 * na):
            r, a = k // na, k % na
            gain = t.gain[a * t.nv + s.slot_var[slot]] * t.scale[a]
            ratio[k] += s.jac[6 * slot + r] * gain * (s.length if r < 3 else 1.0)
    project(t, ratio, 6, False)


@kernel
def write_ratio(s: Solve, t: Transmit) -> None:
    """Write positions of actuators and joint space, and d joint space / d actuator."""
    na, joints = t.na, t.ny - 6 * t.nl
    for row in range(na + joints):
        g = s.column_q[t.row_column[row]]
        t.position[row] = s.q[g]
        if row >= na:
            for a in range(na):
                t.ratio[(row - na) * na + a] = t.motion[g * na + a]
    for link in range(t.nl):
        write_link_rows(s, t, s.nc - t.nl + link, joints + 6 * link)


@kernel
def invert_ratio(t: Transmit) -> None:
    """
    Write the pseudo-inverse of the ratio J, from orthonormal rows Q = W J, or those of J^T.

    It is Q^T W, or its transpose. Rows that are combinations of others are left out.
    """
    na, ny = t.na, t.ny
    nt, nx, wide = min(na, ny), max(na, ny), ny < na
    for n in range(nt):
        row, square = t.ratio_rows[n * t.factor :], 0.0
        for v in range(t.factor):
            row[v] = 0.0
        for v in range(nx):
            value = t.ratio[n * na + v if wide else v * na + n]
            row[v] = value
            square += value * value
        row[nx + n] = 1.0
        row[t.factor - 1] = max(sqrt(square), 1e-300)
    rank = orthonormalise(t.ratio_rows, nt, nx, t.factor, NOTHING)
    for k in range(na * ny):
        t.back[k] = 0.0
    for b in range(rank):
        row = t.ratio_rows[b * t.factor :]
        for v in range(nx):
            for n in range(nt):
                t.back[v * ny + n if wide else n * ny + v] += row[v] * row[nx + n]
    least = least_share(t.ratio_rows, rank, t.factor)
    t.numbers[RESULT_RATIO] = least if rank == nt else 0.0


@kernel
def multiply(
    matrix: Floats, rows: int, down: int, columns: int, right: int, given: Floats, out: Floats
) -> None:
    """Write M x, with M (rows, columns), whose numbers stand `down` and `right` apart."""
    for k in range(rows):
        row, total = matrix[k * down :], 0.0
        for m in range(columns):
            total += row[m * right] * given[m]
        out[k] = total


@kernel
def to_actuator_rates(t: Transmit, given: Floats, out: Floats) -> None:
    """Write J^+ dy, the actuators' part of a motion dy of the joint space."""
    multiply(t.back, t.na, t.ny, t.ny, 1, given, out)
    project(t, out, 1, False)


@rare
def linear_part(s: Solve, t: Transmit, closes: bool) -> bool:
    """
    Write motion, ratio and its factors at x.

    If `closes`, the loops are closed first by Newton's method with the given values held; return
    False if that does not converge. A variable that a step brings to its bound stays there. The
    method stands beside the steps of `lm_step` because its rows are those of the ratio.
    """
    steps = 0
    for v in range(s.nv if closes else 0):
        s.fixed[v] = VARIABLE_LOCKED if s.lower[v] == s.upper[v] else VARIABLE_PASSIVE
    while True:
        forward(s, s.x)
        residuals(s)
        jacobian(s)
        if s.groups > 0:
            store_grouped_rows(s)
            choose_independent_rows(s)
            reduce_rows(s)
        open_by = 0.0
        for r in range(s.nr if closes else 0):
            if is_held(s, t, r // 6):
                open_by = max(open_by, abs(s.trial[r]))
        if open_by <= CLOSED:
            break
        if steps == NEWTON_STEPS or open_by > PART:
            # Loops that cannot be closed any better may have tolerances that allow it.
            if not all_within_tolerance(s, t.inverse):
                return False
            break
        reduce_loops(s, t, False)
        for v in range(s.nv):
            s.step[v] = 0.0
        for b in range(t.rank[0]):
            row = t.rows[b * t.stride :]
            for v in range(s.nv):
                s.step[v] -= row[v] * row[t.nv + t.na]
        for v in range(s.nv):
            ahead = s.x[v] + s.step[v]
            if s.free_ball[v] == 0 and (ahead < s.lower[v] or ahead > s.upper[v]):
                s.fixed[v] = VARIABLE_LOCKED
        apply_step(s, s.x, s.x)
        steps += 1
    if closes:
        write_answer(s)
    reduce_loops(s, t, True)
    write_gain(s, t)
    write_motion(s, t)
    write_ratio(s, t)
    invert_ratio(t)
    return True


@kernel
def write_rates(t: Transmit) -> None:
    """Write velocities, dq = (dq/du) du and dy = J du, or for a given dy du = J^+ dy."""
    misfit, made = 0.0, t.rate[t.na * t.inverse :]
    if t.inverse == 1:
        to_actuator_rates(t, t.rate_in, t.rate)
    else:
        for a in range(t.na):
            t.rate[a] = t.rate_in[a]
        project(t, t.rate, 1, True)
    multiply(t.ratio, t.ny, t.na, t.na, 1, t.rate, t.rate[t.na :])
    multiply(t.motion, t.nq, t.na, t.na, 1, t.rate, t.velocity)
    for k in range(t.ni):
        misfit = max(misfit, abs(made[k] - t.rate_in[k]))
    t.numbers[RESULT_MISFIT] = misfit


@kernel
def write_efforts(t: Transmit) -> None:
    """Write efforts by virtual work, tau_u = J^T tau_y, or for a given tau_u the least tau_y."""
    na, ny, given = t.na, t.ny, t.effort[t.na * t.inverse :]
    for r in range(t.ni):
        given[r] = t.effort_in[r]
    if t.inverse == 1:
        multiply(t.ratio, na, 1, ny, na, t.effort_in, t.effort)
    else:
        multiply(t.back, ny, 1, na, ny, t.effort_in, t.effort[na:])


@rare
def aim_links(s: Solve, t: Transmit, share: float) -> None:
    """Set the goals of links to a share of the way from their poses to those that are given."""
    for link in range(t.nl):
        c, given, part = s.nc - t.nl + link, t.pose_in[7 * link :], t.pose_part
        for k in range(3):
            part[k] = s.a_frame[12 * c + 9 + k] * s.length
        part[3], part[4], part[5], part[6] = quaternion_at(s.a_frame, 12 * c)
        quat = part[3:]
        continue_to.pose_between(part, quat, given, given[3:], share, part, quat)
        for k in range(7):
            s.constraints[c, layout.CON_POSE + k] = part[k]
    place_b_frames(s)


@rare
def write_left(s: Solve, t: Transmit, aimed: bool) -> float:
    """
    Write the difference to the given position; return its largest part [rad or L].

    If links are `aimed` at their given poses, the residuals are those of these poses.
    """
    largest, present = 0.0, t.position[t.na * t.inverse :]
    joints = t.ni - 6 * t.nl * t.inverse
    for r in range(joints):
        t.left[r] = t.value_in[r] - present[r]
    for g in range(t.ng):
        row = t.given_row[g]
        unit = unit_of_column(s, t.row_column[t.na * t.inverse + row])
        largest = max(largest, abs(t.left[row]) / unit)
    if t.ni > joints and not aimed:
        aim_links(s, t, 1.0)
        forward(s, s.x)
        residuals(s)
    for r in range(t.ni - joints):
        value = s.trial[s.nr - t.ni + joints + r]
        largest = max(largest, abs(value))
        t.left[joints + r] = -value * (s.length if r % 6 < 3 else 1.0)
    return largest


@rare
def predict(s: Solve, t: Transmit) -> float:
    """
    Write to q_ahead how the whole way changes all joints; return its largest part.

    It counts in [rad or L], for joints other than balls.
    """
    largest, left = 0.0, t.left
    if t.inverse == 1:
        to_actuator_rates(t, t.left, t.rate)
        left = t.rate
    multiply(t.motion, t.nq, t.na, t.na, 1, left, t.q_ahead)
    for v in range(s.nv):
        largest = max(largest, abs(t.q_ahead[s.var_q[v]]) / s.unit[v])
    return largest


@rare
def set_part(s: Solve, t: Transmit, share: float) -> bool:
    """
    Set the given joint values, and the given poses, to a share of the way; poses are at its end.

    A value that follows another one, linearly, sets its master. Return False if a joint is kept
    back by its limits.
    """
    within = True
    for g in range(t.ng):
        row = t.given_row[g]
        j = t.row_column[t.na * t.inverse + row]
        v, unit = s.var[j], unit_of_column(s, j)
        value = t.value_in[row] - (1.0 - share) * t.left[row] - unit * s.coefficients[s.width * j]
        value /= unit / s.unit[v] * s.coefficients[s.width * j + 1]
        place = s.var_q[v]
        lower, upper = s.joints[layout.JOINT_LOWER, place], s.joints[layout.JOINT_UPPER, place]
        s.q[place] = min(max(value, lower), upper)
        within = within and s.q[place] == value
    if share < 1.0 and t.nl * t.inverse > 0:
        aim_links(s, t, share)
    return within


@kernel
def are_finite(t: Transmit, gives: int) -> bool:
    """Return True if all numbers that a call gives are finite and not too large."""
    fine = True
    for r in range(t.ni):
        fine = fine and (gives & GIVES_VELOCITY == 0 or abs(t.rate_in[r]) <= LARGEST)
        fine = fine and (gives & GIVES_EFFORT == 0 or abs(t.effort_in[r]) <= LARGEST)
        if gives & GIVES_POSITION and r < t.ni - 6 * t.nl * t.inverse:
            fine = fine and abs(t.value_in[r]) <= LARGEST
    for k in range(7 * t.nl * t.inverse if gives & GIVES_POSITION else 0):
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

    The first arguments are those of `solve.advance`, for the closures and, after them, a goal for
    each link of the joint space. q (nq,) has closed loops and decides the assembly, and at the
    end is that of the result [rad or m]; in `joints`, values that are set have a window of 0.
    `plan` and `data` are the fields of `Transmit`. `gives` is the sum of GIVES_* for what `data`
    gives, and TRACKED if `data` is the result of the last call, and q its joint values. Return
    STATUS_CONVERGED; STALLED if a limit, the loops or a singularity end the way to the given
    position, and q is where it ends; REFUSED as for `advance`.

    The way to a position is divided into parts, see `continue_to`. On each the tangent predicts
    all joints, and the loops are closed with the given values held.
    """
    s, t = open_solve(i, f, k, w, q, joints, options), open_transmit(plan, data)
    if not are_finite(t, gives):
        return now.STATUS_REFUSED
    moves, placed = gives & GIVES_POSITION != 0, gives & TRACKED != 0
    parts, share = 0, 1.0
    kept, blocked, arrived, within = False, False, False, True
    while True:
        if not placed:
            if not start_solve(s):
                return now.STATUS_REFUSED
            linear_part(s, t, False)
        left = write_left(s, t, arrived and share == 1.0) if moves else 0.0
        if not moves or arrived:
            break
        if kept:
            near = left <= 10.0 * LEAST
            share = 1.0 if near else continue_to.next_share(continue_to.TRANSMISSION, share, True)
        blocked = parts == PARTS or (not kept and share < 1.0 and share * left < LEAST)
        if blocked:
            break
        parts += 1
        share = min(min(1.0, share), PART / max(left, PART))
        moved = predict(s, t)
        share *= LONGEST / max(share * moved, LONGEST)
        moved *= share
        for g in range(s.nq):
            t.q_before[g] = s.q[g]
            value = max(s.q[g] + share * t.q_ahead[g], s.joints[layout.JOINT_LOWER, g])
            s.q[g] = min(value, s.joints[layout.JOINT_UPPER, g])
        within = set_part(s, t, share)
        for g in range(s.nq):
            t.q_ahead[g] = s.q[g]
        set_bounds(s)
        kept = linear_part(s, t, True) and continue_to.is_near(
            s, t.q_ahead, BEND * moved + ACCEPTED
        )
        placed, arrived = kept, kept and (not within or share == 1.0)
        if not kept:
            for g in range(s.nq):
                s.q[g] = t.q_before[g]
            share = continue_to.next_share(continue_to.TRANSMISSION, share, False)
    for r in range(t.ni if moves else 0):
        within = within and abs(t.left[r]) <= REACHED
    if gives & GIVES_VELOCITY:
        write_rates(t)
    if gives & GIVES_EFFORT:
        write_efforts(t)
    return now.STATUS_CONVERGED if within and not blocked else now.STATUS_STALLED
