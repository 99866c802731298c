"""
The solver: damped least squares that closes loops first, as a machine that can be interrupted.

REACH takes all rows together, from the start and then from restarts, and is all that a reachable
goal needs. What cannot be reached goes through LEVEL once for the closures and once for every
priority of goals: each level is brought to its least residual while the rows of the levels before
it are held. SETTLE moves to joint targets and the rest pose in what freedom is left.
"""

from ik_node.kernels._jit import entry, kernel
from ik_node.kernels.begin import (
    all_within_tolerance,
    begin,
    cost_of,
    evaluate,
    kick,
    remember_best,
    restart,
)
from ik_node.kernels.counters import (
    BEST_COST,
    CLOSED_AT_START,
    COST,
    DAMPING_SCALE,
    EFFORT,
    EFFORT_ANY,
    EFFORT_FAR,
    EFFORT_NEAR,
    EFFORT_PUSHED,
    FALLBACKS,
    GREW,
    INTERRUPTED,
    ITERATIONS,
    KICKED,
    LAST_LEVEL,
    LEVEL,
    LEVEL_DONE,
    LOOPS,
    NEAR_COST,
    OUT_OF_ITERATIONS,
    PHASE,
    PHASE_DONE,
    PHASE_LEVEL,
    PHASE_REACH,
    PHASE_SETTLE,
    PREDICTED,
    STALE,
    START_COST,
    START_ITERATIONS,
    STARTS,
    STATUS,
    STATUS_CONVERGED,
    STATUS_DIVERGED,
    STATUS_RUNNING,
    STATUS_STALLED,
    STATUS_TIMEOUT,
    STEP_BEFORE,
    STEP_SIZE,
    WEAK,
)
from ik_node.kernels.improve import improve
from ik_node.kernels.layout import (
    CON_LEVEL,
    Floats,
    Ints,
    open_solve,
    Solve,
    WANTS_NOTHING,
    WANTS_REST_POSE,
)
from ik_node.kernels.options import DAMPING_FACTOR, MAX_ITERATIONS, RESTARTS, STALL_THRESHOLD

# Weak steps in a row that end a start, a level.
REACH_PATIENCE, LEVEL_PATIENCE = 4, 12
# A level is done when the linear model promises less than this share of its cost.
LEVEL_PROMISE = 1e-10
SMALLEST_COST = 1e-22  # of rounding
MOST_DAMPING = 1e10
# Half the square of a millimetre, or a milliradian.
ROUNDING_COST = 5e-7
# The best effort takes more steps than reaching: it ends in a curved valley.
LEVEL_SHARE = 3.0
# Shares of the cost below which another start, a push, another branch are taken.
WORTH_A_START, WORTH_A_PUSH, JUMP = 0.9, 1.0 - 1e-6, 0.25
# Settling ends when only a smaller share of a step than this is an improvement.
SETTLE_LEAST = 1e-4


@kernel
def copy_variables(s: Solve, start: int, out: int) -> None:
    """Copy variables within s.w; to s.x only together with STALE."""
    for v in range(s.nv):
        s.w[out + v] = s.w[start + v]


@kernel
def enter_phase(s: Solve, phase: int, level: int) -> None:
    """Begin to improve the rows of a level, or to settle, or come to the end."""
    s.k[PHASE], s.k[LEVEL] = phase, level
    s.k[START_ITERATIONS] = 0
    s.k[WEAK] = 0
    s.k[LEVEL_DONE] = 0
    s.k[STALE] = 1
    s.w[DAMPING_SCALE] = 1.0 if phase == PHASE_SETTLE else 1e-2


@kernel
def enter_settling(s: Solve, granted: int) -> None:
    """Begin with the next wishes after those that are granted; come to the end without any."""
    following = WANTS_REST_POSE + 1
    for v in range(s.nv):
        if s.k[s.wants + v] > granted:
            following = min(following, s.k[s.wants + v])
    if following <= WANTS_REST_POSE:
        enter_phase(s, PHASE_SETTLE, s.k[LAST_LEVEL] + following)
    else:
        s.k[PHASE] = PHASE_DONE


@kernel
def fall_back(s: Solve) -> bool:
    """
    Begin to close the loops anew where they did not close; whether that is worth a try.

    The best compromise with a goal far away may lie where loops do not close, although they close
    from the start; and if not from there, perhaps from a restart. Among failures the best counts.
    """
    if s.k[FALLBACKS] < 0 or all_within_tolerance(s, 0):
        return False
    if s.k[FALLBACKS] == 0 or s.w[COST] < s.w[BEST_COST]:
        s.w[BEST_COST] = s.w[COST]
        copy_variables(s, s.x, s.x_best)
    # What is left open by rounding in the description will not close from anywhere else.
    hopeless = s.w[BEST_COST] < ROUNDING_COST or s.k[INTERRUPTED] == 1
    if s.k[FALLBACKS] == 0:
        copy_variables(s, s.x_start, s.x)
    elif s.k[FALLBACKS] <= s.options[RESTARTS] and not hopeless:
        s.k[STARTS] += 1
        restart(s)
    else:
        copy_variables(s, s.x_best, s.x)
        s.k[FALLBACKS] = -2
    s.k[FALLBACKS] += 1
    enter_phase(s, PHASE_LEVEL, 0)
    return True


@kernel
def another_effort(s: Solve) -> bool:
    """
    Compare the best effort just made with the one near the start; whether there is more to do.

    Without a good reason a goal out of reach does not make the answer jump to another branch: not
    of a mirror image, and of another start's only where that halves the error.
    """
    level = s.k[LEVEL]
    s.k[PHASE] = PHASE_REACH  # the cost of all rows
    for r in range(s.nr):
        s.w[s.trial + r] = s.w[s.residual + r]
    cost = cost_of(s, s.x)
    s.k[PHASE], s.k[LEVEL] = PHASE_LEVEL, level
    effort = s.k[EFFORT]
    gain = 1.0 if effort == EFFORT_NEAR else (WORTH_A_PUSH if effort == EFFORT_PUSHED else JUMP)
    if effort == EFFORT_NEAR or (all_within_tolerance(s, 0) and cost < gain * s.w[NEAR_COST]):
        s.w[NEAR_COST] = cost
        copy_variables(s, s.x, s.x_near)
        s.k[STALE] = 0
        kept = True
    else:
        kept = False
    if effort == EFFORT_NEAR and cost > (1.0 - 1e-6) * s.w[START_COST]:
        # It stood still: in a minimum, or where only a push shows that there is a way down.
        s.k[EFFORT] = EFFORT_PUSHED
        kick(s)
    elif effort < EFFORT_FAR and s.k[STARTS] > 1 and s.w[BEST_COST] < JUMP * s.w[NEAR_COST]:
        s.k[EFFORT] = EFFORT_FAR
        copy_variables(s, s.x_best, s.x)
    elif kept:
        return False
    else:
        s.k[EFFORT] = EFFORT_ANY
        copy_variables(s, s.x_near, s.x)
    s.k[FALLBACKS] = -1
    enter_phase(s, PHASE_LEVEL, 0)
    return True


@kernel
def finish_level(s: Solve) -> None:
    """Fix what the finished level is held at from now on."""
    level = s.k[LEVEL]
    if level == 0 and fall_back(s):
        return
    for c in range(s.nc):
        if s.constraints[c, CON_LEVEL] == level:
            met = all_within_tolerance(s, -1 - c)
            for r in range(s.i[s.row0 + c], s.i[s.row0 + c + 1]):
                s.w[s.hold + r] = 0.0 if met else s.w[s.residual + r]
    if level < s.k[LAST_LEVEL]:
        enter_phase(s, PHASE_LEVEL, level + 1)
    elif s.k[EFFORT] == EFFORT_ANY or not another_effort(s):
        enter_settling(s, WANTS_NOTHING)


@kernel
def finish_start(s: Solve) -> None:
    """Leave a start that did not get there: kick it, restart, or make the best of it."""
    # The first start has a head start: a jump to another must be worth it. With loops that is
    # judged when they are closed.
    margin = 1.0
    if s.k[STARTS] > 1:
        margin = WORTH_A_START if s.k[LOOPS] > 0 else JUMP
    elif s.k[KICKED] == 1:
        margin = WORTH_A_START
    remember_best(s, margin)
    going_on = s.k[INTERRUPTED] == 0
    stationary = s.k[OUT_OF_ITERATIONS] == 0 and s.k[GREW] == 0
    if going_on and s.k[KICKED] == 0 and stationary:
        s.k[KICKED] = 1
        kick(s)
    elif going_on and s.k[STARTS] <= s.options[RESTARTS]:
        s.k[STARTS] += 1
        s.k[KICKED] = 1
        restart(s)
    else:
        s.k[STATUS] = STATUS_STALLED
        if s.k[OUT_OF_ITERATIONS] == 1:
            s.k[STATUS] = STATUS_TIMEOUT
        if s.k[GREW] == 1:
            s.k[STATUS] = STATUS_DIVERGED
        near = s.k[CLOSED_AT_START] == 1 and s.k[LOOPS] > 0 and s.k[STATUS] == STATUS_STALLED
        s.k[EFFORT] = EFFORT_NEAR if near else EFFORT_ANY
        if near:
            copy_variables(s, s.x_start, s.x)
        else:
            copy_variables(s, s.x_best, s.x)
        enter_phase(s, PHASE_LEVEL, 0)
        return
    s.k[START_ITERATIONS] = 0
    s.k[WEAK] = 0
    s.k[STALE] = 1
    s.w[DAMPING_SCALE] = s.options[DAMPING_FACTOR]


@kernel
def before_reaching(s: Solve) -> bool:
    """Return whether a step towards all rows is due."""
    if s.k[ITERATIONS] == 0:
        s.k[CLOSED_AT_START] = 1 if all_within_tolerance(s, 0) else 0
        s.w[START_COST] = s.w[COST]
    if all_within_tolerance(s, s.k[LAST_LEVEL]):
        s.k[STATUS] = STATUS_CONVERGED
        # Without wishes all is done: residuals are those of x, for the last step was kept.
        enter_settling(s, WANTS_NOTHING)
        return False
    if s.k[START_ITERATIONS] >= s.options[MAX_ITERATIONS] or s.k[INTERRUPTED] == 1:
        s.k[OUT_OF_ITERATIONS] = 1
        finish_start(s)
        return False
    if s.k[START_ITERATIONS] > 0 and (
        s.k[WEAK] >= REACH_PATIENCE
        or s.k[GREW] == 1
        or s.w[STEP_SIZE] <= s.options[STALL_THRESHOLD]
        or s.w[DAMPING_SCALE] > MOST_DAMPING
    ):
        finish_start(s)
        return False
    return True


@kernel
def before_level(s: Solve) -> bool:
    """Return whether a step towards the rows of the present level is due."""
    level = s.k[LEVEL]
    if s.k[LEVEL_DONE] == 1:
        finish_level(s)
        return False
    # Closing loops is owed whatever the budget; the best effort on goals is part of it.
    most = max(s.options[MAX_ITERATIONS], 50.0)
    if level > 0:
        most = LEVEL_SHARE * s.options[MAX_ITERATIONS]
        if s.k[STATUS] != STATUS_STALLED or s.k[INTERRUPTED] == 1:
            most = 0.0
    done = s.w[COST] <= SMALLEST_COST
    if s.k[START_ITERATIONS] >= most:
        done = True
        if level > 0 and most > 0.0 and s.w[COST] > SMALLEST_COST:
            s.k[STATUS] = STATUS_TIMEOUT
    elif s.k[START_ITERATIONS] > 0:
        done = done or (
            s.w[PREDICTED] <= LEVEL_PROMISE * s.w[COST]
            or s.w[STEP_SIZE] <= 1e-12
            or s.k[WEAK] >= LEVEL_PATIENCE
        )
    if done:
        s.k[LEVEL_DONE] = 1
        s.k[STALE] = 1
    return not done


@kernel
def before_settling(s: Solve) -> bool:
    """Return whether a step towards targets and rest pose is due."""
    due = bool(
        s.k[INTERRUPTED] == 0
        and s.k[START_ITERATIONS] < s.options[MAX_ITERATIONS]
        and s.w[COST] > SMALLEST_COST
        and s.w[DAMPING_SCALE] > SETTLE_LEAST
    )
    if due and s.k[START_ITERATIONS] > 0 and s.k[WEAK] == 0:
        due = s.w[COST] < s.w[STEP_BEFORE] * (1.0 - 1e-6)
    s.w[STEP_BEFORE] = s.w[COST]
    if not due:
        # Steps that were tried and dropped have left their frames behind.
        s.k[STALE] = 1 if s.k[START_ITERATIONS] > 0 else 0
        enter_settling(s, s.k[LEVEL] - s.k[LAST_LEVEL])
    return due


@kernel
def finish(s: Solve) -> None:
    """Write the answer back to q; the status is what the residuals say."""
    for j in range(s.n):
        if s.i[s.var + j] >= 0:
            s.q[s.i[s.column_q + j]] = s.w[s.value + j]
    if all_within_tolerance(s, s.k[LAST_LEVEL]):
        s.k[STATUS] = STATUS_CONVERGED
    elif s.k[STATUS] == STATUS_CONVERGED:
        s.k[STATUS] = STATUS_STALLED


@entry
def advance(
    i: Ints,
    f: Floats,
    k: Ints,
    w: Floats,
    q: Floats,
    joints: Floats,
    constraints: Floats,
    options: Floats,
    slice_: int,
) -> int:
    """
    Solve, or go on solving, for at most `slice_` steps.

    Parameters
    ----------
    i, f : ndarray
        Packed model, see `layout.Solve`, also for the others.
    k, w : ndarray
        Workspace; k[PHASE] = -1 begins a new solve.
    q : ndarray, shape (nq,)
        All joint values [rad or m]: the start, and at the end the answer.
    joints, constraints, options : ndarray
        Tables.
    slice_ : int
        Steps.

    Returns
    -------
    int
        STATUS_*; RUNNING when the slice is used up first. Residual norms are in `error`.

    Notes
    -----
    `evaluate` and `improve` are called in one place each: they are inlined, and a second place
    would compile them a second time.

    """
    s = open_solve(i, f, k, w, q, joints, constraints, options)
    if s.k[PHASE] < 0:
        begin(s)
    end = s.k[ITERATIONS] + slice_
    while s.k[PHASE] != PHASE_DONE or s.k[STALE] == 1:
        if s.k[STALE] == 1:
            s.k[STALE] = 0
            evaluate(s)
        if s.k[PHASE] == PHASE_REACH:
            due = before_reaching(s)
        elif s.k[PHASE] == PHASE_LEVEL:
            due = before_level(s)
        elif s.k[PHASE] == PHASE_SETTLE:
            due = before_settling(s)
        else:
            due = False
        if due:
            if s.k[ITERATIONS] >= end:
                return STATUS_RUNNING
            improve(s)
    finish(s)
    return int(s.k[STATUS])
