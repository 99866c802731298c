"""
The best effort: what is left to do, level by level, when a goal cannot be reached.

Every start that does not get there leaves a candidate: where it ended, its loops closed, and what
the goals' rows cost there. Where loops must close, some starts *walk*: they close the loops first
and then go through the levels, so that a goal far away cannot open the loops. The best candidates,
and what is nearest to the start of the solve, then go through the levels to their ends; what is
kept is the best by levels, the nearest one among equals.
"""

from math import pi

from ik_node.kernels._jit import kernel
from ik_node.kernels.layout import (
    asked,
    CANDIDATE_ROOM,
    CON_LEVEL,
    Solve,
    WANTS_NOTHING,
    WANTS_REST_POSE,
)
from ik_node.kernels.options import DAMPING_FACTOR, MAX_ITERATIONS, RESTARTS
from ik_node.kernels.solve_state import (
    BEST_COST,
    CANDIDATES,
    CLOSED_AT_START,
    CLOSING,
    COST,
    DAMPING_SCALE,
    EFFORT,
    EFFORT_DRAWN,
    EFFORT_FAR,
    EFFORT_KEPT,
    EFFORT_NEAR,
    EFFORT_PUSHED,
    EFFORT_WALKED,
    FALLBACKS,
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
    STALE,
    START_ITERATIONS,
    STARTS,
    STATUS,
    STATUS_DIVERGED,
    STATUS_STALLED,
    STATUS_TIMEOUT,
    TRACKS,
    WEAK,
)
from ik_node.kernels.start import all_within_tolerance, kick, restart, row_weight

# Half the square of a thousandth of the characteristic length, or a milliradian.
ROUNDING_COST = 5e-7
# Share of the cost below which a push is worth while.
WORTH_A_PUSH = 1.0 - 1e-6
# Costs of a level that differ by less are equal: one per cent of the residual.
EQUAL = 0.98
# Share of the cost below which an answer jumps while it follows a goal: half the error.
JUMP = 0.25
# The best effort follows where it ends so near to the start [rad or L], it stands still where
# it ends nearer still.
NEXT_TO, STANDS_STILL = 0.1, 1e-4
# Starts whose costs agree to this share are taken to have ended in the same minimum: with their
# loops closed, and before.
SAME_COST, SAME_REACH = 1e-3, 1e-2
# Costs of candidates whose loops do not close begin here; one that was tried costs as none does.
OPEN_COST, NO_COST = 1e100, 1e300


@kernel
def copy_variables(s: Solve, start: int, out: int) -> None:
    """Copy variables within s.w; to s.x only together with STALE."""
    for v in range(s.nv):
        s.w[out + v] = s.w[start + v]


@kernel
def distance(s: Solve, a: int, b: int) -> float:
    """Return the largest difference of a variable between s.w[a] and s.w[b] [rad or L]."""
    most = 0.0
    for v in range(s.nv):
        most = max(most, abs(s.w[a + v] - s.w[b + v]))
    return most


@kernel
def nearer(s: Solve, a: int, b: int) -> bool:
    """
    Return whether s.w[a] is nearer to the start of the solve than s.w[b].

    By the sum of squares: the largest difference is often that of a variable that all answers
    share, and would not tell them apart.
    """
    difference = 0.0
    for v in range(s.nv):
        one, other = s.w[a + v] - s.w[s.x_start + v], s.w[b + v] - s.w[s.x_start + v]
        difference += one * one - other * other
    return difference < 0.0


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
def steps_left(s: Solve) -> bool:
    """Return whether a step towards goals may be made: all starts together have so many."""
    most = s.options[MAX_ITERATIONS] * (1.0 + s.options[RESTARTS])
    return bool(s.k[INTERRUPTED] == 0 and s.k[ITERATIONS] - s.k[CLOSING] < most)


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
def enter_reach(s: Solve) -> None:
    """Begin to improve all rows together, whose residuals are to be zero."""
    for r in range(s.nr):
        s.w[s.hold + r] = 0.0
    enter_phase(s, PHASE_REACH, 0)
    s.w[DAMPING_SCALE] = s.options[DAMPING_FACTOR]


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
def enter_effort(s: Solve, effort: int, start: int) -> None:
    """Begin to go through all levels from s.w[start]."""
    if start != s.x:
        copy_variables(s, start, s.x)
    unwind(s)
    s.k[EFFORT] = effort
    s.k[OUT_OF_ITERATIONS] = 0
    enter_phase(s, PHASE_LEVEL, 0)


@kernel
def best_candidate(s: Solve) -> int:
    """Return the candidate of the least cost; -1 = there is none that was not tried."""
    best = -1
    for c in range(s.k[CANDIDATES]):
        cost = s.w[s.candidate_cost + c]
        if cost < NO_COST and (best < 0 or cost < s.w[s.candidate_cost + best]):
            best = c
    return best


@kernel
def closed_cost(s: Solve) -> float:
    """
    Return the cost of the goals' rows at x, which are in `residual`, if its loops are closed.

    Else return that of the closures' rows, beyond all others.
    """
    closed, cost = all_within_tolerance(s, 0), 0.0
    for c in range(s.nc):
        if (asked(s, c, CON_LEVEL) > 0.0) == closed:
            for r in range(6 * c, 6 * c + 6):
                cost += 0.5 * row_weight(s, r) * s.w[s.residual + r] * s.w[s.residual + r]
    return cost if closed else OPEN_COST * (1.0 + cost)


@kernel
def collect_candidate(s: Solve, cost: float) -> None:
    """Keep where a start has ended, x, if its cost is among the best."""
    if s.k[STARTS] == 1:
        copy_variables(s, s.x, s.x_kept)
    at, worst = -1, -1.0
    for c in range(s.k[CANDIDATES]):
        known = s.w[s.candidate_cost + c]
        if abs(cost - known) <= SAME_COST * known:
            at, worst = (c if nearer(s, s.x, s.candidate + c * s.nv) else -1), 0.0
            break
        if known > max(worst, cost):
            at, worst = c, known
    if s.k[CANDIDATES] < CANDIDATE_ROOM and worst != 0.0:
        at = s.k[CANDIDATES]
        s.k[CANDIDATES] += 1
    if at >= 0:
        s.w[s.candidate_cost + at] = cost
        s.w[s.candidate_reach + at] = s.w[BEST_COST]
        copy_variables(s, s.x, s.candidate + at * s.nv)
    next_start(s)


@kernel
def next_start(s: Solve) -> None:
    """Draw a new start if there is one left; else begin with the best effort."""
    if s.k[STARTS] <= s.options[RESTARTS] and s.k[INTERRUPTED] == 0:
        s.k[STARTS] += 1
        s.k[KICKED] = 1
        s.k[OUT_OF_ITERATIONS] = 0
        s.k[GREW] = 0
        s.w[BEST_COST] = NO_COST
        if restart(s, best_candidate(s)):
            s.k[EFFORT] = EFFORT_WALKED
            enter_phase(s, PHASE_LEVEL, 0)
        else:
            enter_reach(s)
    else:
        begin_efforts(s)


@kernel
def begin_efforts(s: Solve) -> None:
    """Say how reaching has ended, and begin with the effort near the start of the solve."""
    s.k[STATUS] = STATUS_STALLED
    if not steps_left(s):
        s.k[STATUS] = STATUS_TIMEOUT
    if s.k[GREW] == 1:
        s.k[STATUS] = STATUS_DIVERGED
    best = best_candidate(s)
    if best >= 0 and s.w[s.candidate_cost + best] < OPEN_COST:
        s.k[FALLBACKS] = -1
    if s.k[CLOSED_AT_START] == 1 and s.k[STATUS] == STATUS_STALLED:
        enter_effort(s, EFFORT_NEAR, s.x_start)
    elif s.k[STATUS] == STATUS_STALLED and s.k[FALLBACKS] < 0:
        enter_effort(s, EFFORT_NEAR, s.x_kept)
    elif best >= 0:
        enter_effort(s, EFFORT_KEPT, s.candidate + best * s.nv)
    else:
        enter_effort(s, EFFORT_KEPT, s.x_best)


@kernel
def is_known(s: Solve) -> bool:
    """Return whether a start before this one ended at the same cost of all rows."""
    for c in range(s.k[CANDIDATES]):
        known = s.w[s.candidate_reach + c]
        if abs(s.w[BEST_COST] - known) <= SAME_REACH * known:
            return True
    return False


@kernel
def finish_start(s: Solve) -> None:
    """Leave a start that did not get there by its best iterate, once its loops are closed."""
    copy_variables(s, s.x_best, s.x)
    s.k[STALE] = 1
    if s.options[RESTARTS] == 0.0 or s.k[INTERRUPTED] == 1:
        next_start(s)
    elif s.k[LOOPS] == 0:
        collect_candidate(s, s.w[BEST_COST])
    elif s.k[STARTS] > 1 and is_known(s):
        next_start(s)
    else:
        s.k[EFFORT] = EFFORT_DRAWN
        enter_phase(s, PHASE_LEVEL, 0)


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
        restart(s, -1)
    else:
        copy_variables(s, s.x_best, s.x)
        s.k[FALLBACKS] = -2
    s.k[FALLBACKS] += 1
    enter_phase(s, PHASE_LEVEL, 0)
    return True


@kernel
def better(s: Solve, margin: float) -> bool:
    """
    Return whether the effort just made is better than the one kept.

    The first level whose costs differ decides, by a margin; costs within `EQUAL` of each other do
    not differ. Of two efforts that do not differ the one nearer to the start is better.
    """
    for level in range(s.k[LAST_LEVEL] + 1):
        new, old = s.w[s.level_cost + level], s.w[s.kept_cost + level]
        if new < margin * old:
            return True
        if EQUAL * new > old or new < EQUAL * old:
            return False
    return bool(s.k[EFFORT] == EFFORT_FAR and s.k[TRACKS] == 0 and nearer(s, s.x, s.x_kept))


@kernel
def next_candidate(s: Solve) -> int:
    """Return the next candidate worth an effort; -1 = none."""
    best = best_candidate(s)
    while best >= 0:
        cost, at = s.w[s.candidate_cost + best], s.candidate + best * s.nv
        s.w[s.candidate_cost + best] = NO_COST
        total = 0.0
        for level in range(1, s.k[LAST_LEVEL] + 1):
            total += s.w[s.kept_cost + level]
        if s.k[TRACKS] == 1 and not cost < JUMP * total:
            return -1
        if distance(s, at, s.x_kept) > NEXT_TO * NEXT_TO:
            return best
        best = best_candidate(s)
    return -1


@kernel
def another_effort(s: Solve) -> bool:
    """
    Compare the best effort just made with the one kept; whether there is more to do.

    Without a good reason a goal out of reach does not make the answer jump to another branch while
    it is followed: not of a mirror image, and of another start's only where that halves the error.
    """
    effort, kept = s.k[EFFORT], True
    if effort != EFFORT_NEAR:
        margin = WORTH_A_PUSH if effort == EFFORT_PUSHED else (JUMP if s.k[TRACKS] else EQUAL)
        kept = better(s, margin)
    if kept:
        copy_variables(s, s.x, s.x_kept)
        for level in range(s.k[LAST_LEVEL] + 1):
            s.w[s.kept_cost + level] = s.w[s.level_cost + level]
    moved = distance(s, s.x, s.x_start)
    if effort == EFFORT_NEAR:
        s.k[TRACKS] = 1 if moved <= NEXT_TO else 0
    s.k[FALLBACKS] = -1
    stands = effort == EFFORT_NEAR and s.k[CLOSED_AT_START] == 1 and moved <= STANDS_STILL
    if stands and steps_left(s):
        # In a minimum, or where only a push shows that there is a way down.
        kick(s)
        enter_effort(s, EFFORT_PUSHED, s.x)
        return True
    following = next_candidate(s) if steps_left(s) else -1
    if following >= 0:
        enter_effort(s, EFFORT_FAR, s.candidate + following * s.nv)
    elif not kept or effort == EFFORT_FAR:
        enter_effort(s, EFFORT_KEPT, s.x_kept)
    else:
        return False
    return True


@kernel
def finish_level(s: Solve) -> None:
    """
    Fix what the finished level is held at from now on, and begin with what comes next.

    A walk that meets every tolerance has reached its goals; at its last level it ends like any
    other start, by closing its loops to the last digit.
    """
    level, effort = s.k[LEVEL], s.k[EFFORT]
    walked = effort == EFFORT_WALKED
    if walked and all_within_tolerance(s, s.k[LAST_LEVEL]):
        enter_reach(s)
        return
    if walked and level > 0 and level == s.k[LAST_LEVEL]:
        s.k[EFFORT] = EFFORT_DRAWN
        enter_phase(s, PHASE_LEVEL, 0)
        return
    if effort == EFFORT_DRAWN or (walked and level == 0 and not all_within_tolerance(s, 0)):
        collect_candidate(s, closed_cost(s))
        return
    if level == 0 and not walked and fall_back(s):
        return
    all_met = True
    for c in range(s.nc):
        if asked(s, c, CON_LEVEL) == level:
            met = all_within_tolerance(s, -1 - c)
            all_met = all_met and met
            for r in range(6 * c, 6 * c + 6):
                s.w[s.hold + r] = 0.0 if met else s.w[s.residual + r]
    s.w[s.level_cost + level] = 0.0 if all_met else s.w[COST]
    if level < s.k[LAST_LEVEL]:
        enter_phase(s, PHASE_LEVEL, level + 1)
    elif effort == EFFORT_KEPT or not another_effort(s):
        if s.k[OUT_OF_ITERATIONS] == 1 and s.k[STATUS] == STATUS_STALLED:
            s.k[STATUS] = STATUS_TIMEOUT
        enter_settling(s, WANTS_NOTHING)
