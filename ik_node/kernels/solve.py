"""
The solver: damped least squares that closes loops first, as a machine that can be interrupted.

REACH takes all rows together, from the start and then from restarts, and is all that a reachable
goal needs. What cannot be reached goes through LEVEL once for the closures and once for every
priority of goals: each level is brought to its least residual while the rows of the levels before
it are held. SETTLE moves to joint targets and the rest pose in what freedom is left.
"""

from math import pi

from ik_node.kernels._jit import entry, kernel
from ik_node.kernels.begin import (
    all_within_tolerance,
    begin,
    evaluate,
    kick,
    remember_best,
    restart,
    take_poses,
)
from ik_node.kernels.counters import (
    CLOSED_AT_START,
    COST,
    DAMPING_SCALE,
    EFFORT,
    EFFORT_ANY,
    EFFORT_NEAR,
    GREW,
    INTERRUPTED,
    ITERATIONS,
    KICKED,
    LAST_LEVEL,
    LEVEL,
    LEVEL_DONE,
    LOOPS,
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
    STATUS_REFUSED,
    STATUS_RUNNING,
    STATUS_STALLED,
    STATUS_TIMEOUT,
    STEP_BEFORE,
    STEP_SIZE,
    WEAK,
)
from ik_node.kernels.effort import copy_variables, enter_phase, enter_settling, finish_level, JUMP
from ik_node.kernels.flat import flat
from ik_node.kernels.improve import improve
from ik_node.kernels.layout import Floats, Ints, open_solve, Solve, WANTS_NOTHING
from ik_node.kernels.options import DAMPING_FACTOR, MAX_ITERATIONS, RESTARTS, STALL_THRESHOLD

# Weak steps in a row that end a start, a level.
REACH_PATIENCE, LEVEL_PATIENCE = 4, 12
# A level is done when the linear model promises less than this share of its cost.
LEVEL_PROMISE = 1e-10
SMALLEST_COST = 1e-22  # of rounding
MOST_DAMPING = 1e10
# The best effort takes more steps than reaching: it ends in a curved valley.
LEVEL_SHARE = 3.0
# Share of the cost below which another start is taken.
WORTH_A_START = 0.9
# Settling ends when only a smaller share of a step than this is an improvement.
SETTLE_LEAST = 1e-4


@kernel
def unwind(s: Solve) -> None:
    """Take the full turns out of every angle that it need not have made since the start."""
    for v in range(s.nv):
        if s.k[s.winds + v] == 1:
            turns = round((s.w[s.x_start + v] - s.w[s.x + v]) / (2.0 * pi))
            value = s.w[s.x + v] + 2.0 * pi * turns
            if value > s.w[s.upper + v]:
                value -= 2.0 * pi
            elif value < s.w[s.lower + v]:
                value += 2.0 * pi
            if s.w[s.lower + v] <= value <= s.w[s.upper + v]:
                s.w[s.x + v] = value


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
        unwind(s)
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
        unwind(s)
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
            wound = s.k[s.winds + s.i[s.var + j]] == 1
            at = s.x + s.i[s.var + j] if wound else s.value + j
            s.q[s.i[s.column_q + j]] = s.w[at]
    if all_within_tolerance(s, s.k[LAST_LEVEL]):
        s.k[STATUS] = STATUS_CONVERGED
    elif s.k[STATUS] == STATUS_CONVERGED:
        s.k[STATUS] = STATUS_STALLED
    s.w[s.record] = s.k[STATUS]
    s.w[s.record + 1] = s.k[ITERATIONS]
    s.w[s.record + 2] = s.k[STARTS]


@entry
def advance(
    i: Ints,
    f: Floats,
    k: Ints,
    w: Floats,
    q: Floats,
    joints: Floats,
    options: Floats,
    positions: Floats,
    quats_xyzw: Floats,
    slice_: int,
) -> int:
    """
    Solve, or go on solving, for at most `slice_` steps.

    Parameters
    ----------
    i, f : ndarray
        Packed model, see `layout.Solve`, also for the others.
    k, w : ndarray
        Workspace; where no solve is under way, a new one begins.
    q : ndarray, shape (nq,)
        All joint values [rad or m]: the start, and at the end the answer.
    joints, options : ndarray
        Tables.
    positions, quats_xyzw : ndarray, shape (k, 3), (k, 4)
        Poses of all goals, in order; k = 0 takes those of the constraint table.
    slice_ : int
        Steps; a negative number begins a new solve and goes all the way.

    Returns
    -------
    int
        STATUS_*; RUNNING when the slice is used up first, REFUSED when a number that came in is
        not finite or a quaternion zero. The outcome is in `record` and what follows it.

    Notes
    -----
    `evaluate` and `improve` are called in one place each: they are inlined, and a second place
    would compile them a second time.

    """
    s = open_solve(i, f, k, w, q, joints, options)
    if (slice_ < 0 or s.k[PHASE] == PHASE_DONE) and not (
        take_poses(s, flat(positions), flat(quats_xyzw)) and begin(s)
    ):
        s.k[PHASE] = PHASE_DONE
        return STATUS_REFUSED
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
            if s.k[ITERATIONS] >= end and slice_ >= 0:
                return STATUS_RUNNING
            s.w[STEP_BEFORE] = s.w[COST]
            improve(s)
    finish(s)
    return int(s.k[STATUS])
