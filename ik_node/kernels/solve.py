"""
The solver: damped least squares that closes loops first, as a machine that can be interrupted.

REACH takes all rows together, from the start and then from restarts, and is all that a reachable
goal needs. What cannot be reached goes through LEVEL once for the closures and once for every
priority of goals: each level is brought to its least residual while the rows of the levels before
it are held. SETTLE moves to joint targets and the rest pose in what freedom is left.
"""

from ik_node.kernels._jit import entry, kernel
from ik_node.kernels.best_effort import (
    enter_settling,
    finish_level,
    finish_start,
    steps_left,
    unwind,
)
from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.layout import (
    Floats,
    Ints,
    JOINT_LOWER,
    JOINT_UPPER,
    JOINT_WINDOW,
    open_solve,
    RECORD_CLOSING,
    RECORD_STARTS,
    RECORD_STATUS,
    RECORD_STEPS,
    Solve,
    unit_of_column,
    WANTS_NOTHING,
)
from ik_node.kernels.lm_step import improve
from ik_node.kernels.options import DAMPING_FACTOR, MAX_ITERATIONS, STALL_THRESHOLD
from ik_node.kernels.redundant import reduce_rows, split_rows
from ik_node.kernels.solve_state import (
    CLOSED_AT_START,
    CLOSING,
    COST,
    DAMPING_SCALE,
    EFFORT,
    EFFORT_DRAWN,
    EFFORT_FAR,
    EFFORT_WALKED,
    GREW,
    INTERRUPTED,
    ITERATIONS,
    JACOBIAN_DUE,
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
    START_ITERATIONS,
    STARTS,
    STATUS,
    STATUS_CONVERGED,
    STATUS_REFUSED,
    STATUS_RUNNING,
    STATUS_STALLED,
    STEP_BEFORE,
    STEP_SIZE,
    WEAK,
)
from ik_node.kernels.start import (
    all_within_tolerance,
    begin,
    cost_of,
    evaluate,
    kick,
    remember_best,
    take_poses,
)
from ik_node.kernels.unchecked_array import flat

# Weak steps in a row that end a start, a level.
REACH_PATIENCE, LEVEL_PATIENCE = 4, 12
# A level is done when the linear model promises less than this share of its cost.
LEVEL_PROMISE = 1e-10
SMALLEST_COST = 1e-22  # of rounding
MOST_DAMPING = 1e10
# Whether another start's effort is worth while shows early.
FAR_PATIENCE, FAR_PROMISE = 6, 1e-4
# A walk has to show which minimum it leads to; the effort that follows finds its last digits.
WALK_STEPS, WALK_PROMISE = 12.0, 1e-3
# Steps to close loops with, each time, and where a restart has ended or a walk begins; these come
# on top of all.
CLOSING_STEPS, DRAWN_STEPS = 50.0, 20.0
# Share of the cost below which another start is taken.
WORTH_A_START = 0.9
# Settling ends when only a smaller share of a step than this is an improvement.
SETTLE_LEAST = 1e-4


@kernel
def leave_start(s: Solve) -> None:
    """Leave a start that did not get there; the first one is pushed to the side once."""
    pushed = s.k[KICKED] == 1 and s.k[STARTS] == 1
    remember_best(s, WORTH_A_START if pushed else 1.0)
    stationary = s.k[OUT_OF_ITERATIONS] == 0 and s.k[GREW] == 0
    if s.k[KICKED] == 0 and stationary:
        s.k[KICKED] = 1
        kick(s)
        s.k[WEAK] = 0
        s.k[STALE] = 1
        s.w[STEP_SIZE] = 1e300
        s.w[DAMPING_SCALE] = s.options[DAMPING_FACTOR]
    else:
        finish_start(s)


@kernel
def before_reaching(s: Solve) -> bool:
    """Return whether a step towards all rows is due."""
    if s.k[ITERATIONS] == 0:
        s.k[CLOSED_AT_START] = 1 if s.k[LOOPS] > 0 and all_within_tolerance(s, 0) else 0
    if all_within_tolerance(s, s.k[LAST_LEVEL]):
        s.k[STATUS] = STATUS_CONVERGED
        unwind(s)
        # Without wishes all is done: residuals are those of x, for the last step was kept.
        enter_settling(s, WANTS_NOTHING)
        return False
    if s.k[START_ITERATIONS] >= s.options[MAX_ITERATIONS] or s.k[INTERRUPTED] == 1:
        s.k[OUT_OF_ITERATIONS] = 1
        leave_start(s)
        return False
    if s.k[START_ITERATIONS] > 0 and (
        s.k[WEAK] >= REACH_PATIENCE
        or s.k[GREW] == 1
        or s.w[STEP_SIZE] <= s.options[STALL_THRESHOLD]
        or s.w[DAMPING_SCALE] > MOST_DAMPING
    ):
        leave_start(s)
        return False
    return True


@kernel
def before_level(s: Solve) -> bool:
    """Return whether a step towards the rows of the present level is due."""
    level, effort = s.k[LEVEL], s.k[EFFORT]
    if s.k[LEVEL_DONE] == 1:
        finish_level(s)
        return False
    # Closing loops is owed whatever the budget; the best effort on goals is part of it.
    most = max(s.options[MAX_ITERATIONS], CLOSING_STEPS)
    promise, patience = LEVEL_PROMISE, LEVEL_PATIENCE
    # A residual of that size may be more than the tolerance of a large robot.
    done = s.w[COST] <= SMALLEST_COST and all_within_tolerance(s, level)
    walked = effort == EFFORT_WALKED
    if level == 0 and (walked or effort == EFFORT_DRAWN):
        most, done = DRAWN_STEPS, all_within_tolerance(s, 0)
    elif walked:
        promise, patience = WALK_PROMISE, FAR_PATIENCE
    elif level > 0 and effort == EFFORT_FAR:
        promise, patience = FAR_PROMISE, FAR_PATIENCE
    if level > 0:
        most = s.options[MAX_ITERATIONS]
        if walked:
            # All levels of a walk together are one start.
            most = min(WALK_STEPS, most // s.k[LAST_LEVEL])
        if not (walked or s.k[STATUS] == STATUS_STALLED) or not steps_left(s):
            most = 0.0
    if s.k[START_ITERATIONS] >= most:
        if level > 0 and not done and s.k[STATUS] == STATUS_STALLED:
            s.k[OUT_OF_ITERATIONS] = 1
        done = True
    elif s.k[START_ITERATIONS] > 0:
        done = done or (
            s.w[PREDICTED] <= promise * s.w[COST]
            or s.w[STEP_SIZE] <= 1e-12
            or s.k[WEAK] >= patience
        )
    if done:
        s.k[LEVEL_DONE] = 1
        s.k[STALE] = 1
    return not done


@kernel
def before_settling(s: Solve) -> bool:
    """Return whether a step towards targets and rest pose is due."""
    due = bool(
        steps_left(s)
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
def split(s: Solve) -> None:
    """Find which rows are independent at x, and have residual and cost go by that."""
    split_rows(s)
    reduce_rows(s)
    for r in range(s.nr):
        s.w[s.residual + r] = s.w[s.trial + r]
    s.w[COST] = cost_of(s, s.x)


@kernel
def write_answer(s: Solve) -> None:
    """
    Write x back to q, in [rad or m].

    A value that has not moved and one that is at a bound are exactly what they were given as.
    """
    for j in range(s.n):
        v, g = s.i[s.var + j], s.i[s.column_q + j]
        if v < 0:
            continue
        x = s.w[s.x + v]
        if g != s.i[s.var_q + v]:
            # Of those that follow, angles that wind follow one to one.
            value = x if s.k[s.winds + v] == 1 else s.w[s.value + j]
            s.q[g] = value * unit_of_column(s, j)
        elif x != s.w[s.x_start + v]:
            least = max(s.joints[JOINT_LOWER, g], s.q[g] - s.joints[JOINT_WINDOW, g])
            most = min(s.joints[JOINT_UPPER, g], s.q[g] + s.joints[JOINT_WINDOW, g])
            value = least if x <= s.w[s.lower + v] else x * s.f[s.unit + v]
            s.q[g] = most if x >= s.w[s.upper + v] else min(max(value, least), most)


@kernel
def finish(s: Solve) -> None:
    """Write the answer back to q; the status is what the residuals say."""
    write_answer(s)
    if all_within_tolerance(s, s.k[LAST_LEVEL]):
        s.k[STATUS] = STATUS_CONVERGED
    elif s.k[STATUS] == STATUS_CONVERGED:
        s.k[STATUS] = STATUS_STALLED
    s.w[s.record + RECORD_STATUS] = s.k[STATUS]
    s.w[s.record + RECORD_STEPS] = s.k[ITERATIONS] - s.k[CLOSING]
    s.w[s.record + RECORD_STARTS] = s.k[STARTS]
    s.w[s.record + RECORD_CLOSING] = s.k[CLOSING]


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
        Steps; a negative number -n begins a new solve, for at most n steps.

    Returns
    -------
    int
        STATUS_*; RUNNING when the slice is used up first, REFUSED when a number that came in is
        not finite or a quaternion zero. The outcome is in `record` and what follows it.

    Notes
    -----
    `evaluate`, `jacobian` and `improve` are called in one place each: they are inlined, and a
    second place would compile them a second time.

    """
    s = open_solve(i, f, k, w, q, joints, options)
    if (slice_ < 0 or s.k[PHASE] == PHASE_DONE) and not (
        take_poses(s, flat(positions), flat(quats_xyzw)) and begin(s)
    ):
        s.k[PHASE] = PHASE_DONE
        return STATUS_REFUSED
    end = s.k[ITERATIONS] + abs(slice_)
    while s.k[PHASE] != PHASE_DONE or s.k[STALE] == 1:
        if s.k[STALE] == 1:
            s.k[STALE] = 0
            evaluate(s)
        # Which rows are independent must be known before it is judged how good an iterate is.
        unsplit = s.groups > 0 and s.k[JACOBIAN_DUE] == 1
        due = False
        if unsplit:
            pass
        elif s.k[PHASE] == PHASE_REACH:
            due = before_reaching(s)
        elif s.k[PHASE] == PHASE_LEVEL:
            due = before_level(s)
        elif s.k[PHASE] == PHASE_SETTLE:
            due = before_settling(s)
        if (due or unsplit) and s.k[JACOBIAN_DUE] == 1:
            jacobian(s)
            s.k[JACOBIAN_DUE] = 0
        if unsplit:
            split(s)
        if due:
            if s.k[ITERATIONS] >= end:
                return STATUS_RUNNING
            s.w[STEP_BEFORE] = s.w[COST]
            improve(s)
    finish(s)
    return int(s.k[STATUS])
