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
    The sizes and fields of a transmission.

    A field is annotated with its packed array, its length and what it holds. Rows are those of the
    actuators, then those of the joint space: its joint values, then six for each link, linear
    velocity of the origin and angular velocity, root axes.
    """

    p_size: int  # lengths of the two arrays
    d_size: int
    na: int  # actuators
    ny: int  # rows of the joint space
    nl: int  # links in it
    nm: int  # rows of the motion: joint values, then six for each link
    nv: int  # variables of the chain
    nr: int  # rows of its constraints
    stride: int  # numbers of a row of the loops: variables, actuators, residual, size
    variable: Annotated[Ints, 'p', 'nv', 'VARIABLE_*, or the actuator that moves it']
    column: Annotated[Ints, 'p', 'na + ny', 'column of the joint value of a row; of a link -1']
    row: Annotated[Ints, 'p', 'na + ny', 'which row of the motion a row is']
    is_set: Annotated[Ints, 'p', 'na + ny', '1 = a value that is set, if its side is given']
    rank: Annotated[Ints, 'p', '1', 'number of independent rows of the loops']
    root: Annotated[Floats, 'd', 'na', 'root of the weight of an effort in the least norm [1]']
    value_in: Annotated[Floats, 'd', 'na + ny', 'positions that are given [rad or m]']
    pose_in: Annotated[Floats, 'd', '7 * nl', 'poses of links that are given [m], xyzw']
    numbers: Annotated[Floats, 'd', 'RESULTS', 'scalars, RESULT_*']
    position: Annotated[Floats, 'd', 'na + ny', 'of rows; of a link position, rotation vector']
    rate: Annotated[Floats, 'd', 'na + ny', 'velocities of rows, given or found [per s]']
    effort: Annotated[Floats, 'd', 'na + ny', 'efforts of rows, given or found [N m or N]']
    velocity: Annotated[Floats, 'd', 'nm', 'velocities of all joints, and of links [per s]']
    motion: Annotated[Floats, 'd', 'nm * na', 'd joint value or link / d actuator']
    ratio: Annotated[Floats, 'd', 'ny * na', 'd joint space / d actuator']
    back: Annotated[Floats, 'd', 'na * ny', 'pseudo-inverse of the ratio']
    rows: Annotated[Floats, 'd', 'nr * stride', 'rows of the loops, made orthonormal']
    scale: Annotated[Floats, 'd', 'na', 'd variable / d actuator [rad or L per rad or m]']
    gain: Annotated[Floats, 'd', 'na * nv', 'd variable / d actuator, through the loops']
    ratio_rows: Annotated[Floats, 'd', 'ny * na + ny + 1', 'the ratio or its transpose']
    along: Annotated[Floats, 'd', 'na', 'motion of the actuators for one of the joint space']
    q_before: Annotated[Floats, 'd', 'nm', 'joint values before a part of the way [rad or m]']
    q_ahead: Annotated[Floats, 'd', 'nm', 'their whole change, then values predicted [rad or m]']
    left: Annotated[Floats, 'd', 'na + ny', 'difference to the given position [rad or m]']
    pose_part: Annotated[Floats, 'd', '7', 'pose of a link at a share of the way [m], xyzw']


# What a variable is, if no actuator moves it.
VARIABLE_PASSIVE, VARIABLE_LOCKED = -1, -2

# What a call gives, besides q. TRACKED: `motion` and `ratio` are those at q. JOINT_SPACE: what is
# given is of the joint space, and the actuators follow.
GIVES_POSITION, GIVES_VELOCITY, GIVES_EFFORT, TRACKED, JOINT_SPACE = 1, 2, 4, 8, 16

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
def reduce_loops(s: Solve, t: Transmit, constraints: int, nothing: float) -> int:
    """
    Make the rows of constraints orthonormal in the passive variables; return how many there are.

    `s.fixed` says what a variable is. The rows that depend on others follow the independent ones.
    """
    nv, count = t.nv, 0
    for c in range(constraints):
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
            row[nv + t.na] = s.trial[r]
            row[nv + t.na + 1] = size
            count += 1
    t.rank[0] = orthonormalise(t.rows, count, nv, t.stride, nothing)
    return count


@kernel
def write_gain(s: Solve, t: Transmit) -> None:
    """
    Write G of dx = G du, theory.md, eq. (13), from the orthonormal rows of closed loops.

    It has no part along motions that no actuator determines. What is left of a row without passive
    variables is a condition for the actuators, or nothing: the orthonormal conditions e with
    e D^(-1/2) du = 0, with the weights D of the efforts, follow the independent rows.
    """
    nv, na, idle = t.nv, t.na, 0
    for v in range(nv):
        s.fixed[v] = t.variable[v]
        idle += 1 if s.fixed[v] == VARIABLE_PASSIVE else 0
    count = reduce_loops(s, t, s.nc - t.nl, NOTHING)
    rank = t.rank[0]
    t.numbers[RESULT_IDLE] = idle - rank
    t.numbers[RESULT_PIVOT] = least_share(t.rows, rank, t.stride)
    for a in range(na):
        j = t.column[a]
        rate = s.rate[j] if abs(s.rate[j]) >= 1e-12 else 1e-12
        t.scale[a] = 1.0 / (rate * unit_of_column(s, j))
    conditions = t.rows[rank * t.stride :]
    for r in range(count - rank):
        row, square, largest = conditions[r * t.stride :], 0.0, 0.0
        for a in range(na):
            largest = max(largest, abs(row[nv + a]))
        counts = largest > NOTHING * row[nv + na + 1]
        for a in range(na):
            row[a] = row[nv + a] * t.scale[a] * t.root[a] if counts else 0.0
            square += row[a] * row[a]
        row[nv + na + 1] = max(sqrt(square), 1e-300)
    excess = orthonormalise(conditions, count - rank, na, t.stride, SAME_CONDITION)
    t.numbers[RESULT_EXCESS] = excess
    for k in range(nv * na):
        t.gain[k] = 0.0
    for b in range(rank):
        row = t.rows[b * t.stride :]
        for a in range(na):
            part, column = row[nv + a] * t.scale[a], t.gain[a * nv :]
            if part != 0.0:
                for v in range(nv):
                    column[v] -= part * row[v]
    for a in range(na):
        t.gain[a * nv + s.var[t.column[a]]] = t.scale[a]


@rare
def write_link_rows(s: Solve, t: Transmit, link: int) -> None:
    """Write position, rotation vector and motion of a link of the joint space."""
    c, na = s.nc - t.nl + link, t.na
    frame = s.a_frame[12 * c :]
    place = t.position[na + t.ny - 6 * (t.nl - link) :]
    motion = t.motion[(s.nq + 6 * link) * na :]
    for k in range(3):
        place[k] = frame[9 + k] * s.length
    place[3], place[4], place[5] = log_rotation(matrix_at(frame, 0))
    for slot in range(s.slot0[c], s.slot0[c + 1]):
        for k in range(6 * na):
            r, a = k // na, k % na
            gain = t.gain[a * t.nv + s.slot_var[slot]] * (s.length if r < 3 else 1.0)
            motion[k] += s.jac[6 * slot + r] * gain


@kernel
def write_motion(s: Solve, t: Transmit) -> None:
    """
    Write positions, and motion and ratio in [rad or m]; of a ball they are of Euler angles.

    With redundant actuators the motion is multiplied by P = D^(1/2) (1 - E^T E) D^(-1/2), with the
    orthonormal conditions E and the weights D of the efforts: P takes velocities to the nearest
    that agree, and P^T takes efforts to those of least norm with the same power.
    """
    na = t.na
    for k in range(t.nm * na):
        t.motion[k] = 0.0
    for j in range(s.n):
        v = s.var[j]
        if v < 0 or (s.ball[j] > 1 and s.free_ball[v] == 1):
            continue
        row = t.motion[s.column_q[j] * na :]
        if s.ball[j] == 1 and s.free_ball[v] == 1:
            y, x = s.var[j + 1], s.var[j + 2]
            row_y = t.motion[s.column_q[j + 1] * na :]
            row_x = t.motion[s.column_q[j + 2] * na :]
            for a in range(na):
                gain = t.gain[a * t.nv :]
                rx, ry, rz = euler_rates(s.x[x], s.x[y], gain[x], gain[y], gain[v])
                row[a], row_y[a], row_x[a] = rz, ry, rx
        else:
            factor = s.rate[j] * unit_of_column(s, j)
            for a in range(na):
                row[a] = factor * t.gain[a * t.nv + v]
    for link in range(t.nl):
        write_link_rows(s, t, link)
    for e in range(int(t.numbers[RESULT_EXCESS])):
        condition = t.rows[(t.rank[0] + e) * t.stride :]
        for r in range(t.nm):
            row, along = t.motion[r * na :], 0.0
            for a in range(na):
                along += row[a] * t.root[a] * condition[a]
            for a in range(na):
                row[a] -= along * condition[a] / t.root[a]
    for r in range(na + t.ny):
        m = t.row[r]
        if m < s.nq:
            t.position[r] = s.q[m]
        if r >= na:
            for a in range(na):
                t.ratio[(r - na) * na + a] = t.motion[m * na + a]


@kernel
def invert_ratio(t: Transmit) -> None:
    """
    Write the pseudo-inverse of the ratio J, from orthonormal rows Q = W J, or those of J^T.

    It is Q^T W, or its transpose. Rows that are combinations of others are left out.
    """
    na, ny = t.na, t.ny
    nt, nx, wide, stride = min(na, ny), max(na, ny), ny < na, na + ny + 1
    for n in range(nt):
        row, square = t.ratio_rows[n * stride :], 0.0
        for v in range(stride):
            row[v] = 0.0
        for v in range(nx):
            value = t.ratio[n * na + v if wide else v * na + n]
            row[v] = value
            square += value * value
        row[nx + n] = 1.0
        row[stride - 1] = max(sqrt(square), 1e-300)
    rank = orthonormalise(t.ratio_rows, nt, nx, stride, NOTHING)
    for k in range(na * ny):
        t.back[k] = 0.0
    for b in range(rank):
        row = t.ratio_rows[b * stride :]
        for v in range(nx):
            for n in range(nt):
                t.back[v * ny + n if wide else n * ny + v] += row[v] * row[nx + n]
    t.numbers[RESULT_RATIO] = least_share(t.ratio_rows, rank, stride) if rank == nt else 0.0


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
def write_change(t: Transmit, first: int, given: Floats, rows: int, out: Floats) -> None:
    """Write the first `rows` of dq = (dq/du) du, for a change of the given side, du or J^+ dy."""
    along = given
    if first > 0:
        multiply(t.back, t.na, t.ny, t.ny, 1, given[first:], t.along)
        along = t.along
    multiply(t.motion, rows, t.na, t.na, 1, along, out)


@kernel
def write_rates(t: Transmit, first: int, last: int) -> None:
    """Write velocities for those of the given rows, which are replaced by the nearest."""
    write_change(t, first, t.rate, t.nm, t.velocity)
    misfit = 0.0
    for r in range(t.na + t.ny):
        rate = t.velocity[t.row[r]]
        if first <= r < last:
            misfit = max(misfit, abs(rate - t.rate[r]))
        t.rate[r] = rate
    t.numbers[RESULT_MISFIT] = misfit


@rare
def linear_part(s: Solve, t: Transmit, closes: bool, held: int) -> bool:
    """
    Write motion, ratio and its factors at x.

    If `closes`, the first `held` constraints are met first by Newton's method with the given
    values held; return False if that does not converge. A variable that a step brings to its bound
    stays there. The method stands beside the steps of `lm_step` because its rows are those of the
    ratio.
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
        for r in range(6 * held if closes else 0):
            open_by = max(open_by, abs(s.trial[r]))
        if open_by <= CLOSED:
            break
        if steps == NEWTON_STEPS or open_by > PART:
            # Loops that cannot be closed any better may have tolerances that allow it.
            if not all_within_tolerance(s, 1 if held == s.nc else 0):
                return False
            break
        reduce_loops(s, t, held, NEARLY_NOTHING)
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
    write_gain(s, t)
    write_motion(s, t)
    invert_ratio(t)
    return True


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
def write_left(s: Solve, t: Transmit, first: int, joints: int, last: int) -> float:
    """
    Write the difference to the given position; return its largest part [rad or L].

    The given rows are from `first` to `last`, those of links begin at `joints`. Goals of links are
    at their given poses afterwards.
    """
    largest = 0.0
    for r in range(first, joints):
        t.left[r] = t.value_in[r] - t.position[r]
        if t.is_set[r] == 1:
            largest = max(largest, abs(t.left[r]) / unit_of_column(s, t.column[r]))
    if joints < last:
        aim_links(s, t, 1.0)
        forward(s, s.x)
        residuals(s)
    for r in range(joints, last):
        value = s.trial[s.nr - last + r]
        largest = max(largest, abs(value))
        t.left[r] = -value * (s.length if (r - joints) % 6 < 3 else 1.0)
    return largest


@rare
def set_part(s: Solve, t: Transmit, first: int, joints: int, share: float) -> bool:
    """
    Go a share of the way along the tangent, within limits; given values are set exactly.

    A value that follows another one, linearly, sets its master. Return False if a given value is
    kept back by its limits.
    """
    within = True
    for g in range(s.nq):
        t.q_before[g] = s.q[g]
        value = max(s.q[g] + share * t.q_ahead[g], s.joints[layout.JOINT_LOWER, g])
        s.q[g] = min(value, s.joints[layout.JOINT_UPPER, g])
    for r in range(first, joints):
        if t.is_set[r] == 0:
            continue
        j = t.column[r]
        v, unit = s.var[j], unit_of_column(s, j)
        value = t.value_in[r] - (1.0 - share) * t.left[r] - unit * s.coefficients[s.width * j]
        value /= unit / s.unit[v] * s.coefficients[s.width * j + 1]
        place = s.var_q[v]
        lower, upper = s.joints[layout.JOINT_LOWER, place], s.joints[layout.JOINT_UPPER, place]
        s.q[place] = min(max(value, lower), upper)
        within = within and s.q[place] == value
    for g in range(s.nq):
        t.q_ahead[g] = s.q[g]
    set_bounds(s)
    return within


@kernel
def are_finite(values: Floats, first: int, last: int) -> bool:
    """Return True if numbers that are given are finite and not too large."""
    fine = True
    for k in range(first, last):
        fine = fine and abs(values[k]) <= LARGEST
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
    gives, of JOINT_SPACE, and of TRACKED if `data` is the result of the last call, and q its joint
    values. Return STATUS_CONVERGED; STALLED if a limit, the loops or a singularity end the way to
    the given position, and q is where it ends; REFUSED as for `advance`.

    The way to a position is divided into parts, see `continue_to`. On each the tangent predicts
    all joints, and the loops are closed with the given values held.
    """
    s, t = open_solve(i, f, k, w, q, joints, options), open_transmit(plan, data)
    moves, kept, inverse = gives & GIVES_POSITION, gives & TRACKED != 0, gives & JOINT_SPACE
    first, last, links = (t.na, t.na + t.ny, t.nl) if inverse else (0, t.na, 0)
    fine = not moves or are_finite(t.value_in, first, last - 6 * links)
    fine = fine and (not moves or are_finite(t.pose_in, 0, 7 * links))
    fine = fine and (not gives & GIVES_VELOCITY or are_finite(t.rate, first, last))
    if not fine or (gives & GIVES_EFFORT and not are_finite(t.effort, first, last)):
        return now.STATUS_REFUSED
    parts, share, arrived, within = 0, 1.0, False, True
    while True:
        if not kept:
            if not start_solve(s):
                return now.STATUS_REFUSED
            linear_part(s, t, False, 0)
        if not moves or arrived or parts == PARTS:
            break
        left = write_left(s, t, first, last - 6 * links, last)
        if kept:
            near = left <= 10.0 * LEAST
            share = 1.0 if near else continue_to.next_share(continue_to.TRANSMISSION, share, True)
        elif share < 1.0 and share * left < LEAST:
            break
        parts += 1
        share = min(min(1.0, share), PART / max(left, PART))
        write_change(t, first, t.left, s.nq, t.q_ahead)
        moved = 0.0
        for v in range(s.nv):
            moved = max(moved, abs(t.q_ahead[s.var_q[v]]) / s.unit[v])
        share *= LONGEST / max(share * moved, LONGEST)
        within = set_part(s, t, first, last - 6 * links, share)
        if share < 1.0 and links > 0:
            aim_links(s, t, share)
        kept = linear_part(s, t, True, s.nc - t.nl + links)
        kept = kept and continue_to.is_near(s, t.q_ahead, BEND * share * moved + ACCEPTED)
        arrived = kept and (not within or share == 1.0)
        if not kept:
            for g in range(s.nq):
                s.q[g] = t.q_before[g]
            share = continue_to.next_share(continue_to.TRANSMISSION, share, False)
    for r in range(first, last - 6 * links if moves else first):
        within = within and abs(t.value_in[r] - t.position[r]) <= REACHED
    if gives & GIVES_VELOCITY:
        write_rates(t, first, last)
    # Efforts by virtual work, tau_u = J^T tau_y, or for a given tau_u the least tau_y.
    if gives & GIVES_EFFORT and inverse:
        multiply(t.ratio, t.na, 1, t.ny, t.na, t.effort[t.na :], t.effort)
    elif gives & GIVES_EFFORT:
        multiply(t.back, t.ny, 1, t.na, t.ny, t.effort, t.effort[t.na :])
    return now.STATUS_CONVERGED if within and (arrived or not moves) else now.STATUS_STALLED
