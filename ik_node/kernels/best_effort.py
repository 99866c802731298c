"""
The nearest answer to goals that cannot be reached; docs/theory.md, section 8, and decision 0016.

Carries out the tables of `policy`: which pass begins when another one ends, and from where. Every
failed start leaves a candidate: its end with the loops closed, and the cost of the goals there.
"""

from math import sqrt

from ik_node.kernels import layout, policy
from ik_node.kernels import options as option
from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.kinds import KIND_AVOID, KIND_CONE
from ik_node.kernels.layout import Floats, Solve
from ik_node.kernels.out_of_reach import other_assemblies, out_of_reach
from ik_node.kernels.rotation import near_turn, turned_within
from ik_node.kernels.start import (
    all_within_tolerance,
    copy_variables,
    excess_share,
    INFINITE,
    perturb,
    release_bounds,
    restart,
    row_tolerance,
    row_weight,
    tolerates,
    weigh_closures,
)

# Cost of a residual of 0.001 L or 1 mrad.
ROUNDING_COST = 5e-7
# Costs of candidates with open loops start here; NO_COST marks a candidate that was tried.
OPEN_COST, NO_COST = 1e100, INFINITE
# A residual that is as good as zero [L or rad].
SMALLEST_RESIDUAL = 1e-12


@kernel
def distance(s: Solve, a: Floats, b: Floats) -> float:
    """Return max_v |a_v - b_v| of variables a and b (nv,) [rad or L]."""
    largest = 0.0
    for v in range(s.nv):
        largest = max(largest, abs(a[v] - b[v]))
    return largest


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
            s.x[v] = turned_within(s.x[v], s.x_start[v], s.lower[v], s.upper[v])


@kernel
def steps_left(s: Solve) -> bool:
    """Return True if a step towards goals is left: (1 + restarts) max_iterations in all."""
    limit = s.options[option.MAX_ITERATIONS] * (1.0 + s.options[option.RESTARTS])
    return bool(s.k[now.INTERRUPTED] == 0 and s.k[now.ITERATIONS] - s.k[now.CLOSING] < limit)


@rare
def set_margins(s: Solve, margin: float, relaxed: bool) -> None:
    """
    Set the distance [L] that pairs of bodies keep; if `relaxed`, nearer ones keep theirs.

    The frames are then outdated, because the rows of the pairs are.
    """
    changed = False
    for check in range(s.checks):
        least = min(margin, s.check_result[layout.RESULT * check]) if relaxed else margin
        changed = changed or least != s.check_margin[check]
        s.check_margin[check] = least
    if changed:
        s.k[now.FRAMES] = 0


@kernel
def enter_phase(s: Solve, phase: int, level: int) -> None:
    """Enter LEVEL or SETTLE for the rows of a level, with the counters of a new start."""
    s.k[now.PHASE], s.k[now.LEVEL] = phase, level
    if s.checks > 0 and level == 0:
        s.k[now.YIELDS] = 0
        set_margins(s, s.options[option.COLLISION_MARGIN] / s.length, False)
    s.k[now.START_ITERATIONS] = 0
    s.k[now.WEAK] = 0
    s.k[now.LEVEL_DONE] = 0
    s.k[now.STALE] = 1
    if phase == now.PHASE_SETTLE:
        s.w[now.DAMPING_SCALE] = 1.0
    elif s.k[now.PASS] == policy.BEST:
        # It goes on where another pass ended.
        s.w[now.DAMPING_SCALE] = min(max(s.w[now.DAMPING_SCALE], policy.LEVEL_DAMPING_SCALE), 1.0)
    else:
        s.w[now.DAMPING_SCALE] = policy.LEVEL_DAMPING_SCALE


@kernel
def enter_search(s: Solve, kind: int) -> None:
    """Enter SEARCH or TOLERATE: all rows together are to become zero."""
    for r in range(s.nr):
        s.hold[r] = 0.0
    s.k[now.PASS], s.k[now.OUT_OF_ITERATIONS], s.k[now.GREW] = kind, 0, 0
    enter_phase(s, now.PHASE_REACH, 0)
    s.w[now.DAMPING_SCALE] = s.options[option.DAMPING_FACTOR]
    if s.k[now.STARTS] > 1:
        s.w[now.DAMPING_SCALE] *= policy.RESTART_DAMPING


@kernel
def enter_settling(s: Solve, granted: int) -> None:
    """Enter SETTLE for the preferences that follow `granted`; end the solve if there are none."""
    following = layout.PREFERS_REST_POSE + 1
    for v in range(s.nv):
        if s.preference[v] > granted:
            following = min(following, s.preference[v])
    if following <= layout.PREFERS_REST_POSE:
        enter_phase(s, now.PHASE_SETTLE, s.k[now.LAST_LEVEL] + following)
    else:
        s.k[now.PHASE] = now.PHASE_DONE


@rare
def enter_levels(s: Solve, kind: int, start: Floats) -> None:
    """Enter a pass through all levels from `start` (nv,)."""
    copy_variables(s, start, s.x)
    remove_full_turns(s)
    s.k[now.PASS], s.k[now.OUT_OF_ITERATIONS] = kind, 0
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
        if policy.EQUAL * s.candidate_cost[c] <= least and (
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
        if (s.constraints[c, layout.CON_LEVEL] > 0.0) == closed:
            for r in range(6 * c, s.row_end[c]):
                if s.kind[c] < KIND_CONE or s.residual[r] > 0.0:
                    cost += 0.5 * row_weight(s, r) * s.residual[r] * s.residual[r]
    return cost if closed else OPEN_COST * (1.0 + cost)


@kernel
def count_agreement(s: Solve, cost: float) -> None:
    """Count the independent starts that ended with the cost of the best one."""
    best = best_candidate(s)
    least = s.candidate_cost[best] if best >= 0 else NO_COST
    if cost < policy.EQUAL * least:
        s.k[now.AGREED] = 1
    elif policy.EQUAL * cost <= least:
        s.k[now.AGREED] += 1 if s.k[now.ENDED] == now.ENDED_PROVEN else s.k[now.DRAWN]


@rare
def decide_enough(s: Solve) -> None:
    """Decide how many agreeing starts are enough, and why they end the search."""
    asked, loops = s.options[option.AGREEING_STARTS], s.k[now.LOOPS] > 0
    s.k[now.ASSEMBLIES] = other_assemblies(s) if loops else 0
    s.k[now.ENDED] = now.ENDED_PROVEN if out_of_reach(s) > 0 else now.ENDED_AGREED
    proven, several = s.k[now.ENDED] == now.ENDED_PROVEN, s.k[now.ASSEMBLIES] > 0
    row = s.k[now.ASSEMBLIES] + (1 if loops else 0)
    if asked > 0.0:
        s.k[now.ENOUGH] = int(asked)
    elif asked < 0.0 and (several or not proven):
        # Another assembly may be nearer, however far the goal is.
        s.k[now.ENOUGH], s.k[now.ENDED] = policy.NEVER, now.ENDED_SPENT
    else:
        s.k[now.ENOUGH] = policy.PROVEN[row] if proven else policy.AGREEMENT[row]


@rare
def starts_agree(s: Solve) -> bool:
    """
    Return True if so many independent starts ended alike that no other would be better.

    With the residual r of the best candidate, n (1 + NEAR_MISS / r) starts are enough, at most
    n MAX_AGREEMENT. A start near a candidate, or near the first start, does not count.
    """
    if s.k[now.ENOUGH] == 0:
        decide_enough(s)
    blocked = s.k[now.BLOCKED]
    spent = s.k[now.STARTS] + blocked >= policy.BLOCKED_STARTS
    if blocked >= policy.LEAST_BLOCKED and spent and s.options[option.AGREEING_STARTS] == 0.0:
        s.k[now.ENDED] = now.ENDED_BLOCKED
        return True
    share, best = 1.0, best_candidate(s)
    if (
        s.options[option.AGREEING_STARTS] == 0.0
        and s.k[now.ENDED] == now.ENDED_AGREED
        and best >= 0
    ):
        residual = max(sqrt(2.0 * s.candidate_cost[best]), SMALLEST_RESIDUAL)
        share = min(1.0 + policy.NEAR_MISS / residual, policy.MAX_AGREEMENT)
    return bool(s.k[now.AGREED] >= s.k[now.ENOUGH] * share)


@rare
def known_end(s: Solve) -> int:
    """
    Return the candidate at which the present restart will end as well, -1 if there is none.

    That is a candidate near x whose search ended at a similar, smaller cost: x is in its basin (as
    in the multi-level single linkage of Rinnooy Kan & Timmer 1987).
    """
    for c in range(s.k[now.CANDIDATES]):
        cost = s.candidate_reach[c]
        same = cost <= s.w[now.COST] < policy.SAME_BASIN_COST * cost
        for v in range(s.nv if same else 0):
            delta = s.x[v] - s.candidate[c * s.nv + v]
            if s.wraps[v] == 1:
                delta = near_turn(delta, 0.0)
            same = same and abs(delta) < policy.SAME_BASIN
        if same:
            return c
    return -1


@kernel
def known_cost(s: Solve) -> int:
    """Return the candidate whose search ended at the cost of the present one, -1 if none did."""
    for c in range(s.k[now.CANDIDATES] if s.k[now.STARTS] > 1 and s.k[now.LOOPS] > 0 else 0):
        known = s.candidate_reach[c]
        if abs(s.w[now.BEST_COST] - known) <= (1.0 - policy.EQUAL) * known:
            return c
    return -1


@rare
def collect_candidate(s: Solve, cost: float) -> None:
    """Keep x, the end of a start, as a candidate if its cost is among the best."""
    if s.k[now.STARTS] == 1:
        copy_variables(s, s.x, s.x_kept)
    count_agreement(s, cost)
    index, worst = -1, -1.0
    for c in range(s.k[now.CANDIDATES]):
        known = s.candidate_cost[c]
        if abs(cost - known) <= policy.SAME_COST * known:
            index, worst = (c if nearer(s, s.x, s.candidate[c * s.nv :]) else -1), 0.0
            break
        if known > max(worst, cost):
            index, worst = c, known
    if s.k[now.CANDIDATES] < layout.CANDIDATE_ROOM and worst != 0.0:
        index = s.k[now.CANDIDATES]
        s.k[now.CANDIDATES] += 1
    if index >= 0:
        s.candidate_cost[index] = cost
        if worst != 0.0 or s.w[now.REACH_COST] > 0.0:
            s.candidate_reach[index] = s.w[now.REACH_COST]
        copy_variables(s, s.x, s.candidate[index * s.nv :])


@rare
def draw_start(s: Solve) -> bool:
    """Draw the next start and enter its pass. Return False if the search has ended."""
    more = s.k[now.STARTS] <= s.options[option.RESTARTS] and s.k[now.INTERRUPTED] == 0
    ended = more and starts_agree(s)
    if not more or ended:
        if not ended and s.k[now.ENDED] != now.ENDED_PROVEN:
            s.k[now.ENDED] = now.ENDED_SMALL if s.k[now.INTERRUPTED] == 2 else now.ENDED_SPENT
        return False
    s.k[now.STARTS] += 1
    s.k[now.PERTURBED] = 1
    s.w[now.BEST_COST] = NO_COST
    walks = restart(s, best_candidate(s))
    enter_search(s, policy.SEARCH)
    if walks:
        s.k[now.PASS] = policy.WALK
        # A walk has no end of a search that another start could be known by.
        s.w[now.REACH_COST] = 0.0
        enter_phase(s, now.PHASE_LEVEL, 0)
    else:
        release_bounds(s)
    return True


@rare
def hold_goals(s: Solve) -> None:
    """Hold the rows of goals where they are within their tolerances."""
    for c in range(s.nc):
        for r in range(6 * c, s.row_end[c]):
            if s.constraints[c, layout.CON_LEVEL] > 0.0:
                s.hold[r] = s.residual[r]


@kernel
def has_wide_goal(s: Solve) -> bool:
    """Return True if a goal has a tolerance that matters beside an error of usual size."""
    wide = False
    for c in range(s.nc):
        if s.constraints[c, layout.CON_LEVEL] > 0.0:
            for r in range(6 * c, s.row_end[c]):
                wide = wide or row_tolerance(s, r) > policy.WIDE
    return bool(wide)


@kernel
def tolerated_cost(s: Solve) -> float:
    """Return the largest cost of the goals' rows within their tolerances."""
    cost = 0.0
    for c in range(s.nc):
        if s.constraints[c, layout.CON_LEVEL] > 0.0:
            by_axis = s.constraints[c, layout.CON_ROW_TOLERANCE] >= 0.0
            for r in range(6 * c, s.row_end[c]):
                if by_axis or r == 6 * c or r == s.angular[c]:
                    cost += 0.5 * row_weight(s, r) * row_tolerance(s, r) ** 2
    return cost


@rare
def tolerate_next(s: Solve) -> bool:
    """Enter TOLERATE from the next candidate; return False if none may meet all tolerances."""
    limit = tolerated_cost(s)
    while s.k[now.TRIED] < max(s.k[now.CANDIDATES], 1) and steps_left(s):
        c = s.k[now.TRIED]
        s.k[now.TRIED] += 1
        known = s.candidate_cost[c] if s.k[now.CANDIDATES] > 0 else s.w[now.BEST_COST]
        if known <= limit:
            copy_variables(
                s, s.candidate[c * s.nv :] if s.k[now.CANDIDATES] > 0 else s.x_best, s.x
            )
            # Rows of tolerances by axis have other derivatives.
            s.k[now.TOLERANT], s.k[now.FRAMES] = 1, 0
            s.w[now.BEST_COST] = NO_COST
            enter_search(s, policy.TOLERATE)
            return True
    return False


@rare
def improve(s: Solve) -> None:
    """Enter TOLERATE; if it has been tried, set the status and enter NEAR, FAR or BEST."""
    if tolerate_next(s):
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
        s.options[option.RESTARTS] > 0.0
        and s.k[now.FALLBACKS] == -1
        and s.k[now.ASSEMBLIES] == 0
        and distance(s, s.x_kept, s.x_start) > policy.FAR_AWAY
    )
    if away and searched:
        best = nearest_of_the_best(s, s.candidate_cost[best])
        for level in range(s.k[now.LAST_LEVEL] + 1):
            s.kept_cost[level] = NO_COST
        s.candidate_cost[best] = NO_COST
        enter_levels(s, policy.FAR, s.candidate[best * s.nv :])
    elif s.k[now.CLOSED_AT_START] == 1 and searched:
        enter_levels(s, policy.NEAR, s.x_start)
    elif searched and s.k[now.FALLBACKS] < 0:
        enter_levels(s, policy.NEAR, s.x_kept)
    elif best >= 0:
        enter_levels(s, policy.BEST, s.candidate[best * s.nv :])
    else:
        enter_levels(s, policy.BEST, s.x_best)


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
    hopeless = hopeless or (s.checks > 0 and s.k[now.FALLBACKS] > policy.CROWDED_STARTS)
    if s.k[now.FALLBACKS] == 0:
        copy_variables(s, s.x_start, s.x)
    elif s.k[now.FALLBACKS] <= s.options[option.RESTARTS] and not hopeless:
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
    Return True if the answer of the pass just made is better than the one kept.

    The first level whose costs differ by more than `EQUAL` decides; between equal answers the
    nearer one to the start is better.
    """
    for level in range(s.k[now.LAST_LEVEL] + 1):
        new, old = s.level_cost[level], s.kept_cost[level]
        if new < margin * old:
            return True
        if policy.EQUAL * new > old or new < policy.EQUAL * old:
            return False
    return bool(s.k[now.PASS] == policy.FAR and s.k[now.TRACKS] == 0 and nearer(s, s.x, s.x_kept))


@kernel
def next_candidate(s: Solve) -> int:
    """Return the best candidate, which then counts as tried; -1 if it is not worth a pass."""
    best = best_candidate(s)
    if best < 0:
        return -1
    cost, total = s.candidate_cost[best], 0.0
    s.candidate_cost[best] = NO_COST
    for level in range(1, s.k[now.LAST_LEVEL] + 1):
        total += s.kept_cost[level]
    jumps = s.k[now.TRACKS] == 1 and not cost < policy.JUMP * total
    # The starts of one level have ended at its minimum, or near it if loops were drawn together.
    ended = s.k[now.LAST_LEVEL] == 1 and s.k[now.ASSEMBLIES] == 0
    return -1 if jumps or (ended and cost > policy.EQUAL * total) else best


@rare
def compare(s: Solve) -> None:
    """
    Keep the better of two answers, and enter PUSHED, FAR, BEST or SETTLE.

    While a solver follows a goal out of reach, its answer must not jump to another branch without
    reason: never to a mirror image, and to the end of another start only if that halves the error.
    """
    was, kept = s.k[now.PASS], True
    if was != policy.NEAR:
        follows = s.k[now.TRACKS] == 1 and was != policy.PUSHED
        kept = better(s, policy.JUMP if follows else policy.EQUAL)
    if kept:
        copy_variables(s, s.x, s.x_kept)
        for level in range(s.k[now.LAST_LEVEL] + 1):
            s.kept_cost[level] = s.level_cost[level]
    moved = distance(s, s.x, s.x_start)
    stands = False
    if was == policy.NEAR:
        s.k[now.TRACKS] = 1 if moved <= policy.NEXT_TO else 0
        stands = s.k[now.CLOSED_AT_START] == 1 and moved <= policy.STANDS_STILL
    s.k[now.FALLBACKS] = -1
    if stands and steps_left(s):
        perturb(s)
        enter_levels(s, policy.PUSHED, s.x)
        return
    following = next_candidate(s) if steps_left(s) else -1
    if following >= 0:
        enter_levels(s, policy.FAR, s.candidate[following * s.nv :])
    elif not kept or was == policy.FAR:
        enter_levels(s, policy.BEST, s.x_kept)
    else:
        settle(s)


@rare
def settle(s: Solve) -> None:
    """Enter SETTLE with the answer and its status."""
    if s.k[now.OUT_OF_ITERATIONS] == 1 and s.k[now.STATUS] == now.STATUS_STALLED:
        s.k[now.STATUS] = now.STATUS_TIMEOUT
    if s.k[now.TOLERANT] == 1:
        hold_goals(s)
    s.k[now.PASS] = policy.SETTLE
    enter_settling(s, layout.PREFERS_NOTHING)


@rare
def follow(s: Solve, event: int) -> None:
    """Enter what follows the present pass after an event, by the table `policy.FOLLOWS`."""
    was = s.k[now.PASS]
    following = policy.FOLLOWS[policy.EVENTS * was + event]
    if was == policy.TIGHTEN:
        weigh_closures(s, 1.0 / policy.TIGHTNESS)
    if following == policy.COLLECT:
        collect_candidate(s, s.w[now.BEST_COST] if was == policy.SEARCH else closed_cost(s))
    if following == policy.SEARCH:
        enter_search(s, policy.SEARCH)
    elif following == policy.TIGHTEN:
        s.k[now.PASS] = policy.TIGHTEN
        enter_phase(s, now.PHASE_REACH, 0)
        weigh_closures(s, policy.TIGHTNESS)
        s.w[now.BEST_COST] = NO_COST
    elif following == policy.CLOSE:
        s.k[now.PASS] = policy.CLOSE
        enter_phase(s, now.PHASE_LEVEL, 0)
    elif following == policy.COMPARE:
        compare(s)
    elif following == policy.SETTLE:
        settle(s)
    elif following == policy.IMPROVE or not draw_start(s):
        improve(s)


@rare
def finish_search(s: Solve) -> None:
    """End SEARCH, TIGHTEN or TOLERATE, which did not reach the goals, at its best iterate."""
    if s.k[now.PASS] == policy.TOLERATE:
        follow(s, policy.ENDED)
        return
    copy_variables(s, s.x_best, s.x)
    s.k[now.STALE] = 1
    if s.k[now.PASS] == policy.TIGHTEN:
        follow(s, policy.ENDED)
        return
    s.w[now.REACH_COST] = s.w[now.BEST_COST]
    if s.k[now.STARTS] == 1:
        s.w[now.LEFT_DAMPING] = s.w[now.DAMPING_SCALE]
    known = known_cost(s)
    if known >= 0:
        count_agreement(s, s.candidate_cost[known])
    if known >= 0 or s.options[option.RESTARTS] == 0.0 or s.k[now.INTERRUPTED] == 1:
        follow(s, policy.KNOWN)
    else:
        follow(s, policy.OPEN if s.k[now.LOOPS] > 0 else policy.ENDED)


@kernel
def hold_level(s: Solve) -> None:
    """Hold the rows of the present level: at zero where they are met, else where they ended."""
    level, all_met = s.k[now.LEVEL], True
    if s.checks > 0 and level == 0 and not all_within_tolerance(s, 0):
        set_margins(s, s.options[option.COLLISION_MARGIN] / s.length, True)
    for c in range(s.nc):
        if s.constraints[c, layout.CON_LEVEL] == level:
            met = all_within_tolerance(s, -1 - c)
            all_met = all_met and met
            for r in range(6 * c, 6 * c + 6):
                left = excess_share(s, s.residual, r) if tolerates(s, c) else 1.0
                s.hold[r] = 0.0 if met else left * s.residual[r]
    s.level_cost[level] = 0.0 if all_met else s.w[now.COST]


@kernel
def loops_close(s: Solve) -> bool:
    """Return True if all closures are within their tolerances."""
    close = True
    for c in range(s.nc):
        if s.constraints[c, layout.CON_LEVEL] == 0.0 and s.kind[c] != KIND_AVOID:
            close = close and all_within_tolerance(s, -1 - c)
    return close


@rare
def finish_level(s: Solve) -> None:
    """Begin the next level, or what follows the pass after its last one."""
    level, was, last = s.k[now.LEVEL], s.k[now.PASS], s.k[now.LAST_LEVEL]
    walks = was == policy.WALK
    drawn = walks or was == policy.CLOSE
    if s.checks > 0 and level == 0 and not drawn and s.k[now.YIELDS] == 0 and not loops_close(s):
        enter_phase(s, now.PHASE_LEVEL, 0)
        s.k[now.YIELDS] = 1
        set_margins(s, -NO_COST, False)
        return
    if walks and all_within_tolerance(s, last):
        follow(s, policy.MET)
    elif walks and level == 0 and not all_within_tolerance(s, 0):
        follow(s, policy.OPEN)
    elif was == policy.CLOSE or (walks and 0 < level == last):
        follow(s, policy.ENDED)
    elif level > 0 or walks or not fall_back(s):
        hold_level(s)
        if level < last:
            enter_phase(s, now.PHASE_LEVEL, level + 1)
        else:
            follow(s, policy.ENDED)
