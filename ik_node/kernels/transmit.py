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
from ik_node.kernels.forward import forward
from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.layout import Floats, Ints, LARGEST, open_solve, Solve, unit_of_column
from ik_node.kernels.orthonormal import orthonormalise, product
from ik_node.kernels.redundant import choose_independent_rows, reduce_rows, store_grouped_rows
from ik_node.kernels.rotation import euler_rates, log_rotation, matrix_at
from ik_node.kernels.rows import norm, residuals
from ik_node.kernels.solve import write_answer
from ik_node.kernels.start import all_within_tolerance, copy_variables, set_bounds, start_solve
from ik_node.kernels.step import apply_step, largest


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
    is_set: Annotated[Ints, 'p', 'na + ny', '1 = determines others: held if its side is given']
    root: Annotated[Floats, 'd', 'na', 'root of the weight of an effort in the least norm [1]']
    value_in: Annotated[Floats, 'd', 'na + ny', 'positions that are given [rad or m]']
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
    along: Annotated[Floats, 'd', 'na', 'motion of the actuators for one that is given']
    left: Annotated[Floats, 'd', 'na + ny', 'difference to the given position [rad or m]']


# What a variable is, if no actuator moves it.
VARIABLE_PASSIVE, VARIABLE_LOCKED = -1, -2

# What a call gives, besides q. TRACKED: `motion` and `ratio` are those at q. JOINT_SPACE: what is
# given is of the joint space, and the actuators follow.
GIVES_POSITION, GIVES_VELOCITY, GIVES_EFFORT, TRACKED, JOINT_SPACE = 1, 2, 4, 8, 16

# Scalars of a result.
(
    RESULT_IDLE,  # motions of passive joints that no actuator determines
    RESULT_PIVOT,  # least share of a row of the loops that is left, near 0 = singular, type II
    RESULT_RATIO,  # the same of the ratio, 0 = some direction of the joint space is lost
    RESULT_MISFIT,  # largest disagreement of velocities that were given [per s]
) = range(4)
RESULTS = 4

SIZES, FIELDS = lengths_of(Transmit)
PACKED, FIXED = 'pd', {'RESULTS': RESULTS}

# A remainder below this share of its row is rounding; while loops are closed, since away from the
# closed configuration redundant rows are only nearly so; of a condition. A row counts at least as
# this large [1]: smaller coefficients of all its variables are rounding.
NOTHING, NEARLY_NOTHING, SAME_CONDITION, SMALLEST = 1e-7, 1e-3, 3e-4, 1e-4
# How a part of a way is limited, see `continue_to`.
LONGEST, BEND, LEAST = (
    each[continue_to.TRANSMISSION]
    for each in (continue_to.LONGEST, continue_to.BEND, continue_to.LEAST)
)
# Corrections below this are always accepted; a variable may pass its bound by so much [rad or L].
ACCEPTED, SLACK = 1e-4, 1e-12
# A residual below this is rounding [rad or L]; most steps of Newton's method; largest number of
# parts of a way.
CLOSED, NEWTON_STEPS, PARTS = 1e-11, 7, 2000
# A joint or link is where it should be within this distance [rad or m].
REACHED = 1e-6

# Takes (p, d) and returns a `Transmit`.
open_transmit: Callable[..., Transmit] = opener(Transmit, PACKED, fixed=FIXED)


@kernel
def reduce_loops(s: Solve, t: Transmit, constraints: int, nothing: float) -> tuple[int, int]:
    """
    Make the rows of constraints orthonormal in the passive variables; return their rank and count.

    `s.fixed` says what a variable is. The numbers of a row are by variable, by actuator, its
    residual and its size. The rows that depend on others follow the independent ones.
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
    return orthonormalise(t.rows, count, nv, t.stride, nothing), count


@rare
def write_gain(s: Solve, t: Transmit) -> None:
    """
    Write G of dx = G du, theory.md, eq. (13), from the orthonormal rows of closed loops.

    It has no part along motions that no actuator determines. What is left of a row without passive
    variables is a condition for the actuators, or nothing. With the orthonormal conditions E and
    the weights D of the efforts, G is multiplied by P = D^(1/2) (1 - E^T E) D^(-1/2): P takes
    velocities to the nearest that agree, and P^T takes efforts to those of least norm with the
    same power.
    """
    nv, na, idle = t.nv, t.na, 0
    for v in range(nv):
        s.fixed[v] = t.variable[v]
        idle += 1 if s.fixed[v] == VARIABLE_PASSIVE else 0
    rank, count = reduce_loops(s, t, s.nc - t.nl, NOTHING)
    t.numbers[RESULT_IDLE] = idle - rank
    t.numbers[RESULT_PIVOT] = 1.0
    for k in range(nv * na):
        t.gain[k] = 0.0
    for a in range(na):
        j = t.column[a]
        rate = s.rate[j] if abs(s.rate[j]) >= 1e-12 else 1e-12
        t.scale[a] = 1.0 / (rate * unit_of_column(s, j))
        t.gain[a * nv + s.var[j]] = t.scale[a]
    for b in range(rank):
        row = t.rows[b * t.stride :]
        t.numbers[RESULT_PIVOT] = min(t.numbers[RESULT_PIVOT], row[t.stride - 1])
        for a in range(na):
            part, column = row[nv + a] * t.scale[a], t.gain[a * nv :]
            if part != 0.0:
                for v in range(nv):
                    column[v] -= part * row[v]
    conditions = t.rows[rank * t.stride :]
    for r in range(count - rank):
        row = conditions[r * t.stride :]
        counts = sqrt(product(row[nv:], row[nv:], na)) > NOTHING * row[nv + na + 1]
        for a in range(na):
            row[a] = row[nv + a] * t.scale[a] * t.root[a] if counts else 0.0
        row[nv + na + 1] = max(sqrt(product(row, row, na)), 1e-300)
    excess = orthonormalise(conditions, count - rank, na, t.stride, SAME_CONDITION)
    for e in range(excess):
        row = conditions[e * t.stride :]
        for v in range(nv):
            along = 0.0
            for a in range(na):
                along += t.gain[a * nv + v] * t.root[a] * row[a]
            for a in range(na):
                t.gain[a * nv + v] -= along * row[a] / t.root[a]


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
    """Write motion and ratio in [rad or m]; of a ball they are of Euler angles."""
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
    for k in range(t.ny * na):
        t.ratio[k] = t.motion[t.row[na + k // na] * na + k % na]


@kernel
def invert_ratio(t: Transmit) -> None:
    """
    Write the pseudo-inverse of the ratio J, from orthonormal rows Q = W J, or those of J^T.

    It is Q^T W, or its transpose. Rows that are combinations of others are left out.
    """
    na, ny = t.na, t.ny
    nt, nx, wide, stride = min(na, ny), max(na, ny), ny < na, na + ny + 1
    for n in range(nt):
        row = t.ratio_rows[n * stride :]
        for v in range(nx):
            row[v] = t.ratio[n * na + v if wide else v * na + n]
        for k in range(nt):
            row[nx + k] = 1.0 if k == n else 0.0
        row[stride - 1] = max(sqrt(product(row, row, nx)), 1e-300)
    rank = orthonormalise(t.ratio_rows, nt, nx, stride, NOTHING)
    for k in range(na * ny):
        t.back[k] = 0.0
    t.numbers[RESULT_RATIO] = 1.0 if rank == nt else 0.0
    for b in range(rank):
        row = t.ratio_rows[b * stride :]
        t.numbers[RESULT_RATIO] = min(t.numbers[RESULT_RATIO], row[stride - 1])
        for v in range(nx):
            for n in range(nt):
                t.back[v * ny + n if wide else n * ny + v] += row[v] * row[nx + n]


@rare
def write_ratio(s: Solve, t: Transmit) -> None:
    """Write motion, ratio and its pseudo-inverse at x, after `linear_part`."""
    write_gain(s, t)
    write_motion(s, t)
    invert_ratio(t)


@rare
def linear_part(s: Solve, constraints: int) -> float:
    """Write rows and derivatives at x; return the largest row of constraints [rad or L]."""
    forward(s, s.x)
    residuals(s)
    jacobian(s)
    if s.groups > 0:
        store_grouped_rows(s)
        choose_independent_rows(s)
        reduce_rows(s)
    open_by = 0.0
    for r in range(6 * constraints):
        open_by = max(open_by, abs(s.trial[r]))
    return open_by


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
def write_along(t: Transmit, first: int, given: Floats) -> None:
    """Write the motion of the actuators for one of the given rows, du or J^+ dy."""
    if first > 0:
        multiply(t.back, t.na, t.ny, t.ny, 1, given[first:], t.along)
    else:
        for a in range(t.na):
            t.along[a] = given[a]


@kernel
def target_of(s: Solve, t: Transmit, r: int) -> float:
    """Return the position that is given for a joint of row r, within its limits [rad or m]."""
    g = t.row[r]
    value = max(t.value_in[r], min(s.joints[layout.JOINT_LOWER, g], s.q[g]))
    return float(min(value, max(s.joints[layout.JOINT_UPPER, g], s.q[g])))


@rare
def write_left(s: Solve, t: Transmit, first: int, links: int) -> float:
    """
    Write the difference to the given position; return its square [rad^2, m^2].

    The given rows begin at `first`, and end with those of some links.
    """
    last, square = t.na + t.ny if first > 0 else t.na, 0.0
    for r in range(first, last - 6 * links):
        j = t.column[r]
        t.left[r] = target_of(s, t, r) - s.value[j] * unit_of_column(s, j)
        square += t.left[r] * t.left[r]
    for r in range(last - 6 * links, last):
        unit = s.length if (last - r - 1) % 6 > 2 else 1.0
        t.left[r] = -unit * s.trial[s.nr - last + r]
        square += t.left[r] * t.left[r]
    return square


@kernel
def share_within_bounds(s: Solve, share: float) -> float:
    """Return the share of the motion in `preferred_step` that brings no variable past a bound."""
    for v in range(s.nv):
        ahead = s.preferred_step[v]
        room = (s.upper[v] - s.x[v] if ahead > 0.0 else s.x[v] - s.lower[v]) + SLACK
        if s.free_ball[v] == 0 and share * abs(ahead) > room:
            share = room / abs(ahead)
    return share


@kernel
def step_to_targets(s: Solve, t: Transmit, first: int, last: int) -> float:
    """Write the steps of held values to what is given; return the largest one [rad or L]."""
    longest = 0.0
    for r in range(first, last):
        if t.is_set[r] == 1:
            j = t.column[r]
            left = target_of(s, t, r) / unit_of_column(s, j) - s.value[j]
            s.step[s.var[j]] = left / s.rate[j]
            longest = max(longest, abs(left))
    return longest


@rare
def go(
    s: Solve, t: Transmit, first: int, links: int, share: float, ahead: float, far: float
) -> bool:
    """
    Go a share of the way along the tangent, and close the loops by Newton's method.

    The actuators are held meanwhile, or at the end of the whole way what is given. Return False if
    that does not converge, if a correction is so large that another branch is near, or if the
    square of the difference to the given position is not less than `far`, that of before. The
    method stands beside the steps of `lm_step` because its rows are those of G.
    """
    whole, constraints, before = share == 1.0, s.nc - t.nl, LARGEST
    begin, end = (0, t.na) if first == 0 or not whole else (first, t.na + t.ny - 6 * t.nl)
    constraints += links if whole else 0
    for v in range(s.nv):
        s.fixed[v] = min(t.variable[v], VARIABLE_PASSIVE)
        s.step[v] = share * s.preferred_step[v]
    for r in range(begin, end):
        if t.is_set[r] == 1:
            s.fixed[s.var[t.column[r]]] = VARIABLE_LOCKED
    if whole:
        step_to_targets(s, t, begin, end)
    for _ in range(NEWTON_STEPS):
        apply_step(s, s.x, s.x)
        error = linear_part(s, constraints)
        for v in range(s.nv):
            s.step[v] = 0.0
        if whole:
            error = max(error, step_to_targets(s, t, begin, end))
        if error <= CLOSED:
            return whole or write_left(s, t, first, links) < far
        rank, _ = reduce_loops(s, t, constraints, NEARLY_NOTHING)
        for b in range(rank):
            row = t.rows[b * t.stride :]
            for v in range(s.nv):
                s.step[v] -= row[v] * row[t.nv + t.na]
        if error > 0.5 * before or largest(s, s.step) > BEND * share * ahead + ACCEPTED:
            break
        before = error
    # Loops that cannot be closed any better may have tolerances that allow it.
    return all_within_tolerance(s, 1 if constraints == s.nc else 0)


@kernel
def write_rates(t: Transmit, first: int, last: int) -> None:
    """Write velocities for those of the given rows, which are replaced by the nearest."""
    write_along(t, first, t.rate)
    multiply(t.motion, t.nm, t.na, t.na, 1, t.along, t.velocity)
    misfit = 0.0
    for r in range(t.na + t.ny):
        rate = t.velocity[t.row[r]]
        if first <= r < last:
            misfit = max(misfit, abs(rate - t.rate[r]))
        t.rate[r] = rate
    t.numbers[RESULT_MISFIT] = misfit


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
    each link of the joint space, which has the pose that is given. q (nq,) has closed loops and
    decides the assembly, and at the end is that of the result [rad or m]. `plan` and `data` are
    the fields of `Transmit`. `gives` is the sum of GIVES_* for what `data` gives, of JOINT_SPACE,
    and of TRACKED if `data` is the result of the last call, and q its joint values. Return
    STATUS_CONVERGED; STALLED if a limit, the loops or a singularity end the way to the given
    position, and q is where it ends; REFUSED as for `advance`.

    The way to a position is divided into parts, see `continue_to`. On each the tangent predicts
    all joints, and the loops are closed with the given values held.
    """
    s, t = open_solve(i, f, k, w, q, joints, options), open_transmit(plan, data)
    moves, inverse = gives & GIVES_POSITION, gives & JOINT_SPACE
    first, last, links = (t.na, t.na + t.ny, t.nl) if inverse else (0, t.na, 0)
    values = last - 6 * links
    # Numbers that are not finite, or too large, have no norm that is.
    fine = not moves or norm(t.value_in, first, values) <= LARGEST
    fine = fine and (not gives & GIVES_VELOCITY or norm(t.rate, first, last) <= LARGEST)
    fine = fine and (not gives & GIVES_EFFORT or norm(t.effort, first, last) <= LARGEST)
    tracked = gives & TRACKED != 0
    if not fine or ((not tracked or links > 0) and not start_solve(s)):
        return now.STATUS_REFUSED
    if not tracked:
        linear_part(s, 0)
        write_ratio(s, t)
    elif links > 0:
        forward(s, s.x)
        residuals(s)
    else:
        set_bounds(s)
    part, arrived = LONGEST, not moves
    for _ in range(PARTS):
        if arrived:
            break
        far = write_left(s, t, first, links)
        write_along(t, first, t.left)
        multiply(t.gain, t.nv, 1, t.na, t.nv, t.along, s.preferred_step)
        ahead = largest(s, s.preferred_step)
        share = share_within_bounds(s, min(1.0, part / max(ahead, part)))
        part = share * ahead
        if share < 1.0 and part < LEAST:
            break
        copy_variables(s, s.x, s.x_kept)
        kept = go(s, t, first, links, share, ahead, far)
        arrived = kept and share == 1.0
        if not kept:
            copy_variables(s, s.x_kept, s.x)
            linear_part(s, 0)
        write_ratio(s, t)
        part = min(continue_to.next_share(continue_to.TRANSMISSION, part, kept), LONGEST)
    if moves:
        write_answer(s)
    for r in range(t.na + t.ny - 6 * t.nl):
        g = t.row[r]
        if moves and first <= r < values:
            left = abs(t.value_in[r] - s.q[g])
            arrived = arrived and left <= REACHED
            s.q[g] = target_of(s, t, r) if left <= CLOSED else s.q[g]
        t.position[r] = s.q[g]
    for index in range(6 * links if moves else 0):
        arrived = arrived and abs(s.trial[s.nr - 1 - index]) <= REACHED
    if gives & GIVES_VELOCITY:
        write_rates(t, first, last)
    # Efforts by virtual work, tau_u = J^T tau_y, or for a given tau_u the least tau_y.
    if gives & GIVES_EFFORT and inverse:
        multiply(t.ratio, t.na, 1, t.ny, t.na, t.effort[t.na :], t.effort)
    elif gives & GIVES_EFFORT:
        multiply(t.back, t.ny, 1, t.na, t.ny, t.effort, t.effort[t.na :])
    return now.STATUS_CONVERGED if arrived else now.STATUS_STALLED
