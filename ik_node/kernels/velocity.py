"""
Joint velocities for given twists of goals, at one configuration; docs/theory.md, section 12.

The rows of closures and goals are linear in the joint velocities, so each level is one quadratic
program in the step's own form: `step` holds velocities [rad/s or L/s], `lower` and `upper` the
bounds of velocities, and `residual` the negative twists. All of them are divided by the largest
component of a twist, so that the thresholds here are relative.
"""

from math import cos, inf

from ik_node.kernels import layout
from ik_node.kernels import options as option
from ik_node.kernels import solve_state as now
from ik_node.kernels.avoid import choose_pairs
from ik_node.kernels.decorators import entry, FLOATS, INTS, kernel, rare
from ik_node.kernels.factor import factorise
from ik_node.kernels.forward import forward
from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.kinds import KIND_AVOID, KIND_CONE, KIND_FRAME, KIND_MASS
from ik_node.kernels.layout import Floats, Ints, open_solve, Solve, unit_of_column
from ik_node.kernels.lm_step import FREE_DAMPING, IGNORED_SOFTNESS, SOFTEST
from ik_node.kernels.redundant import choose_independent_rows
from ik_node.kernels.rotation import euler_rates
from ik_node.kernels.rows import counting_axis, norm, residuals, set_row
from ik_node.kernels.start import row_weight, start_solve, write_difference
from ik_node.kernels.step import (
    add_jacobian_times,
    advance_to_bound,
    EXACT_ROUNDS,
    FREE,
    largest,
    LOCKED,
    release_one_bound,
    step_between_bounds,
)
from ik_node.kernels.unchecked_array import flat, table

# The damping of a step, and the most steps of a level. Together they are a filter: a direction
# with singular value sigma is met up to (DAMPING / (sigma^2 + DAMPING))^ROUNDS.
DAMPING, ROUNDS = 1e-4, 20
# Least damping that an option can set, which the factorisation needs.
LEAST_DAMPING = 1e-8
# Held rows are as stiff as double precision allows beside the damping, see `lm_step`.
HELD_PRODUCT = 1e-12
# Largest rate of a closure's residual that counts as none, relative to the largest twist.
CLOSED = 1e-11
# A level ends when a step changes no velocity by more than this, relative to the largest twist.
SETTLED = 1e-12
# Largest difference between a row's rate and its twist that counts as met: likewise, and in any
# case [L/s or rad/s].
TOLERANCE, ROUNDING = 1e-6, 1e-9
# Below this |cos(EY)| a ball joint moves by its Euler angles, whose rates on SO(3) have no bound.
GIMBAL_LOCK = 1e-2
# Shortens a way to a limit so that q + dt velocity does not exceed the limit by rounding.
INSIDE = 1.0 - 1e-15
# A velocity that is nearer to a bound than this is at the bound, relative to the largest twist and
# to the velocity.
AT_BOUND = 1e-9
# Bodies that are too near come apart by so much in one call [m].
LEAVING = 1e-4
# The level of all goals at once. Levels 1 to LAST_LEVEL are those of the priorities; after them
# come the least norm and, where loops are not closed well enough, their closing.
ALL_GOALS = 0
LEAST_NORM, CLOSE_LOOPS = 1, 2
# What bounds the velocity of a joint value.
BOUND_NONE, BOUND_VELOCITY, BOUND_POSITION = range(3)


@kernel
def set_twist_rows(s: Solve, twists: Floats) -> float:
    """
    Write the rows of goals, w_r, and minus their rates, to `vector`, `lever` and `residual`.

    A position row counts the velocity of the origin of frame A relative to the parent of frame B,
    an orientation row the angular velocity. Rows of look_at and distance keep the residual's row
    vectors: frame B moves with the twist. Return the largest rate [L/s or rad/s].
    """
    largest = 0.0
    for c in range(s.nc):
        a, b, kind = s.a_frame[12 * c :], s.b_frame[12 * c :], s.kind[c]
        goal = s.constraints[c, layout.CON_LEVEL] > 0.0
        if goal and kind in (KIND_FRAME, KIND_MASS):
            row = 6 * c
            for k in range(6):
                if s.mask[c] & (1 << k):
                    x, y, z = counting_axis(s.axes[c], a, b, k % 3)
                    set_row(s, row, 0.0, x, y, z)
                    row += 1
            for k in range(12):
                b[k] = a[k]
            for k in range(6):
                s.lever[6 * c + k] = a[9 + k % 3]
        for r in range(6 * c, 6 * c + 6):
            part = 0 if r < s.turning[c] else 3
            index, rate = r + 12 * c, 0.0
            if r < s.row_end[c]:
                for k in range(3):
                    rate += s.vector[index + 6 * k] * twists[c, part + k]
            rate /= s.length if part == 0 else 1.0
            s.residual[r] = -rate
            largest = max(largest, abs(rate))
    return largest


@kernel
def bounds_of_column(s: Solve, j: int, speeds: Floats, dt: float) -> tuple[float, float]:
    """
    Return the bounds of the velocity of column j [rad/s or m/s].

    They follow from its largest speed and, if dt > 0, from (limit - q) / dt; otherwise a value at
    a limit does not move beyond it.
    """
    g = s.column_q[j]
    limit = speeds[g]
    down, up = s.joints[layout.JOINT_LOWER, g] - s.q[g], s.joints[layout.JOINT_UPPER, g] - s.q[g]
    if s.joints[layout.JOINT_WINDOW, g] == 0.0:
        return 0.0, 0.0
    if dt > 0.0:
        return max(-limit, min(down / dt * INSIDE, 0.0)), min(limit, max(up / dt * INSIDE, 0.0))
    return (-limit if down < 0.0 else 0.0), (limit if up > 0.0 else 0.0)


@kernel
def free_balls(s: Solve, speeds: Floats) -> None:
    """Mark the ball joints without any bound, away from gimbal lock, which turn on SO(3)."""
    for j in range(s.n):
        if s.ball[j] == 1:
            free = 1 if abs(cos(s.value[j + 1])) > GIMBAL_LOCK else 0
            for k in range(3):
                low, high = bounds_of_column(s, j + k, speeds, 1.0)
                if low > -inf or high < inf:
                    free = 0
            for k in range(3):
                s.free_ball[s.var[j + k]] = free


@kernel
def set_velocity_bounds(s: Solve, speeds: Floats, dt: float, scale: float) -> None:
    """
    Write the bounds of all variables, in units of `scale`, and start from rest.

    A variable is bounded by every column that follows it. All bounds allow the velocity 0.
    """
    for v in range(s.nv):
        s.x[v] = 0.0
        s.lower[v], s.upper[v] = -inf, inf
    for j in range(s.n):
        v, slope = s.var[j], scale * s.rate[j] * unit_of_column(s, j)
        if v >= 0 and slope != 0.0:
            low, high = bounds_of_column(s, j, speeds, dt)
            if slope < 0.0:
                low, high = high, low
            s.lower[v] = max(s.lower[v], low / slope)
            s.upper[v] = min(s.upper[v], high / slope)


@kernel
def has_preferences(s: Solve) -> bool:
    """Return True if a variable has a joint target or a rest pose."""
    prefers = False
    for v in range(s.nv):
        prefers = prefers or s.preference[v] != layout.PREFERS_NOTHING
    return bool(prefers)


@kernel
def set_preferred_velocities(s: Solve, dt: float) -> None:
    """
    Write the preferred velocities g (x* - x) / dt to `target`; theory.md, eq. (18).

    Without a time they are those of one second. Variables without a preference prefer rest.
    """
    write_difference(s, s.target, s.x)
    for v in range(s.nv):
        preferred = s.preference[v] != layout.PREFERS_NOTHING
        rate = s.gain[v] * s.preferred_step[v] / (dt if dt > 0.0 else 1.0)
        s.target[v] = rate if preferred else 0.0


@kernel
def begin_from_rest(s: Solve) -> None:
    """Set all velocities to zero, and free the variables that may move."""
    for v in range(s.nv):
        s.step[v] = 0.0
        s.fixed[v] = LOCKED if s.lower[v] == s.upper[v] else FREE


@kernel
def is_held(s: Solve, c: int) -> bool:
    """Return True if the rows of constraint c keep their rates in the present level."""
    own, weight = s.constraints[c, layout.CON_LEVEL], s.constraints[c, layout.CON_WEIGHT]
    level, closing = s.k[now.LEVEL], s.k[now.LAST_LEVEL] + CLOSE_LOOPS
    return bool(own == 0.0 or (own < level < closing and weight > 0.0))


@rare
def begin_level(s: Solve) -> bool:
    """
    Set softness M and right-hand side of all rows, and the damping D, for the present level.

    The level `ALL_GOALS` ignores weights; those after the last have no rows of their own. Return
    False if the level has nothing to improve.
    """
    level, added = s.k[now.LEVEL], bool(s.k[now.LEVEL] > s.k[now.LAST_LEVEL])
    damping = 1.0 if added else DAMPING
    if not added and s.options[option.ADAPTIVE_DAMPING] == 0.0:
        damping = max(
            s.options[option.DAMPING_FACTOR] * s.options[option.DAMPING_FACTOR], LEAST_DAMPING
        )
    prefers = level == s.k[now.LAST_LEVEL] + LEAST_NORM and has_preferences(s)
    if prefers:
        damping = FREE_DAMPING
    s.w[now.HELD_SOFTNESS] = min(HELD_PRODUCT / damping, SOFTEST)
    for v in range(s.nv):
        s.damping[v] = damping
        if prefers and s.preference[v] != layout.PREFERS_NOTHING:
            s.damping[v] = s.pull[v]
    for c in range(s.nc):
        own, held = s.constraints[c, layout.CON_LEVEL], is_held(s, c)
        counts = (own == level or level == ALL_GOALS) and s.constraints[c, layout.CON_WEIGHT] > 0.0
        for r in range(6 * c, 6 * c + 6):
            s.softness[r], s.rhs[r] = IGNORED_SOFTNESS, 0.0
            if s.implied[r] == 1:
                continue
            if held:
                s.softness[r] = s.w[now.HELD_SOFTNESS]
                s.rhs[r] = -s.hold[r]
            elif counts:
                added = True
                factor = s.options[
                    option.ROTATION_FACTOR if r >= s.angular[c] else option.TRANSLATION_FACTOR
                ]
                weight = factor * factor if level == ALL_GOALS else row_weight(s, r)
                s.softness[r] = 1.0 / weight
                s.rhs[r] = s.residual[r]
    return added


@rare
def improve_level(s: Solve) -> bool:
    """
    Minimise the cost of the present level within the bounds.

    Return False if the velocities settled without meeting a bound. From rest they then have the
    least norm.

    Every round solves theory.md, eq. (7), about the velocities of the round before (the proximal
    point method), or about the preferred ones, 0 without preferences, to be nearest to these. Held
    rows have multipliers that carry over from round to round (Rockafellar 1976), so that they are
    met to the last digits. The factor is used again until a variable meets or leaves a bound.

    References
    ----------
    Rockafellar, R. T. (1976), Augmented Lagrangians and applications of the proximal point
    algorithm in convex programming, Mathematics of Operations Research 1(2).

    """
    about_rest = s.k[now.LEVEL] == s.k[now.LAST_LEVEL] + LEAST_NORM
    changed, met, rounds = True, False, 0
    for _ in range(EXACT_ROUNDS + 2 * s.nv):
        if changed:
            factorise(s)
        for v in range(s.nv):
            s.preferred_step[v] = s.target[v] if about_rest else s.step[v]
        step_between_bounds(s)
        for c in range(s.nc):
            if is_held(s, c):
                for r in range(6 * c, 6 * c + 6):
                    if s.implied[r] == 0:
                        s.rhs[r] = s.w[now.HELD_SOFTNESS] * s.load[r] - s.hold[r]
        change = 0.0
        for v in range(s.nv):
            if s.fixed[v] == FREE:
                change = max(change, abs(s.full[v] - s.step[v]))
        changed = advance_to_bound(s)
        met = met or changed
        if not changed:
            changed = release_one_bound(s)
            rounds += 0 if changed else 1
        if not changed and (change <= SETTLED or rounds >= ROUNDS):
            return met or change > SETTLED
    return True


@kernel
def end_level(s: Solve, tolerance: float) -> bool:
    """
    Write J v - t to `trial`, and J v to `hold`; return True if all twists are met.

    Rows of goals that are not held yet keep their rates in the levels that follow.
    """
    for r in range(s.nr):
        s.trial[r] = s.residual[r]
    add_jacobian_times(s, s.step, s.trial)
    met = True
    for c in range(s.nc):
        if s.constraints[c, layout.CON_LEVEL] > 0.0:
            for r in range(6 * c, s.row_end[c]):
                if not is_held(s, c):
                    s.hold[r] = s.trial[r] - s.residual[r]
                met = met and abs(s.trial[r]) <= tolerance
    return met


@kernel
def have_equal_weights(s: Solve) -> bool:
    """Return True if all goals have the same weight."""
    first = s.constraints[s.nc - 1, layout.CON_WEIGHT]
    for c in range(s.nc):
        goal = s.constraints[c, layout.CON_LEVEL] > 0.0
        if goal and s.constraints[c, layout.CON_WEIGHT] != first:
            return False
    return True


@kernel
def loops_are_closed(s: Solve) -> bool:
    """Return True if the velocities keep all loops closed; `trial` holds J v of closures."""
    for c in range(s.nc):
        if s.constraints[c, layout.CON_LEVEL] == 0.0:
            for r in range(6 * c, s.row_end[c]):
                if s.implied[r] == 0 and abs(s.trial[r] - s.hold[r]) > CLOSED:
                    return False
    return True


@kernel
def solve_levels(s: Solve, tolerance: float) -> bool:
    """
    Write the velocities to `step`; return True if all twists are met.

    All goals come first, without weights. If they cannot all be met, the levels follow one after
    the other, from rest. Then the distance from the preferred velocities is minimised, without
    preferences the norm, with all rows held, unless the velocities have the least norm already.
    Near a singular pose of the loops a goal can force them open; the last level closes them.
    """
    last, level = s.k[now.LAST_LEVEL], ALL_GOALS
    met, unfinished = False, has_preferences(s)
    begin_from_rest(s)
    while level <= last + CLOSE_LOOPS:
        s.k[now.LEVEL] = level
        if begin_level(s):
            unfinished = improve_level(s) or unfinished
            met = end_level(s, tolerance)
        if level > ALL_GOALS:
            level += 1
        elif met or (last == 1 and have_equal_weights(s)):
            level = last + (LEAST_NORM if unfinished else CLOSE_LOOPS)
        else:
            begin_from_rest(s)
            level = 1
        if level == last + CLOSE_LOOPS and loops_are_closed(s):
            break
    return met


@kernel
def hold_inequalities(s: Solve, dt: float, scale: float) -> bool:
    """
    Hold the rate of every inequality that the velocities would violate; return True if any.

    Reads the rates in `trial`, and the residuals in `relief`. Bodies that are too near come apart,
    by LEAVING within the time dt at most.
    """
    added = False
    for c in range(s.nc):
        bodies = s.kind[c] == KIND_AVOID
        for r in range(6 * c, s.row_end[c] if s.kind[c] >= KIND_CONE else 6 * c):
            if s.implied[r] == 0 or (bodies and s.row_check[r] < 0):
                continue
            left = max(-s.relief[r], -LEAVING / s.length if bodies else 0.0)
            limit = 0.0 if left < AT_BOUND else inf
            if dt > 0.0:
                limit = left / dt
            if scale * (s.trial[r] - AT_BOUND) > limit:
                s.implied[r] = 0
                s.hold[r] = limit / scale
                added = True
    return added


@kernel
def write_velocities(s: Solve, speeds: Floats, dt: float, scale: float, out: Floats) -> None:
    """Write the velocity of every column to row 0 of `out`, and BOUND_* to row 1."""
    for j in range(s.n):
        v, g = s.var[j], s.column_q[j]
        if v < 0:
            continue
        if s.ball[j] > 0 and s.free_ball[v] == 1:
            if s.ball[j] == 1:
                y, x = s.var[j + 1], s.var[j + 2]
                ex, ey = s.value[j + 2], s.value[j + 1]
                wx, wy, wz = s.step[x], s.step[y], s.step[v]
                rx, ry, rz = euler_rates(ex, ey, wx, wy, wz)
                out[0, g] = scale * rz
                out[0, s.column_q[j + 1]] = scale * ry
                out[0, s.column_q[j + 2]] = scale * rx
            continue
        low, high = bounds_of_column(s, j, speeds, dt)
        unit = scale * unit_of_column(s, j)
        rate = unit * s.rate[j] * s.step[v]
        out[0, g] = min(max(rate, low), high)
        near = AT_BOUND * max(unit, abs(rate))
        if low < high and (rate <= low + near or rate >= high - near):
            at_speed = abs(rate) >= speeds[g] - near
            out[1, g] = BOUND_VELOCITY if at_speed else BOUND_POSITION


@entry(INTS, FLOATS, INTS, *8 * [FLOATS])
def velocity(
    i: Ints,
    f: Floats,
    k: Ints,
    w: Floats,
    q: Floats,
    joints: Floats,
    options: Floats,
    speeds: Floats,
    twists: Floats,
    period: Floats,
    out: Floats,
) -> int:
    """
    Write the joint velocities that give goals their twists and keep the loops closed.

    The first arguments are those of `solve.advance`; values of q beyond the limits are clipped.
    `speeds` (nq,) are the largest ones [rad/s or m/s], 0 or more; inf = none. `twists` (nc, 6):
    linear [m/s] and angular [rad/s] velocity of every goal, root axes; 0 for closures. `period`
    (1,): time for which the position limits are to be kept [s]; 0 = only at this instant. `out`
    (2, nq) gets velocities [rad/s or m/s] and BOUND_* of the values of this chain. Return
    STATUS_CONVERGED if all twists are met, STATUS_STALLED if not, STATUS_REFUSED if a number is
    not finite. `error` (2 nc,) holds the norms of what is missing [m/s], [rad/s].
    """
    s = open_solve(i, f, k, w, q, joints, options)
    limits, dt = flat(speeds, s.nq), flat(period, 1)[0]
    fine = start_solve(s)
    s.k[now.PHASE] = now.PHASE_DONE
    for g in range(s.nq):
        fine = fine and limits[g] >= 0.0
    if not fine:
        return now.STATUS_REFUSED
    forward(s, s.x)
    residuals(s)
    if s.checks > 0:
        choose_pairs(s)
    for r in range(s.nr):
        s.relief[r] = s.trial[r]
    scale = set_twist_rows(s, table(twists, s.nc, 6))
    free_balls(s, limits)
    set_preferred_velocities(s, dt)
    if scale == 0.0:
        scale = largest(s, s.target)
    met = True
    for r in range(s.nr):
        s.trial[r] = 0.0
    if scale > 0.0:
        for r in range(s.nr):
            s.residual[r] /= scale
        for v in range(s.nv):
            s.target[v] /= scale
        jacobian(s)
        choose_independent_rows(s)
        for c in range(s.nc):
            for r in range(6 * c, s.row_end[c] if s.kind[c] >= KIND_CONE else 6 * c):
                s.implied[r] = 1
        set_velocity_bounds(s, limits, dt, scale)
        binds = True
        while binds:
            met = solve_levels(s, max(TOLERANCE, ROUNDING / scale))
            binds = hold_inequalities(s, dt, scale)
        write_velocities(s, limits, dt, scale, table(out, 2, s.nq))
    for c in range(s.nc):
        end = s.angular[c]
        missing = scale * norm(s.trial, 6 * c, end)
        s.error[2 * c] = s.length * missing
        missing = scale * norm(s.trial, end, s.row_end[c])
        s.error[2 * c + 1] = missing
    return now.STATUS_CONVERGED if met else now.STATUS_STALLED
