"""
A path of poses of one chain in one call; docs/theory.md, section 14.

Every frame is solved from the one before, so that no joint jumps. Where a joint would move by more
than a step, the solve goes through poses in between.
"""

from __future__ import annotations

from math import sqrt

from ik_node.kernels import layout
from ik_node.kernels import options as option
from ik_node.kernels import solve_state as now
from ik_node.kernels.continue_to import LEAST, next_share, PATH, pose_between
from ik_node.kernels.decorators import entry, FLOATS, INT, INTS, kernel
from ik_node.kernels.layout import Floats, Ints, open_solve, Solve
from ik_node.kernels.solve import advance
from ik_node.kernels.start import all_within_tolerance
from ik_node.kernels.unchecked_array import beyond, flat, table

# Rows of the table of limits [rad or m, per s, per s^2].
(
    PATH_LOWER,
    PATH_UPPER,
    PATH_FIRST,  # largest |q - q0| of the first frame
    PATH_STEP,  # largest change in one solve
    PATH_SPEED,
    PATH_ACCELERATION,
    PATH_BEFORE,  # where the present solve began; written
) = range(7)
PATH_ROWS = 7
# Numbers of a path under way; the poses asked for at present follow.
(
    SHARE,  # share of the way from frame to frame that is solved
    NEXT_SHARE,  # share of the next solve
    SOLVING,  # 1 = a solve is under way
    STEPS,  # of the frame so far
    SOLVES,  # of the frame so far
    GIVEN_RESTARTS,  # of the first frame
) = range(6)
CURSOR = 6
# What happened in a frame: a joint would have to jump; a largest speed or acceleration bounds a
# joint; the loops close only beyond the largest acceleration.
TORN, BOUNDED, TOO_FAST = 1, 2, 4
# Most solves of a frame whose goals conflict, each of which goes as far as one solve may.
SOLVES_OF_COMPROMISE = 8
# Share of a window from which a joint counts as held back by it.
HELD_BACK = 1.0 - 1e-6


@kernel
def aim_at(
    aim: Floats, positions: Floats, quats_xyzw: Floats, goals: int, n: int, share: float
) -> None:
    """Write the poses at a share of the way from frame n - 1 to n."""
    for g in range(goals):
        to = goals * n + g
        before = to - goals if n > 0 else to
        pose_between(
            positions[3 * before :],
            quats_xyzw[4 * before :],
            positions[3 * to :],
            quats_xyzw[4 * to :],
            share,
            aim[CURSOR + 3 * g :],
            aim[CURSOR + 3 * goals + 4 * g :],
        )


@kernel
def allowed_speed(way: float, acceleration: float, dt: float) -> float:
    """
    Return the largest speed v from which a joint can still brake within a way.

    The way of this period and of braking, v dt + v^2 / (2 a) + v dt / 2 <= way.
    """
    return acceleration * (sqrt(2.25 * dt * dt + 2.0 * max(way, 0.0) / acceleration) - 1.5 * dt)


@kernel
def set_path_bounds(
    s: Solve, limits: Floats, times: Floats, q: Floats, n: int, accelerates: bool
) -> None:
    """
    Write limits and windows of frame n to the table of joints, and move q within these limits.

    A value that starts outside its own limits may stay there, but speeds always count. Speeds v
    and accelerations are differences: |v_n| <= v_max, |v_n - v_{n-1}| <= a_max dt.
    """
    for g in range(s.nq):
        low, high = limits[PATH_LOWER, g], limits[PATH_UPPER, g]
        s.joints[layout.JOINT_WINDOW, g] = limits[PATH_FIRST if n == 0 else PATH_STEP, g]
        if n > 0:
            dt = times[n] - times[n - 1]
            value = q[n - 1, g]
            slowest, fastest = -limits[PATH_SPEED, g], limits[PATH_SPEED, g]
            change = limits[PATH_ACCELERATION, g]
            if accelerates and change < 1e300:
                slowest = max(slowest, -allowed_speed(value - low, change, dt))
                fastest = min(fastest, allowed_speed(high - value, change, dt))
                if n > 1:
                    speed = (value - q[n - 2, g]) / (times[n - 1] - times[n - 2])
                    slowest = min(max(slowest, speed - change * dt), speed + change * dt)
                    fastest = max(min(fastest, speed + change * dt), speed - change * dt)
            bottom, top = min(low, value), max(high, value)
            low = min(max(value + slowest * dt, bottom), top)
            high = max(min(value + fastest * dt, top), bottom)
            s.q[g] = min(max(s.q[g], low), high)
        s.joints[layout.JOINT_LOWER, g], s.joints[layout.JOINT_UPPER, g] = low, high


@kernel
def is_held_back(s: Solve, limits: Floats) -> bool:
    """Return True if a variable moved as far as one solve allows."""
    for v in range(s.nv):
        g = s.var_q[v]
        limit = limits[PATH_STEP, g]
        if limit < 1e300 and abs(s.q[g] - limits[PATH_BEFORE, g]) >= HELD_BACK * limit > 0.0:
            return True
    return False


@kernel
def is_bounded(s: Solve, limits: Floats) -> bool:
    """Return True if a largest speed or acceleration, not a limit, bounds a variable."""
    for v in range(s.nv):
        g = s.var_q[v]
        low, high = s.joints[layout.JOINT_LOWER, g], s.joints[layout.JOINT_UPPER, g]
        if (s.q[g] <= low and low > limits[PATH_LOWER, g]) or (
            s.q[g] >= high and high < limits[PATH_UPPER, g]
        ):
            return True
    return False


@kernel
def copy_columns(s: Solve, start: Floats, start_row: int, out: Floats, out_row: int) -> None:
    """Copy the values of this chain from the row of one table to that of another."""
    for j in range(s.n):
        if s.var[j] >= 0:
            g = s.column_q[j]
            out[out_row, g] = start[start_row, g]


@kernel
def end_solve(
    s: Solve, status: int, limits: Floats, q: Floats, flags: Floats, cursor: Floats, n: int
) -> None:
    """Decide after a solve how frame n goes on; SHARE 1 ends it."""
    compromises = s.options[option.COMPROMISE] > 0.0 and status == now.STATUS_STALLED
    held, torn = is_held_back(s, limits), int(flags[n]) & TORN == TORN
    share = min(1.0, cursor[SHARE] + cursor[NEXT_SHARE])
    if n == 0:
        cursor[SHARE] = 1.0
    elif int(flags[n]) & TOO_FAST == 0 and not all_within_tolerance(s, 0):
        # The loops may close where joints may change their speed faster.
        flags[n] += TOO_FAST
        copy_columns(s, limits, PATH_BEFORE, q, n)
    elif compromises and held and cursor[SOLVES] < SOLVES_OF_COMPROMISE:
        cursor[NEXT_SHARE] = 1.0
    elif status == now.STATUS_CONVERGED or compromises or not held or torn:
        cursor[SHARE] = share
        cursor[NEXT_SHARE] = next_share(PATH, cursor[NEXT_SHARE], True)
        if compromises and held and not torn:
            flags[n] += TORN
    elif cursor[NEXT_SHARE] > LEAST[PATH]:
        cursor[NEXT_SHARE] = next_share(PATH, cursor[NEXT_SHARE], False)
        copy_columns(s, limits, PATH_BEFORE, q, n)
    else:
        # A joint would jump: go to the end of the step as near as possible.
        flags[n] += TORN
        cursor[SHARE] = share
        cursor[NEXT_SHARE] = 1.0
    if cursor[SHARE] >= 1.0 and n > 0 and is_bounded(s, limits):
        flags[n] += BOUNDED


@entry(INTS, FLOATS, INTS, *11 * [FLOATS], *4 * [INT])
def advance_path(
    i: Ints,
    f: Floats,
    k: Ints,
    w: Floats,
    q: Floats,
    joints: Floats,
    options: Floats,
    positions: Floats,
    quats_xyzw: Floats,
    records: Floats,
    limits: Floats,
    times: Floats,
    flags: Floats,
    cursor: Floats,
    count: int,
    goals: int,
    first: int,
    steps: int,
) -> int:
    """
    Solve frame after frame of a path from `first`, or go on, for at most `steps` steps together.

    The arguments are those of `advance_batch`, for `count` frames: the first row of q (count, nq)
    is the start, and limits, windows and restarts are overwritten. `limits` (PATH_ROWS, nq) has
    PATH_*, inf = none; `times` (count,) ascend [s]; `flags` (count,) are zeros, at the end sums
    of TORN, BOUNDED and TOO_FAST. `cursor` (CURSOR + 7 goals,) says where the path is: zeros but
    for GIVEN_RESTARTS at the beginning. Return the frame to go on with, `count` = done; -1 - m
    when frame m is refused.
    """
    s = open_solve(i, f, k, w, q, joints, options)
    size = layout.RECORD + 2 * s.nc
    rows, made = table(q, count, s.nq), table(records, count, size)
    bounds, when, marks = table(limits, PATH_ROWS, s.nq), flat(times, count), flat(flags, count)
    all_positions, all_quats = (
        flat(positions, 3 * count * goals),
        flat(quats_xyzw, 4 * count * goals),
    )
    state, tuned = flat(cursor, CURSOR + 7 * goals), flat(options, option.OPTION_COUNT)
    position, quat = beyond(cursor, CURSOR), beyond(cursor, CURSOR + 3 * goals)
    for n in range(first, count):
        here = open_solve(i, f, k, w, beyond(q, s.nq * n), joints, options)
        if state[SOLVING] == 0.0 and n > 0:
            copy_columns(here, rows, n - 1, rows, n)
        if state[SOLVING] == 0.0:
            state[SHARE], state[NEXT_SHARE], state[STEPS], state[SOLVES] = 0.0, 1.0, 0.0, 0.0
        while state[SHARE] < 1.0:
            begin = state[SOLVING] == 0.0
            if begin:
                share = min(1.0, state[SHARE] + state[NEXT_SHARE])
                aim_at(state, all_positions, all_quats, goals, n, 1.0 if n == 0 else share)
                copy_columns(here, rows, n, bounds, PATH_BEFORE)
                set_path_bounds(here, bounds, when, rows, n, int(marks[n]) & TOO_FAST == 0)
                tuned[option.RESTARTS] = state[GIVEN_RESTARTS] if n == 0 else 0.0
                state[SOLVING] = 1.0
                state[SOLVES] += 1.0
            before = 0 if begin else s.k[now.ITERATIONS]
            budget = -max(steps, 1) if begin else max(steps, 1)
            status = advance(
                i, f, k, w, beyond(q, s.nq * n), joints, options, position, quat, goals, budget
            )
            if status == now.STATUS_REFUSED:
                return -1 - n
            steps -= s.k[now.ITERATIONS] - before + 1
            if status == now.STATUS_RUNNING:
                return n
            state[SOLVING] = 0.0
            state[STEPS] += s.k[now.ITERATIONS] - s.k[now.CLOSING]
            end_solve(here, status, bounds, rows, marks, state, n)
        for e in range(size):
            made[n, e] = s.record[e] if e < layout.RECORD else s.error[e - layout.RECORD]
        made[n, layout.RECORD_STEPS] = state[STEPS]
        if steps <= 0:
            return n + 1
    return count
