"""The bounded step of theory.md, eq. (6), how it is applied, and how held rows are restored."""

from math import ceil, pi

from ik_node.kernels.decorators import kernel
from ik_node.kernels.factor import factorise, solve_factored
from ik_node.kernels.forward import forward
from ik_node.kernels.layout import (
    CON_LEVEL,
    CON_ROTATION_TOLERANCE,
    CON_TRANSLATION_TOLERANCE,
    constraint_value,
    Solve,
)
from ik_node.kernels.redundant import reduce_rows, store_grouped_rows
from ik_node.kernels.rotation import principal_euler, turn_euler
from ik_node.kernels.rows import residuals
from ik_node.kernels.start import copy_variables, excess_share, INNER, row_tolerance, tolerates
from ik_node.kernels.vectors import dot, less, put, six

QUICK_ROUNDS, EXACT_ROUNDS = 8, 60
# Restored rows deviate by a share of their tolerance or of this, or by rounding [L or rad].
CLOSED, ROUNDING = 1e-6, 1e-13

# State of a variable in a step.
FREE, LOCKED, AT_LOWER, AT_UPPER = range(4)


@kernel
def add_jacobian_times(s: Solve, change: int, out: int) -> None:
    """Add J dx to the rows at s.w[out], with dx the variables at s.w[change]."""
    w = s.w
    for c in range(s.nc):
        rows = six(w, out + 6 * c)
        for t in range(s.i[s.slot0 + c], s.i[s.slot0 + c + 1]):
            rows = less(rows, -w[change + s.i[s.slot_var + t]], six(w, s.jac + 6 * t))
        put(w, out + 6 * c, rows)


@kernel
def transpose_times(s: Solve, rows: int, out: int) -> None:
    """Write J^T y to the variables at s.w[out], with y the rows at s.w[rows]."""
    w = s.w
    for v in range(s.nv):
        w[out + v] = 0.0
    for c in range(s.nc):
        own = six(w, rows + 6 * c)
        for t in range(s.i[s.slot0 + c], s.i[s.slot0 + c + 1]):
            w[out + s.i[s.slot_var + t]] += dot(six(w, s.jac + 6 * t), own)


@kernel
def release_one_bound(s: Solve) -> bool:
    """
    Free the fixed variable whose multiplier points inwards the most. Return True if there was one.

    The multiplier of a bound is the gradient J^T y + D (dx - dx*) of the objective of eq. (6) and
    (9), with y in `load`, dx in `step` and the preferred step dx*.
    """
    transpose_times(s, s.load, s.gradient)
    best, found = 1e-12, -1
    for v in range(s.nv):
        side = s.k[s.fixed + v]
        if side in (AT_LOWER, AT_UPPER):
            slope = s.w[s.gradient + v] + s.w[s.damping + v] * (
                s.w[s.step + v] - s.w[s.preferred_step + v]
            )
            inward = -slope if side == AT_LOWER else slope
            if inward > best:
                best, found = inward, v
    if found >= 0:
        s.k[s.fixed + found] = FREE
    return found >= 0


@kernel
def advance_to_bound(s: Solve) -> bool:
    """
    Move `step` towards `full` until the first bound, and fix the variable that meets it.

    Return True if a bound was met.
    """
    share, met = 1.0, -1
    for v in range(s.nv):
        if s.k[s.fixed + v] != FREE or s.k[s.free_ball + v] != 0:
            continue
        least, most = s.w[s.lower + v] - s.w[s.x + v], s.w[s.upper + v] - s.w[s.x + v]
        full, step = s.w[s.full + v], s.w[s.step + v]
        if full < least and least - step > share * (full - step):
            share, met = (least - step) / (full - step), v
        elif full > most and most - step < share * (full - step):
            share, met = (most - step) / (full - step), v
    share = max(share, 0.0)
    for v in range(s.nv):
        if s.k[s.fixed + v] == FREE:
            s.w[s.step + v] += share * (s.w[s.full + v] - s.w[s.step + v])
    if met < 0:
        return False
    lower = s.w[s.full + met] < s.w[s.step + met]
    s.k[s.fixed + met] = AT_LOWER if lower else AT_UPPER
    s.w[s.step + met] = s.w[(s.lower if lower else s.upper) + met] - s.w[s.x + met]
    return True


@kernel
def wrap_angle(s: Solve, v: int, value: float) -> float:
    """Return the angle shifted by full turns into its bounds, or past the other bound."""
    if value > s.w[s.upper + v]:
        value -= 2.0 * pi * ceil((value - s.w[s.upper + v]) / (2.0 * pi))
    elif value < s.w[s.lower + v]:
        value += 2.0 * pi * ceil((s.w[s.lower + v] - value) / (2.0 * pi))
    return value


@kernel
def fix_all_beyond_bounds(s: Solve) -> bool:
    """
    Put every variable that `full` carries past a bound on that bound.

    Return True if there was one.
    """
    met = False
    for v in range(s.nv):
        if s.k[s.fixed + v] != FREE:
            continue
        s.w[s.step + v] = s.w[s.full + v]
        if s.k[s.free_ball + v] != 0:
            continue
        if s.k[s.wraps + v] != 0:
            value = wrap_angle(s, v, s.w[s.x + v] + s.w[s.full + v])
            if s.w[s.lower + v] <= value <= s.w[s.upper + v]:
                continue
        least, most = s.w[s.lower + v] - s.w[s.x + v], s.w[s.upper + v] - s.w[s.x + v]
        if s.w[s.step + v] < least:
            s.w[s.step + v], s.k[s.fixed + v], met = least, AT_LOWER, True
        elif s.w[s.step + v] > most:
            s.w[s.step + v], s.k[s.fixed + v], met = most, AT_UPPER, True
    return met


@kernel
def step_between_bounds(s: Solve) -> None:
    """
    Write the step that eq. (7) gives for the free variables to `full`, with the factor at hand.

    Reads `rhs`, `preferred_step` and, for fixed variables, `step`. Multipliers go to `load`.
    """
    moved = False
    for v in range(s.nv):
        # The linear system starts from the preferred step; fixed variables keep theirs.
        s.w[s.full + v] = s.w[s.step + v]
        if s.k[s.fixed + v] == FREE:
            s.w[s.full + v] = s.w[s.preferred_step + v]
        moved = moved or s.w[s.full + v] != 0.0
    for r in range(s.nr):
        s.w[s.load + r] = s.w[s.rhs + r]
    if moved:
        add_jacobian_times(s, s.full, s.load)
    solve_factored(s)
    for v in range(s.nv):
        s.w[s.full + v] += s.w[s.preferred_step + v]


@kernel
def bounded_step(s: Solve, exact: bool) -> None:
    """
    Solve theory.md, eq. (6): the damped step within the bounds.

    Reads `fixed`, `preferred_step`, `rhs` and `step` = 0; writes the step to `step`. A variable
    that the step would carry past a bound is fixed on it, and eq. (7) is solved again for the
    others.

    Parameters
    ----------
    s : Solve
        The solve.
    exact : bool
        True: bounds are added and released one at a time, as in an active-set method (Nocedal &
        Wright 2006, ch. 16.5), until the step is optimal. False: all variables past a bound are
        fixed at once, which needs fewer factorisations; the next step starts without fixed
        variables.

    """
    for _ in range(EXACT_ROUNDS if exact else QUICK_ROUNDS):
        factorise(s)
        step_between_bounds(s)
        if exact:
            if not advance_to_bound(s) and not release_one_bound(s):
                return
        elif not fix_all_beyond_bounds(s):
            return


@kernel
def apply_step(s: Solve, start: int, out: int) -> None:
    """
    Write start + step to out: q <- q exp(step) on SO(3) for a free ball joint, within the bounds.

    `start` and `out` are the first places of variables in s.w; they may be equal.
    """
    for v in range(s.nv):
        if s.k[s.free_ball + v] == 0:
            value = s.w[start + v] + s.w[s.step + v]
            if s.k[s.wraps + v] == 1:
                value = wrap_angle(s, v, value)
            s.w[out + v] = min(max(value, s.w[s.lower + v]), s.w[s.upper + v])
    for j in range(s.n):
        if s.i[s.ball + j] == 1 and s.k[s.free_ball + s.i[s.var + j]] == 1:
            z, y, x = s.i[s.var + j], s.i[s.var + j + 1], s.i[s.var + j + 2]
            ex, ey, ez = turn_euler(
                s.w[start + x],
                s.w[start + y],
                s.w[start + z],
                s.w[s.step + x],
                s.w[s.step + y],
                s.w[s.step + z],
            )
            if not (
                s.w[s.lower + x] <= ex <= s.w[s.upper + x]
                and s.w[s.lower + y] <= ey <= s.w[s.upper + y]
                and s.w[s.lower + z] <= ez <= s.w[s.upper + z]
            ):
                ex, ey, ez = principal_euler(ex, ey, ez)
            s.w[out + x], s.w[out + y], s.w[out + z] = ex, ey, ez


@kernel
def largest(s: Solve, at: int) -> float:
    """Return max |value| over the variables at s.w[at] [rad or L]."""
    most = 0.0
    for v in range(s.nv):
        most = max(most, abs(s.w[at + v]))
    return most


@kernel
def try_step(s: Solve, start: int) -> None:
    """Write start + step to x_try, and its frames and rows; `start` is a place in s.w."""
    apply_step(s, start, s.x_try)
    forward(s, s.x_try)
    residuals(s)
    store_grouped_rows(s)
    reduce_rows(s)


@kernel
def restore_held_rows(s: Solve, level: int, share: float, attempts: int, most: float) -> bool:
    """
    Move x_try by chord steps until the rows of finished levels have their held values again.

    A chord step solves eq. (7) with the factor of the step just taken and the rows' present
    deviation; the goal's rows change as little as possible. Return True if all rows of lower
    levels are within a share of their tolerances, or of CLOSED, before any variable had to move
    by more than `most` [rad or L].
    """
    moved = 0.0
    for attempt in range(attempts + 1):
        worst, done = 0.0, True
        for c in range(s.nc):
            held = constraint_value(s, c, CON_LEVEL) < level
            near = constraint_value(s, c, CON_TRANSLATION_TOLERANCE) / s.f[s.length]
            near = min(near, constraint_value(s, c, CON_ROTATION_TOLERANCE))
            near = max(share * min(near, CLOSED), ROUNDING)
            loose = held and tolerates(s, c)
            for r in range(6 * c, 6 * c + 6):
                s.w[s.load + r] = s.w[s.trial + r] - s.w[s.hold + r] if held else 0.0
                within = near
                if loose:
                    excess = excess_share(s, s.trial, r) * s.w[s.trial + r]
                    s.w[s.load + r] = excess - s.w[s.hold + r] if excess != 0.0 else 0.0
                    if constraint_value(s, c, CON_LEVEL) > 0.0:
                        within = max(near, 0.5 * (1.0 - INNER) * row_tolerance(s, r))
                worst = max(worst, abs(s.w[s.load + r]))
                done = done and abs(s.w[s.load + r]) <= within
        if done:
            return True
        if attempt == attempts or not worst < 1e3:
            return False
        solve_factored(s)
        copy_variables(s, s.full, s.step)
        moved += largest(s, s.step)
        if moved > most:
            return False
        try_step(s, s.x_try)
    return False
