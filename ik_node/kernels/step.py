"""One damped step that keeps the bounds, and how a step is applied."""

from math import ceil, pi

from ik_node.kernels._jit import kernel
from ik_node.kernels.factor import factorise, solve_factored
from ik_node.kernels.forward import forward
from ik_node.kernels.layout import (
    asked,
    CON_LEVEL,
    CON_ROTATION_TOLERANCE,
    CON_TRANSLATION_TOLERANCE,
    Solve,
)
from ik_node.kernels.redundant import keep_rows, reduce_rows
from ik_node.kernels.rotation import principal_euler, turn_euler
from ik_node.kernels.rows import residuals
from ik_node.kernels.vectors import dot, less, put, six

QUICK_ROUNDS, EXACT_ROUNDS = 8, 60
# Held rows come within this share of their tolerance, or within rounding [L or rad].
WELL_WITHIN, ROUNDING = 1e-3, 1e-13

# Why a variable is held in a step.
FREE, LOCKED, AT_LOWER, AT_UPPER = range(4)


@kernel
def add_jacobian_times(s: Solve, change: int, out: int) -> None:
    """Add J times the variables' change at s.w[change] to the rows at s.w[out]."""
    w = s.w
    for c in range(s.nc):
        rows = six(w, out + 6 * c)
        for t in range(s.i[s.slot0 + c], s.i[s.slot0 + c + 1]):
            rows = less(rows, -w[change + s.i[s.slot_var + t]], six(w, s.jac + 6 * t))
        put(w, out + 6 * c, rows)


@kernel
def transpose_times(s: Solve, rows: int, out: int) -> None:
    """Write J^T times the rows at s.w[rows] to the variables at s.w[out]."""
    w = s.w
    for v in range(s.nv):
        w[out + v] = 0.0
    for c in range(s.nc):
        own = six(w, rows + 6 * c)
        for t in range(s.i[s.slot0 + c], s.i[s.slot0 + c + 1]):
            w[out + s.i[s.slot_var + t]] += dot(six(w, s.jac + 6 * t), own)


@kernel
def release(s: Solve) -> bool:
    """
    Let go of the held variable whose bound the step wants most to leave; whether there was one.

    Its multiplier is the gradient of what the step minimises. Goes by `load`, the multipliers of
    the rows, and by `step`.
    """
    transpose_times(s, s.load, s.gradient)
    best, found = 1e-12, -1
    for v in range(s.nv):
        side = s.k[s.fixed + v]
        if side in (AT_LOWER, AT_UPPER):
            slope = s.w[s.gradient + v] + s.w[s.damping + v] * (s.w[s.step + v] - s.w[s.wish + v])
            inward = -slope if side == AT_LOWER else slope
            if inward > best:
                best, found = inward, v
    if found >= 0:
        s.k[s.fixed + found] = FREE
    return found >= 0


@kernel
def go_to_bound(s: Solve) -> bool:
    """Go from `step` towards `full` as far as the bounds allow, and hold what is met there."""
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
def wound(s: Solve, v: int, value: float) -> float:
    """Return an angle, by full turns, within its bounds, or beyond the other where they gape."""
    if value > s.w[s.upper + v]:
        value -= 2.0 * pi * ceil((value - s.w[s.upper + v]) / (2.0 * pi))
    elif value < s.w[s.lower + v]:
        value += 2.0 * pi * ceil((s.w[s.lower + v] - value) / (2.0 * pi))
    return value


@kernel
def hold_all_beyond(s: Solve) -> bool:
    """Put every variable that `full` carries past a bound on it; whether there was one."""
    met = False
    for v in range(s.nv):
        if s.k[s.fixed + v] != FREE:
            continue
        s.w[s.step + v] = s.w[s.full + v]
        if s.k[s.free_ball + v] != 0:
            continue
        if s.k[s.winds + v] != 0:
            value = wound(s, v, s.w[s.x + v] + s.w[s.full + v])
            if s.w[s.lower + v] <= value <= s.w[s.upper + v]:
                continue
        least, most = s.w[s.lower + v] - s.w[s.x + v], s.w[s.upper + v] - s.w[s.x + v]
        if s.w[s.step + v] < least:
            s.w[s.step + v], s.k[s.fixed + v], met = least, AT_LOWER, True
        elif s.w[s.step + v] > most:
            s.w[s.step + v], s.k[s.fixed + v], met = most, AT_UPPER, True
    return met


@kernel
def bounded_step(s: Solve, exact: bool) -> None:
    """
    Find the damped step that keeps every variable within its bounds.

    Takes `fixed`, `wish`, `rhs` and `step` = 0; leaves the step in `step`. A variable that the
    step would carry past a bound is put on it, and the rest is solved again for what is then left:
    the others take over its share.

    Parameters
    ----------
    s : Solve
        The solve.
    exact : bool
        True: bounds are met and left one by one, as an active-set method does (Nocedal & Wright
        2006, ch. 16.5), until the step is the best one there is. False: all bounds that are met
        are held at once, which costs fewer factorisations; the next step starts anew.

    """
    for _ in range(EXACT_ROUNDS if exact else QUICK_ROUNDS):
        moved = False
        for v in range(s.nv):
            # Where the linear system starts from: held variables where they are held.
            s.w[s.full + v] = s.w[s.step + v]
            if s.k[s.fixed + v] == FREE:
                s.w[s.full + v] = s.w[s.wish + v]
            moved = moved or s.w[s.full + v] != 0.0
        for r in range(s.nr):
            s.w[s.load + r] = s.w[s.rhs + r]
        if moved:
            add_jacobian_times(s, s.full, s.load)
        factorise(s)
        solve_factored(s)
        for v in range(s.nv):
            s.w[s.full + v] += s.w[s.wish + v]
        if exact:
            if not go_to_bound(s) and not release(s):
                return
        elif not hold_all_beyond(s):
            return


@kernel
def apply_step(s: Solve, start: int, out: int) -> None:
    """
    Write start + step to out, on SO(3) where a ball is free, never past a bound.

    `start` and `out` are where variables begin in s.w; they may be the same.
    """
    for v in range(s.nv):
        if s.k[s.free_ball + v] == 0:
            value = s.w[start + v] + s.w[s.step + v]
            if s.k[s.winds + v] == 1:
                value = wound(s, v, value)
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
def restore(s: Solve, level: int, closed: float, attempts: int, most: float) -> bool:
    """
    Bring rows of finished levels back to what they are held at, by chord steps from x_try.

    Uses the factor of the step just taken, so a step costs one forward pass and one solve; goal
    rows give way as little as they can. Returns whether all are within `closed` [L or rad], and
    within a share of their tolerances, before any variable had to move by more than `most`
    [rad or L].
    """
    moved = 0.0
    for attempt in range(attempts + 1):
        worst, done = 0.0, True
        for c in range(s.nc):
            held = asked(s, c, CON_LEVEL) < level
            near = min(
                closed, WELL_WITHIN * asked(s, c, CON_TRANSLATION_TOLERANCE) / s.f[s.length]
            )
            near = max(min(near, WELL_WITHIN * asked(s, c, CON_ROTATION_TOLERANCE)), ROUNDING)
            for r in range(6 * c, 6 * c + 6):
                s.w[s.load + r] = s.w[s.trial + r] - s.w[s.hold + r] if held else 0.0
                worst = max(worst, abs(s.w[s.load + r]))
                done = done and abs(s.w[s.load + r]) <= near
        if done:
            return True
        if attempt == attempts or not worst < 1e3:
            return False
        solve_factored(s)
        farthest = 0.0
        for v in range(s.nv):
            s.w[s.step + v] = s.w[s.full + v]
            farthest = max(farthest, abs(s.w[s.full + v]))
        moved += farthest
        if moved > most:
            return False
        apply_step(s, s.x_try, s.x_try)
        forward(s, s.x_try)
        residuals(s)
        keep_rows(s)
        reduce_rows(s)
    return False
