"""One step of whichever phase the solve is in: set up, step, judge, keep or drop."""

from ik_node.kernels._jit import kernel
from ik_node.kernels.forward import forward
from ik_node.kernels.layout import asked, CON_LEVEL, Solve, WANTS_TARGET
from ik_node.kernels.options import (
    ADAPTIVE_DAMPING,
    DAMPING_FACTOR,
    DIVERGE_THRESHOLD,
    ROTATION_ERROR_CLAMP,
    TRANSLATION_ERROR_CLAMP,
)
from ik_node.kernels.redundant import keep_rows, reduce_rows
from ik_node.kernels.rows import residuals
from ik_node.kernels.solve_state import (
    CLOSING,
    COST,
    DAMPING_SCALE,
    EFFORT,
    EFFORT_WALKED,
    GREW,
    HELD_SOFTNESS,
    ITERATIONS,
    JACOBIAN_DUE,
    LAST_LEVEL,
    LEVEL,
    PHASE,
    PHASE_LEVEL,
    PHASE_REACH,
    PHASE_SETTLE,
    PREDICTED,
    START_ITERATIONS,
    STEP_SIZE,
    WEAK,
)
from ik_node.kernels.start import (
    all_within_tolerance,
    cost_of,
    remember_best,
    row_weight,
    settle_distance,
    wished,
)
from ik_node.kernels.step import apply_step, bounded_step, FREE, LOCKED, restore

# A row of a finished level is as stiff as double precision allows beside the damping: the product
# of the two must stay some orders above its rounding, or redundant closures lose their pivot's
# sign. With one softness for all, loops of millimetres are soft as soon as the damping has grown.
HELD_PRODUCT, STIFFEST, SOFTEST = 1e-10, 1e-12, 1e-6
FREE_DAMPING = 1e-4
LEVEL_DAMPING = 1e-6
REACH_DAMPING = 1e-12
IGNORED_SOFTNESS = 1e12
# How well finished levels are kept while the next is improved [L or rad].
HELD_CLOSED, HELD_ATTEMPTS, WALK_ATTEMPTS = 1e-9, 7, 2
# Closing loops after a step towards a target may move joints by this share of it: more would be
# another branch. (A rest pose may bend a stretched arm, which the goal then straightens again.)
RESTORE_SHARE = 0.5
# A step that reduces the cost by less than this share is a weak one.
REACH_WEAK, LEVEL_WEAK = 0.03, 1e-10
# Farther than this [rad or L] the null space is not the one of the start of the step.
SETTLE_STEP = 0.3


@kernel
def clamp_rows(s: Solve, c: int) -> None:
    """Shorten a constraint's residual to the error clamps, for the step only."""
    for part in range(2):
        most = s.options[ROTATION_ERROR_CLAMP]
        if part == 0:
            most = s.options[TRANSLATION_ERROR_CLAMP] / s.f[s.length]
        first = 6 * c if part == 0 else s.i[s.angular + c]
        last = s.i[s.angular + c] if part == 0 else s.i[s.row_end + c]
        total = 0.0
        for r in range(first, last):
            total += s.w[s.rhs + r] * s.w[s.rhs + r]
        if total > most * most:
            for r in range(first, last):
                s.w[s.rhs + r] *= most / total**0.5


@kernel
def set_rows(s: Solve) -> None:
    """Say what the step is to do with every row: improve it, hold it, or leave it be."""
    phase, level = s.k[PHASE], s.k[LEVEL]
    for c in range(s.nc):
        own = asked(s, c, CON_LEVEL)
        for r in range(6 * c, 6 * c + 6):
            if s.k[s.implied + r] == 1:
                s.w[s.softness + r] = IGNORED_SOFTNESS
                s.w[s.rhs + r] = 0.0
            elif phase == PHASE_REACH or (phase == PHASE_LEVEL and own == level):
                s.w[s.softness + r] = 1.0 / row_weight(s, r)
                s.w[s.rhs + r] = s.w[s.residual + r]
            elif phase == PHASE_SETTLE or own < level:
                s.w[s.softness + r] = s.w[HELD_SOFTNESS]
                s.w[s.rhs + r] = s.w[s.residual + r] - s.w[s.hold + r]
            else:
                s.w[s.softness + r] = IGNORED_SOFTNESS
                s.w[s.rhs + r] = 0.0
        if phase == PHASE_REACH:
            clamp_rows(s, c)


@kernel
def set_variables(s: Solve) -> None:
    """Set the damping and the wished step of every variable, and which ones are held."""
    settling = s.k[PHASE] == PHASE_SETTLE
    damping = s.options[DAMPING_FACTOR] * s.options[DAMPING_FACTOR]
    if s.options[ADAPTIVE_DAMPING] != 0.0:
        damping = s.w[DAMPING_SCALE] * s.w[COST]
    least = REACH_DAMPING if s.k[PHASE] == PHASE_REACH else LEVEL_DAMPING
    damping = max(damping, least)
    s.w[HELD_SOFTNESS] = SOFTEST
    if not settling:
        s.w[HELD_SOFTNESS] = min(max(HELD_PRODUCT / damping, STIFFEST), SOFTEST)
    for v in range(s.nv):
        # What a target has decided, the rest pose does not touch.
        decided = settling and not wished(s, v) and s.k[s.wants + v] == WANTS_TARGET
        locked = decided or s.w[s.lower + v] == s.w[s.upper + v]
        s.k[s.fixed + v] = LOCKED if locked else FREE
        s.w[s.step + v] = 0.0
        s.w[s.wish + v] = 0.0
        s.w[s.damping + v] = damping
    if settling:
        settle_distance(s, s.x)
        for v in range(s.nv):
            # Beside the pull of a wish, a variable without one moves freely.
            s.w[s.damping + v] = s.w[s.pull + v] if wished(s, v) else FREE_DAMPING
            s.w[s.wish + v] *= s.w[s.gain + v] * s.w[DAMPING_SCALE]


@kernel
def predicted_decrease(s: Solve) -> float:
    """
    Return by how much the linear model lowers the cost of the phase's rows.

    A multiplier is what is left of its row, J step + rhs, over the row's softness.
    """
    total = 0.0
    for r in range(s.nr):
        soft, left = s.w[s.softness + r], s.w[s.load + r]
        if soft != IGNORED_SOFTNESS and soft != s.w[HELD_SOFTNESS]:
            total += s.w[s.rhs + r] * s.w[s.rhs + r] / soft - left * left * soft
    return 0.5 * total


@kernel
def largest(s: Solve, at: int) -> float:
    """Return the largest absolute value of the variables at s.w[at]."""
    most = 0.0
    for v in range(s.nv):
        most = max(most, abs(s.w[at + v]))
    return most


@kernel
def shorten_step(s: Solve, most: float) -> None:
    """Scale the step down to a largest change of a variable."""
    if s.w[STEP_SIZE] > most:
        for v in range(s.nv):
            s.w[s.step + v] *= most / s.w[STEP_SIZE]
        s.w[STEP_SIZE] = most


@kernel
def improve(s: Solve) -> None:
    """
    Try one step of the current phase and keep it if it helps; the Jacobian is that of x.

    Adapts the damping by the ratio of the decrease found to the decrease the linear model
    predicted (Madsen et al. 2004).
    """
    phase = s.k[PHASE]
    s.k[ITERATIONS] += 1
    s.k[START_ITERATIONS] += 1
    s.k[CLOSING] += 1 if phase == PHASE_LEVEL and s.k[LEVEL] == 0 else 0
    if phase == PHASE_REACH and s.options[ADAPTIVE_DAMPING] == 0.0:
        # Its steps may make things worse.
        remember_best(s, 1.0)
    set_variables(s)
    set_rows(s)
    walks = phase == PHASE_LEVEL and s.k[EFFORT] == EFFORT_WALKED
    bounded_step(s, not (walks or phase == PHASE_REACH))
    s.w[STEP_SIZE] = largest(s, s.step)
    if phase == PHASE_SETTLE:
        shorten_step(s, SETTLE_STEP)
    s.w[PREDICTED] = predicted_decrease(s)
    apply_step(s, s.x, s.x_try)
    forward(s, s.x_try)
    residuals(s)
    keep_rows(s)
    reduce_rows(s)
    kept = True
    level, attempts = s.k[LEVEL], HELD_ATTEMPTS
    to_target = phase == PHASE_SETTLE and s.k[LEVEL] == s.k[LAST_LEVEL] + WANTS_TARGET
    most = RESTORE_SHARE * s.w[STEP_SIZE] if to_target else 1e300
    if phase == PHASE_REACH:
        # Within tolerance: one chord step more costs little and is worth some digits.
        level = s.k[LAST_LEVEL] + 1
        attempts = 1 if all_within_tolerance(s, s.k[LAST_LEVEL]) else 0
    elif walks:
        # What stays open for now is closed by the next steps, and after the last.
        attempts = WALK_ATTEMPTS
    if attempts > 0 and level > 0:
        closed = restore(s, level, HELD_CLOSED, attempts, most)
        kept = closed or walks or phase == PHASE_REACH
    before = s.w[COST]
    after = cost_of(s, s.x_try)
    if not after < 1e300:
        kept = False
        after = 1e300
    if s.options[ADAPTIVE_DAMPING] == 0.0 and phase == PHASE_REACH:
        if after > before + s.options[DIVERGE_THRESHOLD]:
            s.k[GREW] = 1
            kept = False
    elif not after < before:
        # What meets every tolerance is an answer, even if the last digits got worse.
        kept = kept and phase == PHASE_REACH and all_within_tolerance(s, s.k[LAST_LEVEL])
    if phase == PHASE_SETTLE:
        s.w[DAMPING_SCALE] = (
            min(2.0 * s.w[DAMPING_SCALE], 1.0) if kept else 0.5 * s.w[DAMPING_SCALE]
        )
    elif not kept:
        s.w[DAMPING_SCALE] = max(8.0 * s.w[DAMPING_SCALE], 1e-6)
    elif before - after > 0.75 * s.w[PREDICTED]:
        s.w[DAMPING_SCALE] = max(0.2 * s.w[DAMPING_SCALE], 1e-6)
    elif before - after < 0.25 * s.w[PREDICTED]:
        s.w[DAMPING_SCALE] *= 2.0
    weak = REACH_WEAK if phase == PHASE_REACH else LEVEL_WEAK
    s.k[WEAK] = 0 if kept and after < (1.0 - weak) * before else s.k[WEAK] + 1
    if kept:
        for v in range(s.nv):
            s.w[s.x + v] = s.w[s.x_try + v]
        for r in range(s.nr):
            s.w[s.residual + r] = s.w[s.trial + r]
        s.w[COST] = after
        s.k[JACOBIAN_DUE] = 1
