# flake8: noqa: E203
"""
The nearest answer to goals that cannot be reached; docs/theory.md, section 8, and decision 0016.

Every failed start leaves a candidate: its end with the loops closed, and the cost of the goals
there. In robots with loops some starts walk: they close the loops first and then go through the
levels, so that a distant goal cannot open the loops. The solver takes the best candidates, and the
neighbourhood of the start, through all levels. It keeps the best result by levels, and the nearest
one among equals.
"""

from math import pi, sqrt

from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.layout import (
    CANDIDATE_ROOM,
    CON_LEVEL,
    CON_ROW_TOLERANCE,
    Floats,
    KIND_CONE,
    PREFERS_NOTHING,
    PREFERS_REST_POSE,
    Solve,
)
from ik_node.kernels.options import AGREEING_STARTS, DAMPING_FACTOR, MAX_ITERATIONS, RESTARTS
from ik_node.kernels.out_of_reach import other_assemblies, out_of_reach
from ik_node.kernels.start import (
    all_within_tolerance,
    copy_variables,
    excess_share,
    perturb,
    release_bounds,
    restart,
    row_tolerance,
    row_weight,
    set_tightness,
    tolerates,
)

# Cost of a residual of 0.001 L or 1 mrad.
ROUNDING_COST = 5e-7
# A perturbation counts as an improvement below this share of the cost.
WORTH_A_PUSH = 1.0 - 1e-6
# Costs of a level whose ratio is above this are equal: one per cent of the residual.
EQUAL = 0.98
# A start whose loops were drawn together may still fall below this share of its cost.
NEARLY = 1.25
# Share of the cost below which a followed answer may jump: half the residual.
JUMP = 0.25
# An effort that ends within NEXT_TO of the start [rad or L] follows the goal; one that ends within
# STANDS_STILL has not moved.
NEXT_TO, STANDS_STILL = 0.1, 1e-4
# If the first start ends farther away than this [rad or L], no answer is next to the start.
FAR_AWAY = 0.5
# Relative difference of costs below which two starts ended in the same minimum: with closed loops,
# and before the loops were closed.
SAME_COST, SAME_REACH = 1e-3, 1e-2
# So many independent starts that agree on the best cost end the restarts: without loops, with
# loops, and with loops that have elbows. The nearer they miss the goal, the more are asked for,
# see `starts_agree`: NEAR_MISS [L or rad] doubles the number, which grows to MOST_AGREEMENT times.
AGREEMENT, AGREEMENT_LOOPS, AGREEMENT_ELBOWS = 12, 8, 24
NEAR_MISS, MOST_AGREEMENT = 0.15, 5.0
# Fewer are enough if the lengths of the links prove that the goal is out of reach. Loops with
# elbows close in several assemblies; where the goal's link may turn as well, REACH, which opens
# the loops, shows only one of them.
PROVEN, PROVEN_LOOPS, PROVEN_ELBOWS, PROVEN_OPEN = 5, 2, 12, 32
NEVER = 1 << 40
# A restart so near to a candidate [rad or L], with a cost below this multiple, ends there as well.
SAME_BASIN, SAME_BASIN_COST = 0.5, 1.5
# A start whose cost is so many times the largest one within tolerances may lead into them.
WITHIN_REACH = 10.0
# Tolerances above this [L or rad] count in the levels; others would only cost time.
WIDE = 1e-4
# Damping of a restart, relative to that of the first start.
LATER_DAMPING = 4.0
# Damping of the first step of a level, relative to its cost.
LEVEL_DAMPING_SCALE = 1e-2
# A residual that is as good as zero [L or rad].
SMALLEST_RESIDUAL = 1e-12
# Costs of candidates with open loops start here; NO_COST marks a candidate that was tried.
OPEN_COST, NO_COST = 1e100, 1e300


@kernel
def distance(s: Solve, a: Floats, b: Floats) -> float:
    """Return max_v |a_v - b_v| of variables a and b (nv,) [rad or L]."""
    most = 0.0
    for v in range(s.nv):
        most = max(most, abs(a[v] - b[v]))
    return most


@kernel
def nearer(s: Solve, a: Floats, b: Floats) -> bool:
    """
    Return True if a is nearer to the start than b, by the sum of squares; both (nv,).

    The largest difference is often that of a variable with the same value in all answers, and
    would not distinguish them.
    """
    difference = 0.0
    for v in range(s.nv):
        one, other = a[v] - s.x_start[v], b[v] - s.x_start[v]
        difference += one * one - other * other
    return difference < 0.0


@kernel
def remove_full_turns(s: Solve) -> None:
    """Shift every angle by full turns to the value nearest to its start, within its bounds."""
    for v in range(s.nv):
        if s.wraps[v] == 1:
            turns = round((s.x_start[v] - s.x[v]) / (2.0 * pi))
            value = s.x[v] + 2.0 * pi * turns
            if value > s.upper[v]:
                value -= 2.0 * pi
            elif value < s.lower[v]:
                value += 2.0 * pi
            if s.lower[v] <= value <= s.upper[v]:
                s.x[v] = value


@kernel
def steps_left(s: Solve) -> bool:
    """Return True if a step towards goals is left: (1 + restarts) max_iterations in all."""
    most = s.options[MAX_ITERATIONS] * (1.0 + s.options[RESTARTS])
    return bool(s.k[now.INTERRUPTED] == 0 and s.k[now.ITERATIONS] - s.k[now.CLOSING] < most)


@kernel
def enter_phase(s: Solve, phase: int, level: int) -> None:
    """Enter LEVEL or SETTLE for the rows of a level, with the counters of a new start."""
    s.k[now.PHASE], s.k[now.LEVEL] = phase, level
    s.k[now.START_ITERATIONS] = 0
    s.k[now.WEAK] = 0
    s.k[now.LEVEL_DONE] = 0
    s.k[now.STALE] = 1
    if phase == now.PHASE_SETTLE:
        s.w[now.DAMPING_SCALE] = 1.0
    elif s.k[now.EFFORT] == now.EFFORT_KEPT:
        # It goes on where another effort ended.
        s.w[now.DAMPING_SCALE] = min(max(s.w[now.DAMPING_SCALE], LEVEL_DAMPING_SCALE), 1.0)
    else:
        s.w[now.DAMPING_SCALE] = LEVEL_DAMPING_SCALE


@kernel
def enter_reach(s: Solve) -> None:
    """Enter REACH: all rows together are to become zero."""
    for r in range(s.nr):
        s.hold[r] = 0.0
    enter_phase(s, now.PHASE_REACH, 0)
    s.w[now.DAMPING_SCALE] = s.options[DAMPING_FACTOR]
    if s.k[now.STARTS] > 1:
        s.w[now.DAMPING_SCALE] *= LATER_DAMPING


@kernel
def enter_settling(s: Solve, granted: int) -> None:
    """Enter SETTLE for the preferences that follow `granted`; end the solve if there are none."""
    following = PREFERS_REST_POSE + 1
    for v in range(s.nv):
        if s.preference[v] > granted:
            following = min(following, s.preference[v])
    if following <= PREFERS_REST_POSE:
        enter_phase(s, now.PHASE_SETTLE, s.k[now.LAST_LEVEL] + following)
    else:
        s.k[now.PHASE] = now.PHASE_DONE


@rare
def enter_effort(s: Solve, effort: int, start: Floats) -> None:
    """Go through all levels from `start` (nv,)."""
    copy_variables(s, start, s.x)
    remove_full_turns(s)
    s.k[now.EFFORT] = effort
    s.k[now.OUT_OF_ITERATIONS] = 0
    enter_phase(s, now.PHASE_LEVEL, 0)


@kernel
def best_candidate(s: Solve) -> int:
    """Return the candidate of least cost; -1 if every candidate has been tried."""
    best = -1
    for c in range(s.k[now.CANDIDATES]):
        cost = s.candidate_cost[c]
        if cost < NO_COST and (best < 0 or cost < s.candidate_cost[best]):
            best = c
    return best


@kernel
def nearest_of_the_best(s: Solve, least: float) -> int:
    """Return the candidate nearest to the start among those whose costs equal the least one."""
    best = -1
    for c in range(s.k[now.CANDIDATES]):
        if EQUAL * s.candidate_cost[c] <= least and (
            best < 0 or nearer(s, s.candidate[c * s.nv :], s.candidate[best * s.nv :])
        ):
            best = c
    return best


@kernel
def closed_cost(s: Solve) -> float:
    """
    Return the cost of the goals' rows at x if the loops are closed.

    If they are open, return the cost of the closures' rows, above every cost of goals.
    """
    closed, cost = all_within_tolerance(s, 0), 0.0
    for c in range(s.nc):
        if (s.constraints[c, CON_LEVEL] > 0.0) == closed:
            for r in range(6 * c, s.row_end[c]):
                if s.kind[c] != KIND_CONE or s.residual[r] > 0.0:
                    cost += 0.5 * row_weight(s, r) * s.residual[r] * s.residual[r]
    return cost if closed else OPEN_COST * (1.0 + cost)


@kernel
def count_agreement(s: Solve, cost: float) -> None:
    """Count the independent starts that ended with the cost of the best one."""
    best = best_candidate(s)
    least = s.candidate_cost[best] if best >= 0 else NO_COST
    if cost < EQUAL * least:
        s.k[now.AGREED] = 1
    elif EQUAL * cost <= least:
        s.k[now.AGREED] += 1 if s.k[now.ENDED] == now.ENDED_PROVEN else s.k[now.DRAWN]


@rare
def decide_enough(s: Solve) -> None:
    """Decide how many agreeing starts are enough, and why they end the search."""
    asked, loops = s.options[AGREEING_STARTS], s.k[now.LOOPS] > 0
    s.k[now.ASSEMBLIES] = other_assemblies(s) if loops else 0
    s.k[now.ENDED] = now.ENDED_PROVEN if out_of_reach(s) else now.ENDED_AGREED
    proven, elbows = s.k[now.ENDED] == now.ENDED_PROVEN, s.k[now.ASSEMBLIES] > 0
    if asked > 0.0:
        s.k[now.ENOUGH] = int(asked)
    elif asked < 0.0 and (elbows or not proven):
        # Another assembly may be nearer, however far the goal is.
        s.k[now.ENOUGH], s.k[now.ENDED] = NEVER, now.ENDED_SPENT
    elif proven and elbows:
        s.k[now.ENOUGH] = PROVEN_OPEN if s.k[now.ASSEMBLIES] == 2 else PROVEN_ELBOWS
    elif proven:
        s.k[now.ENOUGH] = PROVEN_LOOPS if loops else PROVEN
    elif elbows:
        s.k[now.ENOUGH] = AGREEMENT_ELBOWS
    else:
        s.k[now.ENOUGH] = AGREEMENT_LOOPS if loops else AGREEMENT


@rare
def starts_agree(s: Solve) -> bool:
    """
    Return True if so many independent starts ended alike that no other would be better.

    With the residual r of the best candidate, n (1 + NEAR_MISS / r) starts are enough, at most
    n MOST_AGREEMENT: goals that can be reached, but are missed by many starts, are missed by
    little. A start near a candidate, or near the first start, says nothing about other minima.
    """
    if s.k[now.ENOUGH] == 0:
        decide_enough(s)
    share, best = 1.0, best_candidate(s)
    if s.options[AGREEING_STARTS] == 0.0 and s.k[now.ENDED] == now.ENDED_AGREED and best >= 0:
        residual = sqrt(2.0 * s.candidate_cost[best])
        share = min(1.0 + NEAR_MISS / max(residual, SMALLEST_RESIDUAL), MOST_AGREEMENT)
    return bool(s.k[now.AGREED] >= s.k[now.ENOUGH] * share)


@rare
def known_end(s: Solve) -> int:
    """
    Return the candidate at which the start will end as well, -1 if there is none.

    That is a candidate near x whose cost at the end of REACH was similar, and smaller: x is in its
    basin (as in the multi-level single linkage of Rinnooy Kan & Timmer 1987).
    """
    if s.k[now.TIGHT] == 1 or s.k[now.TOLERANT] == 1:
        return -1
    for c in range(s.k[now.CANDIDATES]):
        cost = s.candidate_reach[c]
        same = cost <= s.w[now.COST] < SAME_BASIN_COST * cost
        for v in range(s.nv if same else 0):
            way = s.x[v] - s.candidate[c * s.nv + v]
            if s.wraps[v] == 1:
                way -= 2.0 * pi * round(way / (2.0 * pi))
            same = same and abs(way) < SAME_BASIN
        if same:
            return c
    return -1


@rare
def collect_candidate(s: Solve, cost: float) -> None:
    """Keep x, the end of a start, as a candidate if its cost is among the best."""
    if s.k[now.STARTS] == 1:
        copy_variables(s, s.x, s.x_kept)
    count_agreement(s, cost)
    at, worst = -1, -1.0
    for c in range(s.k[now.CANDIDATES]):
        known = s.candidate_cost[c]
        if abs(cost - known) <= SAME_COST * known:
            at, worst = (c if nearer(s, s.x, s.candidate[c * s.nv :]) else -1), 0.0
            break
        if known > max(worst, cost):
            at, worst = c, known
    if s.k[now.CANDIDATES] < CANDIDATE_ROOM and worst != 0.0:
        at = s.k[now.CANDIDATES]
        s.k[now.CANDIDATES] += 1
    if at >= 0:
        s.candidate_cost[at] = cost
        if worst != 0.0 or s.w[now.REACH_COST] > 0.0:
            s.candidate_reach[at] = s.w[now.REACH_COST]
        copy_variables(s, s.x, s.candidate[at * s.nv :])
    next_start(s)


@rare
def next_start(s: Solve) -> None:
    """Draw the next start; after the last one begin with the best effort."""
    more = s.k[now.STARTS] <= s.options[RESTARTS] and s.k[now.INTERRUPTED] == 0
    ended = more and starts_agree(s)
    if more and not ended:
        s.k[now.STARTS] += 1
        s.k[now.PERTURBED] = 1
        s.k[now.OUT_OF_ITERATIONS] = 0
        s.k[now.GREW] = 0
        s.w[now.BEST_COST] = NO_COST
        if restart(s, best_candidate(s)):
            s.k[now.EFFORT] = now.EFFORT_WALKED
            # A walk has no end of REACH that another start could be known by.
            s.w[now.REACH_COST] = 0.0
            enter_phase(s, now.PHASE_LEVEL, 0)
        else:
            enter_reach(s)
            release_bounds(s)
    else:
        if not ended and s.k[now.ENDED] != now.ENDED_PROVEN:
            s.k[now.ENDED] = now.ENDED_SMALL if s.k[now.INTERRUPTED] == 2 else now.ENDED_SPENT
        begin_efforts(s)


@rare
def hold_goals(s: Solve) -> None:
    """Hold the rows of goals where they are within their tolerances."""
    for c in range(s.nc):
        for r in range(6 * c, s.row_end[c]):
            if s.constraints[c, CON_LEVEL] > 0.0:
                s.hold[r] = s.residual[r]


@kernel
def has_wide_goal(s: Solve) -> bool:
    """Return True if a goal has a tolerance that matters beside an error of usual size."""
    found = False
    for c in range(s.nc):
        if s.constraints[c, CON_LEVEL] > 0.0:
            for r in range(6 * c, s.row_end[c]):
                found = found or row_tolerance(s, r) > WIDE
    return bool(found)


@kernel
def tolerated_cost(s: Solve) -> float:
    """Return the largest cost of the goals' rows within their tolerances."""
    cost = 0.0
    for c in range(s.nc):
        if s.constraints[c, CON_LEVEL] > 0.0:
            by_axis = s.constraints[c, CON_ROW_TOLERANCE] >= 0.0
            for r in range(6 * c, s.row_end[c]):
                if by_axis or r == 6 * c or r == s.angular[c]:
                    cost += 0.5 * row_weight(s, r) * row_tolerance(s, r) ** 2
    return cost


@rare
def begin_tolerant_start(s: Solve) -> bool:
    """
    Enter REACH where only what exceeds the tolerances of goals counts, from the next candidate.

    Return False if no candidate is left that may lead into all tolerances.
    """
    most = WITHIN_REACH * tolerated_cost(s)
    while s.k[now.TRIED] < max(s.k[now.CANDIDATES], 1) and steps_left(s):
        c = s.k[now.TRIED]
        s.k[now.TRIED] += 1
        known = s.candidate_cost[c] if s.k[now.CANDIDATES] > 0 else s.w[now.BEST_COST]
        if known <= most:
            copy_variables(
                s, s.candidate[c * s.nv :] if s.k[now.CANDIDATES] > 0 else s.x_best, s.x
            )
            # Rows of tolerances by axis have other derivatives.
            s.k[now.TOLERANT], s.k[now.FRAMES] = 1, 0
            s.k[now.OUT_OF_ITERATIONS], s.k[now.GREW] = 0, 0
            s.w[now.BEST_COST] = NO_COST
            enter_reach(s)
            return True
    return False


@rare
def begin_efforts(s: Solve) -> None:
    """Set the status with which REACH ended, and begin with the effort near the start."""
    if begin_tolerant_start(s):
        return
    if has_wide_goal(s):
        s.k[now.TOLERANT], s.k[now.FRAMES] = 1, 0
    s.k[now.STATUS] = now.STATUS_STALLED
    searched = steps_left(s)
    if not searched and s.k[now.INTERRUPTED] != 2:
        s.k[now.STATUS] = now.STATUS_TIMEOUT
    if s.k[now.GREW] == 1:
        s.k[now.STATUS] = now.STATUS_DIVERGED
        searched = False
    best = best_candidate(s)
    if best >= 0 and s.candidate_cost[best] < OPEN_COST:
        s.k[now.FALLBACKS] = -1
    away = (
        s.options[RESTARTS] > 0.0
        and s.k[now.FALLBACKS] == -1
        and s.k[now.ASSEMBLIES] == 0
        and distance(s, s.x_kept, s.x_start) > FAR_AWAY
    )
    if away and searched:
        best = nearest_of_the_best(s, s.candidate_cost[best])
        for level in range(s.k[now.LAST_LEVEL] + 1):
            s.kept_cost[level] = NO_COST
        s.candidate_cost[best] = NO_COST
        enter_effort(s, now.EFFORT_FAR, s.candidate[best * s.nv :])
    elif s.k[now.CLOSED_AT_START] == 1 and searched:
        enter_effort(s, now.EFFORT_NEAR, s.x_start)
    elif searched and s.k[now.FALLBACKS] < 0:
        enter_effort(s, now.EFFORT_NEAR, s.x_kept)
    elif best >= 0:
        enter_effort(s, now.EFFORT_KEPT, s.candidate[best * s.nv :])
    else:
        enter_effort(s, now.EFFORT_KEPT, s.x_best)


@kernel
def is_known(s: Solve) -> bool:
    """Return True if an earlier start ended at the same cost of all rows, and count it."""
    for c in range(s.k[now.CANDIDATES]):
        known = s.candidate_reach[c]
        if abs(s.w[now.BEST_COST] - known) <= SAME_REACH * known:
            count_agreement(s, s.candidate_cost[c])
            return True
    return False


@rare
def finish_start(s: Solve) -> None:
    """End a failed start at its best iterate; if there are loops, draw them together first."""
    if s.k[now.TOLERANT] == 1:
        begin_efforts(s)
        return
    copy_variables(s, s.x_best, s.x)
    s.k[now.STALE] = 1
    if s.k[now.TIGHT] == 1:
        set_tightness(s, 0)
        s.k[now.EFFORT] = now.EFFORT_DRAWN
        enter_phase(s, now.PHASE_LEVEL, 0)
        return
    s.w[now.REACH_COST] = s.w[now.BEST_COST]
    if s.k[now.STARTS] == 1:
        s.w[now.LEFT_DAMPING] = s.w[now.DAMPING_SCALE]
    if s.options[RESTARTS] == 0.0 or s.k[now.INTERRUPTED] == 1:
        next_start(s)
    elif s.k[now.LOOPS] == 0:
        collect_candidate(s, s.w[now.BEST_COST])
    elif s.k[now.STARTS] > 1 and is_known(s):
        next_start(s)
    else:
        enter_phase(s, now.PHASE_REACH, 0)
        set_tightness(s, 1)
        s.w[now.BEST_COST] = NO_COST


@rare
def fall_back(s: Solve) -> bool:
    """
    Try again to close loops that did not close. Return True if an attempt begins.

    The best compromise with a distant goal may lie where the loops cannot close, although they
    close from the start of the solve or from a restart. If every attempt fails, the best of them
    counts.
    """
    if s.k[now.FALLBACKS] < 0 or all_within_tolerance(s, 0):
        return False
    if s.k[now.FALLBACKS] == 0 or s.w[now.COST] < s.w[now.BEST_COST]:
        s.w[now.BEST_COST] = s.w[now.COST]
        copy_variables(s, s.x, s.x_best)
    # A gap of rounding in the description does not close from another start either.
    hopeless = s.w[now.BEST_COST] < ROUNDING_COST or s.k[now.INTERRUPTED] > 0
    if s.k[now.FALLBACKS] == 0:
        copy_variables(s, s.x_start, s.x)
    elif s.k[now.FALLBACKS] <= s.options[RESTARTS] and not hopeless:
        s.k[now.STARTS] += 1
        restart(s, -1)
    else:
        copy_variables(s, s.x_best, s.x)
        s.k[now.FALLBACKS] = -2
    s.k[now.FALLBACKS] += 1
    enter_phase(s, now.PHASE_LEVEL, 0)
    return True


@kernel
def better(s: Solve, margin: float) -> bool:
    """
    Return True if the effort just made is better than the one kept.

    The first level whose costs differ by more than `EQUAL` decides; between equal efforts the
    nearer one to the start is better.
    """
    for level in range(s.k[now.LAST_LEVEL] + 1):
        new, old = s.level_cost[level], s.kept_cost[level]
        if new < margin * old:
            return True
        if EQUAL * new > old or new < EQUAL * old:
            return False
    return bool(
        s.k[now.EFFORT] == now.EFFORT_FAR and s.k[now.TRACKS] == 0 and nearer(s, s.x, s.x_kept)
    )


@kernel
def next_candidate(s: Solve) -> int:
    """Return the next candidate that is worth an effort; -1 if there is none."""
    best = best_candidate(s)
    while best >= 0:
        cost, at = s.candidate_cost[best], s.candidate[best * s.nv :]
        s.candidate_cost[best] = NO_COST
        total = 0.0
        for level in range(1, s.k[now.LAST_LEVEL] + 1):
            total += s.kept_cost[level]
        if s.k[now.TRACKS] == 1 and not cost < JUMP * total:
            return -1
        # The starts of one level have ended at its minimum, or near it if loops were drawn
        # together.
        ended = s.k[now.LAST_LEVEL] == 1 and s.k[now.ASSEMBLIES] == 0
        if ended and cost > (NEARLY if s.k[now.LOOPS] > 0 else EQUAL) * total:
            return -1
        if distance(s, at, s.x_kept) > NEXT_TO * NEXT_TO:
            return best
        best = best_candidate(s)
    return -1


@rare
def another_effort(s: Solve) -> bool:
    """
    Compare the effort just made with the one kept. Return True if another effort begins.

    While a solver follows a goal out of reach, its answer must not jump to another branch without
    reason: never to a mirror image, and to the end of another start only if that halves the error.
    """
    effort, kept = s.k[now.EFFORT], True
    if effort != now.EFFORT_NEAR:
        margin = (
            WORTH_A_PUSH if effort == now.EFFORT_PUSHED else (JUMP if s.k[now.TRACKS] else EQUAL)
        )
        kept = better(s, margin)
    if kept:
        copy_variables(s, s.x, s.x_kept)
        for level in range(s.k[now.LAST_LEVEL] + 1):
            s.kept_cost[level] = s.level_cost[level]
    moved = distance(s, s.x, s.x_start)
    if effort == now.EFFORT_NEAR:
        s.k[now.TRACKS] = 1 if moved <= NEXT_TO else 0
    s.k[now.FALLBACKS] = -1
    stands = effort == now.EFFORT_NEAR and s.k[now.CLOSED_AT_START] == 1 and moved <= STANDS_STILL
    if stands and steps_left(s):
        # A minimum, or a saddle point that only a perturbation shows.
        perturb(s)
        enter_effort(s, now.EFFORT_PUSHED, s.x)
        return True
    following = next_candidate(s) if steps_left(s) else -1
    if following >= 0:
        enter_effort(s, now.EFFORT_FAR, s.candidate[following * s.nv :])
    elif not kept or effort == now.EFFORT_FAR:
        enter_effort(s, now.EFFORT_KEPT, s.x_kept)
    else:
        return False
    return True


@rare
def finish_level(s: Solve) -> None:
    """
    Hold the rows of the finished level, and begin the next level or effort.

    A walk that meets every tolerance has reached its goals. At its last level a walk ends as any
    other start does: it closes its loops to the last digit and leaves a candidate.
    """
    level, effort = s.k[now.LEVEL], s.k[now.EFFORT]
    walked = effort == now.EFFORT_WALKED
    if walked and all_within_tolerance(s, s.k[now.LAST_LEVEL]):
        enter_reach(s)
        return
    if walked and level > 0 and level == s.k[now.LAST_LEVEL]:
        s.k[now.EFFORT] = now.EFFORT_DRAWN
        enter_phase(s, now.PHASE_LEVEL, 0)
        return
    if effort == now.EFFORT_DRAWN or (walked and level == 0 and not all_within_tolerance(s, 0)):
        collect_candidate(s, closed_cost(s))
        return
    if level == 0 and not walked and fall_back(s):
        return
    all_met = True
    for c in range(s.nc):
        if s.constraints[c, CON_LEVEL] == level:
            met = all_within_tolerance(s, -1 - c)
            all_met = all_met and met
            for r in range(6 * c, 6 * c + 6):
                left = excess_share(s, s.residual, r) if tolerates(s, c) else 1.0
                s.hold[r] = 0.0 if met else left * s.residual[r]
    s.level_cost[level] = 0.0 if all_met else s.w[now.COST]
    if level < s.k[now.LAST_LEVEL]:
        enter_phase(s, now.PHASE_LEVEL, level + 1)
    elif effort == now.EFFORT_KEPT or not another_effort(s):
        if s.k[now.OUT_OF_ITERATIONS] == 1 and s.k[now.STATUS] == now.STATUS_STALLED:
            s.k[now.STATUS] = now.STATUS_TIMEOUT
        if s.k[now.TOLERANT] == 1:
            hold_goals(s)
        enter_settling(s, PREFERS_NOTHING)
