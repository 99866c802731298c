"""
One Levenberg-Marquardt step: rows and variables of the phase, step, acceptance, damping.

Equations refer to docs/theory.md. The phases differ in their rows, in the damping and in the
acceptance rule.
"""

from math import sqrt

from ik_node.kernels import layout, policy
from ik_node.kernels import options as option
from ik_node.kernels import solve_state as now
from ik_node.kernels.continue_to import BEND, DRIVE, LONGEST, next_share
from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.kinds import KIND_CONE
from ik_node.kernels.layout import Solve
from ik_node.kernels.start import (
    all_within_tolerance,
    copy_variables,
    cost_of,
    excess_share,
    has_preference,
    INFINITE,
    INNER,
    keep_place_of_frames,
    remember_best,
    row_tolerance,
    row_weight,
    smooths,
    tolerates,
    write_difference,
    write_preferred_step,
)
from ik_node.kernels.step import (
    add_jacobian_times,
    bounded_step,
    FREE,
    largest,
    LOCKED,
    restore_held_rows,
    try_step,
)

# Held rows are as stiff as double precision allows beside the damping: the product of softness
# and damping must stay some orders above rounding, or redundant closures lose their pivot's sign.
# With one softness for all, loops of millimetres would be soft as soon as the damping has grown.
HELD_PRODUCT, SOFTEST = 1e-10, 1e-6
FREE_DAMPING = 1e-4
LEVEL_DAMPING = 1e-6
REACH_DAMPING = 1e-12
IGNORED_SOFTNESS = 1e12
# Least curvature along the boundary of a tolerance, relative to that across it.
LEAST_CURVATURE = 1e-6
# Solutions of eq. (7) for one step where tolerances count: each starts from the rows that the one
# before predicts to exceed them, as in an active-set method.
TOLERANT_ROUNDS = 5
# Share of their tolerance up to which held rows count as restored, and chord steps for that.
HELD_SHARE, HELD_ATTEMPTS, WALK_ATTEMPTS = 1e-3, 7, 2
# A step of REACH that reduces the cost by a smaller share than this counts as weak.
WEAK = 0.03
# A gain ratio, eq. (8), above GOOD_RATIO decreases the damping scale, one below POOR_RATIO
# increases it, and a rejected step increases it more (Madsen et al. 2004, section 3.2).
GOOD_RATIO, POOR_RATIO = 0.75, 0.25
DAMPING_DECREASE, DAMPING_INCREASE, DAMPING_AFTER_REJECTION = 0.2, 2.0, 8.0
# After restarts the goal is often out of reach; the linear model is then less accurate, and a
# smaller decrease saves rejected steps.
LATER_DECREASE = 0.5
# Below this damping scale the normal equations lose their last digits.
LEAST_DAMPING_SCALE = 1e-6
# Every so many steps of a level their way is extrapolated.
STRIDE = 4


@kernel
def clamp_rows(s: Solve, c: int) -> None:
    """
    Shorten the right-hand side of constraint c to the error clamps; the residual itself stays.

    For the translation rows and for the rotation rows of c, rhs <- rhs min(1, clamp / |rhs|).
    """
    for part in range(2):
        clamp = s.options[option.ROTATION_ERROR_CLAMP]
        if part == 0:
            clamp = s.options[option.TRANSLATION_ERROR_CLAMP] / s.length
        first = 6 * c if part == 0 else s.angular[c]
        last = s.angular[c] if part == 0 else s.row_end[c]
        total = 0.0
        for r in range(first, last):
            total += s.rhs[r] * s.rhs[r]
        if total > clamp * clamp:
            for r in range(first, last):
                s.rhs[r] *= clamp / total**0.5


@rare
def write_modelled_rows(s: Solve) -> None:
    """Write the rows r + J dx that the linear model predicts for the step to `trial`."""
    for r in range(s.nr):
        s.trial[r] = s.residual[r]
    add_jacobian_times(s, s.step, s.trial)


@rare
def find_active(s: Solve) -> bool:
    """
    Mark the inequalities that count at the rows of `trial`. Return True if none has changed.

    A row counts as long as its multiplier y = (J dx + r) / M is positive, or if the step without
    it would violate it: the primal-dual active-set method (Hintermueller et al. 2002).
    """
    same = True
    for c in range(s.nc):
        for r in range(6 * c, s.row_end[c] if s.kind[c] >= KIND_CONE else 6 * c):
            counts = 1 if s.trial[r] > s.hold[r] else 0
            same = same and s.active[r] == counts
            s.active[r] = counts
    return same


@rare
def set_tolerant_row(s: Solve, r: int) -> None:
    """
    Set softness and right-hand side of a row of which only the excess counts; theory.md, eq. (17).

    `trial` holds the residual that the linear model predicts for the step found so far. Where it
    is inside the tolerance, the row has no effect.
    """
    share = excess_share(s, s.trial, r)
    s.rhs[r] -= (1.0 - share) * s.trial[r]
    if share == 0.0:
        s.softness[r] = IGNORED_SOFTNESS
    elif share < 1.0 and s.constraints[r // 6, layout.CON_ROW_TOLERANCE] < 0.0:
        curvature = max(share, LEAST_CURVATURE)
        size = INNER * row_tolerance(s, r) / (1.0 - share)
        relief = s.softness[r] * (1.0 / curvature - 1.0)
        s.relief[r] = sqrt(relief) * s.trial[r] / size
        s.softness[r] /= curvature


@kernel
def set_rows(s: Solve) -> None:
    """
    Set softness M and right-hand side of every row for the system of eq. (7).

    Rows of the phase: M = 1 / weight, rhs = residual. Rows of finished levels: M =
    `HELD_SOFTNESS`, rhs = residual - hold. Of both, only the excess counts where tolerances do.
    All other rows: M = 1e12, rhs = 0, so that they have no effect.
    """
    phase, level = s.k[now.PHASE], s.k[now.LEVEL]
    for r in range(s.nr if s.k[now.TOLERANT] == 1 else 0):
        s.relief[r] = 0.0
    for c in range(s.nc):
        own = s.constraints[c, layout.CON_LEVEL]
        loose = tolerates(s, c)
        for r in range(6 * c, 6 * c + 6):
            if s.implied[r] == 1:
                s.softness[r] = IGNORED_SOFTNESS
                s.rhs[r] = 0.0
            elif phase == now.PHASE_REACH or (phase == now.PHASE_LEVEL and own == level):
                s.softness[r] = 1.0 / row_weight(s, r)
                s.rhs[r] = s.residual[r]
                if loose:
                    set_tolerant_row(s, r)
            elif phase == now.PHASE_SETTLE or own < level:
                s.softness[r] = s.w[now.HELD_SOFTNESS]
                s.rhs[r] = s.residual[r] - s.hold[r]
                if loose:
                    set_tolerant_row(s, r)
            else:
                s.softness[r] = IGNORED_SOFTNESS
                s.rhs[r] = 0.0
        if phase == now.PHASE_REACH:
            clamp_rows(s, c)


@kernel
def set_variables(s: Solve) -> None:
    """
    Set the damping D, the preferred step and the fixed variables for the system of eq. (7).

    REACH and LEVEL: D = mu f(x) I (Sugihara 2011), at least a small constant, and with smoothing
    the pull to the start, eq. (15). SETTLE: D = pull and
    the preferred step g (x* - x), eq. (9).
    """
    settling = s.k[now.PHASE] == now.PHASE_SETTLE
    damping = s.options[option.DAMPING_FACTOR] * s.options[option.DAMPING_FACTOR]
    if s.options[option.ADAPTIVE_DAMPING] != 0.0:
        damping = s.w[now.DAMPING_SCALE] * s.w[now.COST]
    least = REACH_DAMPING if s.k[now.PHASE] == now.PHASE_REACH else LEVEL_DAMPING
    damping = max(damping, least)
    s.w[now.HELD_SOFTNESS] = SOFTEST
    if not settling:
        s.w[now.HELD_SOFTNESS] = min(HELD_PRODUCT / damping, SOFTEST)
    for v in range(s.nv):
        # A variable that has reached its joint target is not moved to its rest pose.
        decided = (
            settling and not has_preference(s, v) and s.preference[v] == layout.PREFERS_TARGET
        )
        locked = decided or s.lower[v] == s.upper[v]
        s.fixed[v] = LOCKED if locked else FREE
        s.step[v] = 0.0
        s.preferred_step[v] = 0.0
        s.damping[v] = damping
    if smooths(s):
        # The way back to the start, with the weight of smoothing beside the damping.
        write_difference(s, s.x_start, s.x)
        for v in range(s.nv):
            s.damping[v] = damping + s.options[option.SMOOTHING]
            s.preferred_step[v] *= s.options[option.SMOOTHING] / s.damping[v]
    if settling:
        write_preferred_step(s, s.x)
        for v in range(s.nv):
            # A variable without a preference moves freely.
            s.damping[v] = s.pull[v] if has_preference(s, v) else FREE_DAMPING
            s.preferred_step[v] *= s.gain[v] * s.w[now.DAMPING_SCALE]


@kernel
def predicted_decrease(s: Solve, tolerant: bool) -> float:
    """
    Return the decrease of the cost that the linear model predicts, the denominator of eq. (8).

    With the multiplier y_r = (J dx + rhs)_r / M_r of row r in `load`, the sum over the rows of the
    phase is 1/2 sum(rhs_r^2 / M_r - y_r^2 M_r).
    """
    if tolerant and s.k[now.PHASE] != now.PHASE_SETTLE:
        write_modelled_rows(s)
        return float(s.w[now.COST] - cost_of(s, s.x))
    total = 0.0
    for r in range(s.nr):
        soft, left = s.softness[r], s.load[r]
        if soft != IGNORED_SOFTNESS and soft != s.w[now.HELD_SOFTNESS]:
            total += s.rhs[r] * s.rhs[r] / soft - left * left * soft
    if smooths(s):
        for v in range(s.nv):
            difference = s.preferred_step[v] * s.damping[v] / s.options[option.SMOOTHING]
            left = difference - s.step[v]
            total += s.options[option.SMOOTHING] * (difference * difference - left * left)
    return 0.5 * total


@kernel
def shorten_step(s: Solve, limit: float) -> None:
    """Scale the step so that its largest component is at most `limit` [rad or L]."""
    if s.w[now.STEP_SIZE] > limit:
        for v in range(s.nv):
            s.step[v] *= limit / s.w[now.STEP_SIZE]
        s.w[now.STEP_SIZE] = limit


@kernel
def accept(s: Solve, cost: float) -> None:
    """Copy x_try and its rows to x."""
    copy_variables(s, s.x_try, s.x)
    for r in range(s.nr):
        s.residual[r] = s.trial[r]
    s.w[now.COST] = cost
    s.k[now.JACOBIAN_DUE] = 1
    keep_place_of_frames(s)


@rare
def extrapolate(s: Solve) -> None:
    """
    Go the way of the last steps again, and twice as far each time, while the cost decreases.

    Far from its goals the curvature that eq. (7) leaves out decides how fast the steps follow a
    flat valley of the cost. Several of them show its direction (the pattern move of Hooke & Jeeves
    1961, x <- x + (x - x_stride)). Held rows are restored as after any step.
    """
    improves = True
    while improves:
        write_difference(s, s.x, s.x_stride)
        copy_variables(s, s.preferred_step, s.step)
        try_step(s, s.x)
        closed = restore_held_rows(s, s.k[now.LEVEL], HELD_SHARE, HELD_ATTEMPTS, INFINITE)
        cost = cost_of(s, s.x_try)
        improves = closed and cost < s.w[now.COST]
        if improves:
            accept(s, cost)
    s.k[now.STALE], s.k[now.FRAMES] = 1, 0
    copy_variables(s, s.x, s.x_stride)


@kernel
def next_damping(
    scale: float, kept: bool, gain: float, predicted: float, decrease: float
) -> float:
    """
    Return the damping scale after a step, from the gain ratio of eq. (8).

    Madsen, Nielsen & Tingleff (2004), Methods for non-linear least squares problems, section 3.2.
    `scale` is that with which the step was found, `gain` and `predicted` the decrease of the cost
    and that of the linear model, `decrease` the factor of the scale after a good step.
    """
    if not kept:
        return max(DAMPING_AFTER_REJECTION * scale, LEAST_DAMPING_SCALE)
    if gain > GOOD_RATIO * predicted:
        return max(decrease * scale, LEAST_DAMPING_SCALE)
    return DAMPING_INCREASE * scale if gain < POOR_RATIO * predicted else scale


@kernel
def lm_step(s: Solve) -> None:
    """
    Take one bounded Levenberg-Marquardt step, eq. (6), and accept or reject it.

    Compares the actual decrease of the cost with the predicted one, eq. (8), to set the damping
    scale mu of the next step. In LEVEL and SETTLE the rows of finished levels are restored before
    the comparison. The Jacobian must be that of x.

    Reads: x, residual, jac, lower, upper, hold. Writes: step, x_try, trial; if the step is
    accepted also x, residual and COST.

    References
    ----------
    Madsen, Nielsen & Tingleff (2004), Methods for non-linear least squares problems, section 3.2.

    """
    phase = s.k[now.PHASE]
    s.k[now.ITERATIONS] += 1
    s.k[now.START_ITERATIONS] += 1
    closes = phase == now.PHASE_LEVEL and s.k[now.LEVEL] == 0
    s.k[now.CLOSING] += 1 if closes or s.k[now.PASS] == policy.TIGHTEN else 0
    if phase == now.PHASE_REACH and s.options[option.ADAPTIVE_DAMPING] == 0.0:
        # With constant damping a step may increase the cost.
        remember_best(s, 1.0)
    walks = s.k[now.PASS] == policy.WALK
    tolerant = s.k[now.TOLERANT] == 1 and (phase == now.PHASE_REACH or s.k[now.LEVEL] > 0)
    tolerant = (tolerant and phase != now.PHASE_SETTLE) or s.k[now.ONE_SIDED] > 0
    for v in range(s.nv if tolerant else 0):
        s.step[v] = 0.0
    for attempt in range(TOLERANT_ROUNDS if tolerant else 1):
        if tolerant:
            write_modelled_rows(s)
            same = find_active(s)
            if attempt > 0 and same and s.k[now.TOLERANT] == 0:
                # The step would be the same again.
                break
        set_variables(s)
        set_rows(s)
        bounded_step(
            s, not (walks or (phase == now.PHASE_REACH and s.k[now.PASS] != policy.TIGHTEN))
        )
    s.w[now.STEP_SIZE] = largest(s, s.step)
    if phase == now.PHASE_SETTLE:
        shorten_step(s, LONGEST[DRIVE])
    s.w[now.PREDICTED] = predicted_decrease(s, tolerant)
    try_step(s, s.x)
    kept = True
    level, attempts = s.k[now.LEVEL], HELD_ATTEMPTS
    to_target = (
        phase == now.PHASE_SETTLE and s.k[now.LEVEL] == s.k[now.LAST_LEVEL] + layout.PREFERS_TARGET
    )
    # A rest pose may bend a stretched arm.
    limit = BEND[DRIVE] * s.w[now.STEP_SIZE] if to_target else INFINITE
    if phase == now.PHASE_REACH:
        # Within tolerance one chord step more costs little and gains some digits.
        level = s.k[now.LAST_LEVEL] + 1
        attempts = 1 if not tolerant and all_within_tolerance(s, s.k[now.LAST_LEVEL]) else 0
    elif walks:
        # The next steps close what stays open, and so does the end of the walk.
        attempts = WALK_ATTEMPTS
    if attempts > 0 and level > 0:
        closed = restore_held_rows(s, level, HELD_SHARE, attempts, limit)
        kept = closed or walks or phase == now.PHASE_REACH
    if phase != now.PHASE_REACH and level > 0:
        # Pairs of bodies without a row must not come too near, either.
        kept = kept and s.w[now.CROWD] == 0.0
    before = s.w[now.COST]
    after = cost_of(s, s.x_try)
    if not after < INFINITE:
        kept = False
        after = INFINITE
    if s.options[option.ADAPTIVE_DAMPING] == 0.0 and phase == now.PHASE_REACH:
        if after > before + s.options[option.DIVERGE_THRESHOLD]:
            s.k[now.GREW] = 1
            kept = False
    elif not after < before:
        # An iterate within every tolerance is an answer, even if its last digits got worse.
        kept = kept and phase == now.PHASE_REACH and all_within_tolerance(s, s.k[now.LAST_LEVEL])
    if phase == now.PHASE_SETTLE:
        # The scale is the share of the way that a step goes.
        s.w[now.DAMPING_SCALE] = min(next_share(DRIVE, s.w[now.DAMPING_SCALE], kept), 1.0)
    else:
        decrease = LATER_DECREASE if s.k[now.STARTS] > 1 else DAMPING_DECREASE
        s.w[now.DAMPING_SCALE] = next_damping(
            s.w[now.DAMPING_SCALE], kept, before - after, s.w[now.PREDICTED], decrease
        )
    gained = kept and (phase != now.PHASE_REACH or after < (1.0 - WEAK) * before)
    s.k[now.WEAK] = 0 if gained else s.k[now.WEAK] + 1
    if kept:
        accept(s, after)
    else:
        s.k[now.FRAMES] = 0
    if (
        phase == now.PHASE_LEVEL
        and s.k[now.LEVEL] > 0
        and not walks
        and s.options[option.COMPROMISE] == 0.0
    ):
        if s.k[now.START_ITERATIONS] == 1:
            copy_variables(s, s.x, s.x_stride)
        elif kept and s.k[now.START_ITERATIONS] % STRIDE == 0:
            extrapolate(s)
