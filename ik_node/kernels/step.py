"""The bounded step of theory.md, eq. (6), how it is applied, and how held rows are restored."""

from math import ceil, pi

from ik_node.kernels import layout
from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.factor import factorise, solve_factored
from ik_node.kernels.layout import Floats, Solve
from ik_node.kernels.redundant import reduce_rows
from ik_node.kernels.rotation import principal_euler, turn_euler
from ik_node.kernels.start import (
    copy_variables,
    excess_share,
    INNER,
    place,
    row_tolerance,
    tolerates,
)
from ik_node.kernels.vectors import dot, less, put, six

QUICK_ROUNDS, EXACT_ROUNDS = 8, 60
# Restored rows deviate by a share of their tolerance or of this, or by rounding [L or rad].
CLOSED, ROUNDING = 1e-6, 1e-13

# State of a variable in a step.
FREE, LOCKED, AT_LOWER, AT_UPPER = range(4)


@kernel
def add_jacobian_times(s: Solve, change: Floats, out: Floats) -> None:
    """Add J dx to the rows `out` (nr,), with the change dx (nv,) of the variables."""
    for c in range(s.nc):
        rows = six(out, 6 * c)
        for t in range(s.slot0[c], s.slot0[c + 1]):
            rows = less(rows, -change[s.slot_var[t]], six(s.jac, 6 * t))
        put(out, 6 * c, rows)


@kernel
def transpose_times(s: Solve, rows: Floats, out: Floats) -> None:
    """Write J^T y to the variables `out` (nv,), with y the rows (nr,)."""
    for v in range(s.nv):
        out[v] = 0.0
    for c in range(s.nc):
        own = six(rows, 6 * c)
        for t in range(s.slot0[c], s.slot0[c + 1]):
            out[s.slot_var[t]] += dot(six(s.jac, 6 * t), own)


@rare
def release_one_bound(s: Solve) -> bool:
    """
    Free the fixed variable whose multiplier points inwards the most. Return True if there was one.

    The multiplier of a bound is the gradient J^T y + D (dx - dx*) of the objective of eq. (6) and
    (9), with y in `load`, dx in `step` and the preferred step dx*.
    """
    transpose_times(s, s.load, s.gradient)
    best, chosen = 1e-12, -1
    for v in range(s.nv):
        side = s.fixed[v]
        if side in (AT_LOWER, AT_UPPER):
            slope = s.gradient[v] + s.damping[v] * (s.step[v] - s.preferred_step[v])
            inward = -slope if side == AT_LOWER else slope
            if inward > best:
                best, chosen = inward, v
    if chosen >= 0:
        s.fixed[chosen] = FREE
    return chosen >= 0


@rare
def advance_to_bound(s: Solve) -> bool:
    """
    Move `step` towards `full` until the first bound, and fix the variable that meets it.

    Return True if a bound was met.
    """
    share, met = 1.0, -1
    for v in range(s.nv):
        if s.fixed[v] != FREE or s.free_ball[v] != 0:
            continue
        lower, upper = s.lower[v] - s.x[v], s.upper[v] - s.x[v]
        full, step = s.full[v], s.step[v]
        if full < lower and lower - step > share * (full - step):
            share, met = (lower - step) / (full - step), v
        elif full > upper and upper - step < share * (full - step):
            share, met = (upper - step) / (full - step), v
    share = max(share, 0.0)
    for v in range(s.nv):
        if s.fixed[v] == FREE:
            s.step[v] += share * (s.full[v] - s.step[v])
    if met < 0:
        return False
    lower = s.full[met] < s.step[met]
    s.fixed[met] = AT_LOWER if lower else AT_UPPER
    s.step[met] = (s.lower[met] if lower else s.upper[met]) - s.x[met]
    return True


@kernel
def wrap_angle(s: Solve, v: int, value: float) -> float:
    """Return the angle shifted by full turns into its bounds, or past the other bound."""
    if value > s.upper[v]:
        value -= 2.0 * pi * ceil((value - s.upper[v]) / (2.0 * pi))
    elif value < s.lower[v]:
        value += 2.0 * pi * ceil((s.lower[v] - value) / (2.0 * pi))
    return value


@kernel
def fix_all_beyond_bounds(s: Solve) -> bool:
    """
    Put every variable that `full` carries past a bound on that bound.

    Return True if there was one.
    """
    met = False
    for v in range(s.nv):
        if s.fixed[v] != FREE:
            continue
        s.step[v] = s.full[v]
        if s.free_ball[v] != 0:
            continue
        if s.wraps[v] != 0:
            value = wrap_angle(s, v, s.x[v] + s.full[v])
            if s.lower[v] <= value <= s.upper[v]:
                continue
        lower, upper = s.lower[v] - s.x[v], s.upper[v] - s.x[v]
        if s.step[v] < lower:
            s.step[v], s.fixed[v], met = lower, AT_LOWER, True
        elif s.step[v] > upper:
            s.step[v], s.fixed[v], met = upper, AT_UPPER, True
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
        s.full[v] = s.step[v]
        if s.fixed[v] == FREE:
            s.full[v] = s.preferred_step[v]
        moved = moved or s.full[v] != 0.0
    for r in range(s.nr):
        s.load[r] = s.rhs[r]
    if moved:
        add_jacobian_times(s, s.full, s.load)
    solve_factored(s)
    for v in range(s.nv):
        s.full[v] += s.preferred_step[v]


@kernel
def bounded_step(s: Solve, exact: bool) -> None:
    """
    Solve theory.md, eq. (6): the damped step within the bounds.

    Reads `fixed`, `preferred_step`, `rhs` and `step` = 0; writes the step to `step`. A variable
    that the step would carry past a bound is fixed on it, and eq. (7) is solved again for the
    others.

    If `exact`, bounds are added and released one at a time, as in an active-set method (Nocedal &
    Wright 2006, ch. 16.5), until the step is optimal. Otherwise all variables past a bound are
    fixed at once, which needs fewer factorisations; the next step starts without fixed variables.
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
def apply_step(s: Solve, start: Floats, out: Floats) -> None:
    """
    Write start + step to out: q <- q exp(step) on SO(3) for a free ball joint, within the bounds.

    `start` and `out` (nv,) may be the same.
    """
    for v in range(s.nv):
        if s.free_ball[v] == 0:
            value = start[v] + s.step[v]
            if s.wraps[v] == 1:
                value = wrap_angle(s, v, value)
            out[v] = min(max(value, s.lower[v]), s.upper[v])
    for j in range(s.n):
        if s.ball[j] == 1 and s.free_ball[s.var[j]] == 1:
            z, y, x = s.var[j], s.var[j + 1], s.var[j + 2]
            ex, ey, ez = turn_euler(start[x], start[y], start[z], s.step[x], s.step[y], s.step[z])
            if not (
                s.lower[x] <= ex <= s.upper[x]
                and s.lower[y] <= ey <= s.upper[y]
                and s.lower[z] <= ez <= s.upper[z]
            ):
                ex, ey, ez = principal_euler(ex, ey, ez)
            out[x], out[y], out[z] = ex, ey, ez


@kernel
def largest(s: Solve, x: Floats) -> float:
    """Return max |value| of variables x (nv,) [rad or L]."""
    largest = 0.0
    for v in range(s.nv):
        largest = max(largest, abs(x[v]))
    return largest


@rare
def try_step(s: Solve, start: Floats) -> None:
    """Write start + step to x_try, and its frames and rows."""
    apply_step(s, start, s.x_try)
    place(s, s.x_try)
    if s.groups > 0:
        reduce_rows(s)


@rare
def restore_held_rows(s: Solve, level: int, share: float, attempts: int, limit: float) -> bool:
    """
    Move x_try by chord steps until the rows of finished levels have their held values again.

    A chord step solves eq. (7) with the factor of the step just taken and the rows' present
    deviation; the goal's rows change as little as possible. Return True if all rows of lower
    levels are within a share of their tolerances, or of CLOSED, before any variable had to move
    by more than `limit` [rad or L].
    """
    moved = 0.0
    for attempt in range(attempts + 1):
        worst, done = 0.0, True
        for c in range(s.nc):
            held = s.constraints[c, layout.CON_LEVEL] < level
            near = s.constraints[c, layout.CON_TRANSLATION_TOLERANCE] / s.length
            near = min(near, s.constraints[c, layout.CON_ROTATION_TOLERANCE])
            near = max(share * min(near, CLOSED), ROUNDING)
            loose = held and tolerates(s, c)
            for r in range(6 * c, 6 * c + 6):
                s.load[r] = s.trial[r] - s.hold[r] if held else 0.0
                within = near
                if loose:
                    excess = excess_share(s, s.trial, r) * s.trial[r]
                    s.load[r] = excess - s.hold[r] if excess != 0.0 else 0.0
                    if s.constraints[c, layout.CON_LEVEL] > 0.0:
                        within = max(near, 0.5 * (1.0 - INNER) * row_tolerance(s, r))
                worst = max(worst, abs(s.load[r]))
                done = done and abs(s.load[r]) <= within
        if done:
            return True
        if attempt == attempts or not worst < 1e3:
            return False
        solve_factored(s)
        copy_variables(s, s.full, s.step)
        moved += largest(s, s.step)
        if moved > limit:
            return False
        try_step(s, s.x_try)
    return False
