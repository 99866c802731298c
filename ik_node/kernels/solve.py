"""
The solver as a state machine that can be interrupted between two steps; docs/theory.md, section 8.

Each pass of `policy` is in one of three phases, which say what its steps lower. REACH: all rows
together. LEVEL: the rows of one level, while those of finished levels are held. SETTLE: the
distance to joint targets and to the rest pose, while all rows are held.
"""

from ik_node.kernels import layout, policy
from ik_node.kernels import options as option
from ik_node.kernels import solve_state as now
from ik_node.kernels.avoid import choose_pairs
from ik_node.kernels.best_effort import (
    count_agreement,
    enter_settling,
    finish_level,
    finish_search,
    follow,
    known_end,
    remove_full_turns,
    steps_left,
)
from ik_node.kernels.continue_to import DRIVE, LEAST
from ik_node.kernels.decorators import entry, FLOATS, INT, INTS, kernel, rare
from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.layout import Floats, Ints, open_solve, Solve, unit_of_column
from ik_node.kernels.lm_step import lm_step
from ik_node.kernels.out_of_reach import out_of_reach
from ik_node.kernels.redundant import choose_independent_rows, reduce_rows
from ik_node.kernels.start import (
    all_within_tolerance,
    continue_start,
    cost_of,
    evaluate,
    INFINITE,
    keep_couplings,
    perturb,
    read_poses,
    remember_best,
    restore_bounds,
    share_gaps,
    start_solve,
)
from ik_node.kernels.unchecked_array import table

SMALLEST_COST = 1e-22  # a cost of rounding [L^2, rad^2]
COUPLED = 1e-9  # the gap that closing the loops leaves in a coupling is below this [rad or L]


@rare
def end_start(s: Solve) -> None:
    """
    End a start that did not reach the goals.

    A stationary first start is perturbed once and continued, because it may be a saddle point. A
    start that ignored limits goes on within them.
    """
    if s.k[now.UNBOUNDED] == 1 and (restore_bounds(s) or s.checks > 0):
        s.w[now.BEST_COST] = INFINITE
        return
    remember_best(s, 1.0)
    stationary = (
        s.k[now.OUT_OF_ITERATIONS] == 0 and s.k[now.GREW] == 0 and s.k[now.PASS] != policy.TIGHTEN
    )
    if s.k[now.PERTURBED] == 0 and stationary:
        s.k[now.PERTURBED] = 1
        perturb(s)
        continue_start(s)
    else:
        finish_search(s)


@kernel
def reach_step_is_due(s: Solve) -> bool:
    """
    Return True if REACH needs another step.

    Otherwise the phase has ended: every constraint is within tolerance, or the start has failed,
    that is, four steps in a row gained less than 3 % each, or its iterations are spent.
    """
    if s.k[now.ITERATIONS] == 0:
        held = s.k[now.LOOPS] > 0 or s.checks > 0
        s.k[now.CLOSED_AT_START] = 1 if held and all_within_tolerance(s, 0) else 0
    if all_within_tolerance(s, s.k[now.LAST_LEVEL]):
        if s.k[now.UNBOUNDED] == 1:
            moved = restore_bounds(s)
            s.k[now.BLOCKED] += 0 if moved else 1
            return False
        s.k[now.STATUS] = now.STATUS_CONVERGED
        remove_full_turns(s)
        # Without preferences the solve ends here, with the residuals of x.
        follow(s, policy.MET)
        return False
    promise = policy.RESTART_PROMISE if s.k[now.STARTS] > 1 else policy.SEARCH_PROMISE
    searches = s.k[now.PASS] == policy.SEARCH and s.k[now.STARTS] > 1
    known = known_end(s) if searches and s.k[now.START_ITERATIONS] > 0 else -1
    if known >= 0:
        if s.k[now.UNBOUNDED] == 1:
            restore_bounds(s)
        count_agreement(s, s.candidate_cost[known])
        follow(s, policy.KNOWN)
        return False
    spent = s.k[now.TOLERANT] == 1 and not steps_left(s)
    if (
        s.k[now.START_ITERATIONS] >= s.options[option.MAX_ITERATIONS]
        or s.k[now.INTERRUPTED] > 0
        or spent
    ):
        s.k[now.OUT_OF_ITERATIONS] = 1
        end_start(s)
        return False
    # A push away from a saddle point is small at first.
    pushed = s.k[now.PERTURBED] == 1 and s.k[now.STARTS] == 1 and s.k[now.PASS] != policy.TIGHTEN
    small = s.w[now.STEP_SIZE] <= s.options[option.STALL_THRESHOLD]
    if s.k[now.START_ITERATIONS] > 0 and (
        s.k[now.WEAK] >= policy.SEARCH_PATIENCE
        or (0.0 <= s.w[now.PREDICTED] <= promise * s.w[now.COST] and not pushed)
        or s.k[now.GREW] == 1
        or small
    ):
        if small and s.w[now.PREDICTED] > promise * s.w[now.COST]:
            # Further steps would gain, but they are too small to be worth while.
            s.k[now.INTERRUPTED] = 2
            s.k[now.OUT_OF_ITERATIONS] = 1
        end_start(s)
        return False
    return True


@kernel
def level_step_is_due(s: Solve) -> bool:
    """
    Return True if the present level needs another step.

    A level ends when the linear model of theory.md, eq. (8), predicts no more decrease of its
    cost, or when its steps are spent. Steps that close loops do not count towards
    `max_iterations`.
    """
    level, kind = s.k[now.LEVEL], s.k[now.PASS]
    if s.k[now.LEVEL_DONE] == 1:
        finish_level(s)
        return False
    conflicts = s.options[option.COMPROMISE] > 0.0
    drawn = kind == policy.WALK or kind == policy.CLOSE
    ends = kind if level > 0 and s.k[now.STARTS] > 1 else policy.CLOSE
    promise = policy.PROMISE[ends - policy.CLOSE]
    # Such a residual may exceed the tolerance of a large robot, hence the second condition.
    done = s.w[now.COST] <= SMALLEST_COST and all_within_tolerance(s, level)
    if level == 0:
        # Loops are closed whatever the budget; steps towards goals are part of it.
        limit = max(s.options[option.MAX_ITERATIONS], policy.ANSWER_STEPS)
        if drawn or conflicts:
            done = all_within_tolerance(s, 0)
    else:
        limit = s.options[option.MAX_ITERATIONS]
        if conflicts:
            promise = policy.SEARCH_PROMISE
        if drawn:
            # All levels of a walk together count as one start.
            limit //= s.k[now.LAST_LEVEL]
        if not (drawn or s.k[now.STATUS] == now.STATUS_STALLED) or not steps_left(s):
            limit = 0.0
    if s.k[now.START_ITERATIONS] >= limit:
        if (
            level > 0
            and not done
            and s.k[now.STATUS] == now.STATUS_STALLED
            and s.k[now.INTERRUPTED] != 2
        ):
            s.k[now.OUT_OF_ITERATIONS] = 1
        done = True
    elif s.k[now.START_ITERATIONS] > 0:
        done = done or (
            s.w[now.PREDICTED] <= promise * s.w[now.COST]
            or (level > 0 and s.w[now.STEP_SIZE] <= s.options[option.STALL_THRESHOLD])
            or s.k[now.WEAK] >= policy.LEVEL_PATIENCE
        )
    if done:
        s.k[now.LEVEL_DONE] = 1
        s.k[now.STALE] = 1
    return not done


@kernel
def settle_step_is_due(s: Solve) -> bool:
    """Return True if SETTLE needs another step towards joint targets or the rest pose, eq. (9)."""
    due = bool(
        steps_left(s)
        and s.k[now.START_ITERATIONS] < s.options[option.MAX_ITERATIONS]
        and s.w[now.COST] > SMALLEST_COST
        and s.w[now.DAMPING_SCALE] > LEAST[DRIVE]
    )
    if due and s.k[now.START_ITERATIONS] > 0 and s.k[now.WEAK] == 0:
        due = s.w[now.COST] < s.w[now.STEP_BEFORE] * (1.0 - 1e-6)
    if not due:
        # Rejected steps have left their frames in the workspace.
        s.k[now.STALE] = 1 if s.k[now.START_ITERATIONS] > 0 else 0
        enter_settling(s, s.k[now.LEVEL] - s.k[now.LAST_LEVEL])
    return due


@rare
def select_independent_rows(s: Solve) -> None:
    """
    Choose the independent rows of closures with redundant rows, at x; theory.md, section 10.

    The residual and the cost are then those of the chosen rows.
    """
    choose_independent_rows(s)
    reduce_rows(s)
    for r in range(s.nr):
        s.residual[r] = s.trial[r]
    s.w[now.COST] = cost_of(s, s.x)


@kernel
def write_answer(s: Solve) -> None:
    """
    Write x to q in [rad or m].

    A value that did not move keeps its bits, and a value at a bound is exactly that bound.
    """
    if s.nt > 0:
        keep_couplings(s, COUPLED)
        share_gaps(s, COUPLED)
    for j in range(s.n):
        v, g = s.var[j], s.column_q[j]
        if v < 0:
            continue
        x = s.x[v]
        if g != s.var_q[v]:
            # An angle that may wrap is followed one to one.
            value = x if s.wraps[v] == 1 else s.value[j]
            s.q[g] = value * unit_of_column(s, j)
        elif x != s.x_start[v]:
            start, window = s.q[g], s.joints[layout.JOINT_WINDOW, g]
            lower = max(min(s.joints[layout.JOINT_LOWER, g], start), start - window)
            upper = min(max(s.joints[layout.JOINT_UPPER, g], start), start + window)
            value = lower if x <= s.lower[v] else x * s.unit[v]
            s.q[g] = upper if x >= s.upper[v] else min(max(value, lower), upper)


@kernel
def write_result(s: Solve) -> None:
    """
    Write the answer, the status and the counters.

    The status is CONVERGED only if every residual is within its tolerance.
    """
    write_answer(s)
    if all_within_tolerance(s, s.k[now.LAST_LEVEL]):
        s.k[now.STATUS] = now.STATUS_CONVERGED
    elif s.k[now.STATUS] == now.STATUS_CONVERGED:
        s.k[now.STATUS] = now.STATUS_STALLED
    s.record[layout.RECORD_STATUS] = s.k[now.STATUS]
    s.record[layout.RECORD_STEPS] = s.k[now.ITERATIONS] - s.k[now.CLOSING]
    s.record[layout.RECORD_STARTS] = s.k[now.STARTS]
    s.record[layout.RECORD_CLOSING] = s.k[now.CLOSING]
    interrupted = s.k[now.INTERRUPTED] == 1
    s.record[layout.RECORD_ENDED] = now.ENDED_INTERRUPTED if interrupted else s.k[now.ENDED]
    if s.k[now.STATUS] != now.STATUS_CONVERGED:
        s.record[layout.RECORD_ENDED] += now.ENDS * out_of_reach(s)


@entry(INTS, FLOATS, INTS, *6 * [FLOATS], INT, INT)
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
    goals: int,
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
    joints, options : ndarray, shape (8, nq), (OPTION_COUNT,)
        Tables.
    positions, quats_xyzw : ndarray, shape (goals, 3), (goals, 4)
        Poses of all goals, in order.
    goals : int
        How many; 0 takes those of the constraint table.
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
    if (slice_ < 0 or s.k[now.PHASE] == now.PHASE_DONE) and not (
        read_poses(s, table(positions, goals, 3), table(quats_xyzw, goals, 4), goals)
        and start_solve(s)
    ):
        s.k[now.PHASE] = now.PHASE_DONE
        return now.STATUS_REFUSED
    end = s.k[now.ITERATIONS] + abs(slice_)
    while s.k[now.PHASE] != now.PHASE_DONE or s.k[now.STALE] == 1:
        if s.k[now.STALE] == 1:
            s.k[now.STALE] = 0
            evaluate(s)
        # Acceptance needs the independent rows, which follow from the Jacobian.
        unsplit = s.groups > 0 and s.k[now.JACOBIAN_DUE] == 1
        due = False
        if unsplit:
            pass
        elif s.k[now.PHASE] == now.PHASE_REACH:
            due = reach_step_is_due(s)
        elif s.k[now.PHASE] == now.PHASE_LEVEL:
            due = level_step_is_due(s)
        elif s.k[now.PHASE] == now.PHASE_SETTLE:
            due = settle_step_is_due(s)
        if (due or unsplit) and s.k[now.JACOBIAN_DUE] == 1:
            if s.checks > 0:
                choose_pairs(s)
            jacobian(s)
            s.k[now.JACOBIAN_DUE] = 0
        if unsplit:
            select_independent_rows(s)
        if due:
            if s.k[now.ITERATIONS] >= end:
                return now.STATUS_RUNNING
            s.w[now.STEP_BEFORE] = s.w[now.COST]
            lm_step(s)
    write_result(s)
    return int(s.k[now.STATUS])
