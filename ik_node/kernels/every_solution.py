"""
All solutions of one chain: descents from many starts, without Python between them.

Each start descends by damped Newton steps, theory.md, eq. (6), until rounding ends it, so that
what it finds can be compared. Starts derived from solutions come first, because they find
neighbours of these quickly. After them come starts that are drawn, and how often they end in each
solution bounds the probability that one has been missed; theory.md, section 17.

A search is in two packed arrays besides those of a `Solve`, `p` (integers) and `d` (floats), whose
fields `Search` names.
"""

from collections.abc import Callable
from math import atan2, pi, sqrt
from typing import Annotated, NamedTuple

from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import entry, FLOATS, INT, INTS, kernel, rare
from ik_node.kernels.factor import factorise
from ik_node.kernels.fields import lengths_of, opener
from ik_node.kernels.forward import column_values
from ik_node.kernels.jacobian import jacobian
from ik_node.kernels.kinds import KIND_DISTANCE
from ik_node.kernels.layout import CON_DISTANCE, Floats, Ints, JOINT_TURNS, open_solve, Solve
from ik_node.kernels.lm_step import (
    accept,
    DAMPING_DECREASE,
    next_damping,
    predicted_decrease,
    set_rows,
    set_variables,
    shorten_step,
    write_modelled_rows,
)
from ik_node.kernels.redundant import reduce_rows
from ik_node.kernels.rotation import near_turn, principal_euler
from ik_node.kernels.solve import select_independent_rows, write_answer
from ik_node.kernels.start import (
    all_within_tolerance,
    copy_variables,
    cost_of,
    evaluate,
    INFINITE,
    place,
    random_number,
    release_bounds,
    restore_bounds,
    start_solve,
    WIDEST,
    write_difference,
)
from ik_node.kernels.step import (
    add_jacobian_times,
    apply_step,
    bounded_step,
    FREE,
    largest,
    restore_held_rows,
    step_between_bounds,
    try_step,
)


class Search(NamedTuple):
    """
    One search: its sizes and its fields.

    A field is annotated with its packed array, its length and what it holds.
    """

    p_size: int  # lengths of the two arrays
    d_size: int
    nq: int  # joint values
    nv: int  # variables of the chain
    room: int  # solutions that can be kept
    counts: Annotated[Ints, 'p', 'COUNTERS', 'integers, COUNT_*']
    turn: Annotated[Ints, 'p', '2 * nv + KINDS', 'next solution for each kind of derived start']
    gain: Annotated[Ints, 'p', '2 * nv + KINDS', 'solutions that each kind has found']
    work: Annotated[Ints, 'p', '2 * nv + KINDS', 'steps that each kind has taken']
    hits: Annotated[Ints, 'p', 'room', 'drawn starts that ended in a solution']
    radius: Annotated[Floats, 'd', 'room', 'of a place from which a descent leads there [rad, L]']
    numbers: Annotated[Floats, 'd', 'SCALARS', 'scalars, NUMBER_*']
    found: Annotated[Floats, 'd', 'room * nv', 'variables of the solutions [rad or L]']
    answers: Annotated[Floats, 'd', 'room * nq', 'joint values of the solutions [rad or m]']
    weakest: Annotated[Floats, 'd', 'nv', 'direction of the smallest singular value']


(
    COUNT_FOUND,  # solutions that are kept
    COUNT_WITHIN,  # those of them within the limits
    COUNT_STARTS,  # descents
    COUNT_DRAWN,  # those of them from starts that were drawn
    COUNT_KIND,  # kind of derived start, see `derive`
    COUNT_STATE,  # STATE_*
    COUNT_CONTINUUM,  # 1 = the solutions belong to a continuum
    COUNT_MOST,  # solutions within the limits that end the search
    COUNT_BOUND,  # a number that the solutions cannot exceed, 0 = unknown
    COUNT_BY_DRAW,  # solutions that a drawn start found, after no derived start did
    COUNT_STEPS,  # steps of all descents
) = range(11)
COUNTERS = 11
# Kinds of derived starts beside two of each variable.
KINDS = 2
(
    NUMBER_RESOLUTION,  # distance of distinct solutions [rad or L]
    NUMBER_MISS,  # the bound that is reached
    NUMBER_WANTED,  # the bound at which the search ends
    NUMBER_SPREAD,  # least distance in the sample of a continuum [rad or L]
    NUMBER_NEAR,  # cost below which a descent may be near a solution [L^2, rad^2]
    NUMBER_PATH,  # the longest way along joints and rods [L]
) = range(6)
SCALARS = 6
# Where a descent ends, if in no solution that is known.
NONE, NEW = -1, -2
STATE_NEW, STATE_RUNNING, STATE_COMPLETE, STATE_MOST, STATE_REFUSED = range(5)

SIZES, FIELDS = lengths_of(Search)
FIXED = {'COUNTERS': COUNTERS, 'SCALARS': SCALARS, 'KINDS': KINDS}
PACKED = 'pd'

open_search: Callable[..., Search] = opener(Search, PACKED, fixed=FIXED)

# An angle whose limits are at least so far apart [rad] is searched over the whole turn, and its
# limits are applied to what is found.
WIDE_ANGLE = 1.5 * pi
# Steps of a descent, and its first damping per cost.
MOST_STEPS, FIRST_DAMPING = 90, 0.05
# A descent has ended at NOTHING, and while its cost is above POLISHED [L^2, rad^2] it gives up
# after so many weak steps in a row, or if the model promises less than this share of the cost. A
# solution has a cost below SOLVED.
NOTHING, POLISHED, SOLVED = 1e-28, 1e-16, 1e-19
WEAK, PATIENCE, PROMISE = 0.03, 4, 1e-3
# Where it gives up with a cost below this, a nearly singular valley may lead to a solution. Steps
# along it are at most this long [rad or L]; each is corrected by so many steps with this damping.
VALLEY, VALLEY_STEP, VALLEY_STEPS, VALLEY_DAMPING, LONG_PATIENCE = 1e-6, 0.2, 2, 1e-6, 12
# The radius of a solution's neighbourhood is this share of its smallest singular value: a quarter
# of what suffices for Newton's method (Kantorovich 1948) where second derivatives are below 3.
BASIN, WIDEST_BASIN = 0.08, 0.1
# A solution with a smaller singular value may have a neighbour beyond a fold. Starts at this
# distance along the weakest direction, to both sides, look for it [rad or L].
NEARLY_SINGULAR, ASTRAY = 0.02, 0.5
# Damping and number of the inverse iterations for the smallest singular value, and below which
# value it is zero.
SHIFT, ITERATIONS, ZERO = 1e-8, 3, 1e-6
# The longest path along the joints, by the definition of a characteristic length [L].
PATH = 2.0
# Distance from a solution at which it is tested whether the solutions are a continuum.
ASIDE = 0.1
# A continuum is sampled with distances of at least this at first [rad or L], which shrink with
# each solution that is nearer to another one.
SPREAD, SHRINKAGE = 1.5, 0.99
# Size of the sample.
SAMPLE = 100
# The prior of the spread of basin sizes: shape of their gamma distribution, and its weight.
PRIOR_SHAPE, PRIOR_WEIGHT = 2.0, 4.0
# The prior of the steps by which a kind of derived start finds a solution.
PRIOR_STEPS = 10.0
# The prior of the share of solutions that derived starts do not find.
PRIOR_ASTRAY = 3.0
# What rounding may carry past a limit [rad or L].
NEAR_LIMIT = 1e-9
# Axes are parallel if the cosine of their angle is above this.
PARALLEL = 0.99
# Share of the starts that end in a solution, if none has been found.
RAREST = 0.02


@rare
def set_search_bounds(s: Solve, t: Search) -> None:
    """Set the longest path, and leave out the limits of angles whose limits are wide."""
    t.numbers[NUMBER_PATH] = PATH
    for c in range(s.nc):
        if s.kind[c] == KIND_DISTANCE:
            rod = s.constraints[c, CON_DISTANCE] / s.length
            t.numbers[NUMBER_PATH] = max(t.numbers[NUMBER_PATH], PATH + rod)
    for v in range(s.nv):
        wide = s.angle[v] == 1 and s.upper[v] - s.lower[v] >= WIDE_ANGLE
        s.wraps[v] = 1 if wide and s.joints[JOINT_TURNS, s.var_q[v]] > 0.0 else 0
    release_bounds(s)


@kernel
def difference(s: Solve, x: Floats, y: Floats, enough: float) -> float:
    """
    Return the largest difference of a variable of x and y (nv,), full turns removed [rad or L].

    It may be any number above `enough` if it is larger than that.
    """
    largest = 0.0
    for v in range(s.nv):
        if s.free_ball[v] == 0:
            gap = abs(near_turn(x[v] - y[v], 0.0) if s.wraps[v] == 1 else x[v] - y[v])
            largest = max(largest, gap)
            if largest > enough:
                return float(largest)
    write_difference(s, x, y)
    for v in range(s.nv):
        if s.free_ball[v] == 1:
            largest = max(largest, abs(s.preferred_step[v]))
    return float(largest)


@rare
def nearest_found(s: Solve, t: Search, within: float) -> int:
    """
    Return a solution that differs from x by at most `within` [rad or L]; -1 if none does.

    With 0, each solution has its own radius, from which x cannot escape.
    """
    for n in range(t.counts[COUNT_FOUND]):
        limit = within if within > 0.0 else t.radius[n]
        if difference(s, s.x, t.found[s.nv * n :], limit) <= limit:
            return n
    return -1


@kernel
def update_jacobian(s: Solve) -> None:
    """Write the Jacobian at x, and choose independent rows."""
    jacobian(s)
    s.k[now.JACOBIAN_DUE] = 0
    if s.groups > 0:
        select_independent_rows(s)


@rare
def lower_cost(s: Solve, in_valley: bool) -> None:
    """
    Take one damped Newton step within the bounds from x, and accept or reject it.

    In a valley, where the Jacobian is nearly singular, steps are short and are corrected.
    """
    set_variables(s)
    if s.k[now.ONE_SIDED] > 0:
        write_modelled_rows(s)
    set_rows(s)
    bounded_step(s, False)
    s.w[now.STEP_SIZE] = largest(s, s.step)
    s.w[now.PREDICTED] = predicted_decrease(s, False)
    if in_valley:
        shorten_step(s, VALLEY_STEP)
    try_step(s, s.x)
    if in_valley:
        # Chord steps that leave out the weakest directions of the Jacobian at x correct it.
        for v in range(s.nv):
            s.damping[v] = VALLEY_DAMPING
        factorise(s)
        restore_held_rows(s, s.k[now.LAST_LEVEL] + 1, 0.0, VALLEY_STEPS, INFINITE)
    before, after, scale = s.w[now.COST], cost_of(s, s.x_try), s.w[now.DAMPING_SCALE]
    kept, gain = after < before, before - after
    s.k[now.WEAK] = 0 if gain > WEAK * before else s.k[now.WEAK] + 1
    s.w[now.DAMPING_SCALE] = next_damping(scale, kept, gain, s.w[now.PREDICTED], DAMPING_DECREASE)
    if kept:
        accept(s, after)
    else:
        s.k[now.FRAMES] = 0


@rare
def descend(s: Solve, t: Search) -> int:
    """
    Descend from x until rounding ends it, and return the solution to which it leads.

    NEW = a solution whose neighbourhood is not known yet, NONE = no solution. Near double roots
    residuals are within their tolerances far from any solution, so what counts is that rounding
    has ended the descent. Only rows that outnumber the variables may keep a residual.
    """
    s.k[now.FRAMES] = 0
    s.k[now.WEAK] = 0
    s.w[now.DAMPING_SCALE] = FIRST_DAMPING
    evaluate(s)
    in_valley, patience, promise = False, PATIENCE, PROMISE
    for _ in range(MOST_STEPS):
        if s.k[now.JACOBIAN_DUE] == 1:
            update_jacobian(s)
        before = s.w[now.COST]
        if before <= NOTHING:
            break
        if before < t.numbers[NUMBER_NEAR]:
            known = nearest_found(s, t, 0.0)
            if known >= 0:
                return known
        t.counts[COUNT_STEPS] += 1
        lower_cost(s, in_valley)
        weak = s.k[now.WEAK]
        if before <= POLISHED and weak > 0:
            break
        if before > POLISHED and (weak >= patience or not s.w[now.PREDICTED] > promise * before):
            if in_valley or before > VALLEY:
                break
            in_valley, patience, promise = True, LONG_PATIENCE, 0.0
            s.k[now.WEAK] = 0
            s.w[now.DAMPING_SCALE] = FIRST_DAMPING
    if s.w[now.COST] > SOLVED:
        free = 0
        for v in range(s.nv):
            free += 1 if s.lower[v] < s.upper[v] else 0
        for c in range(s.nc):
            free -= s.row_end[c] - 6 * c
        if free >= 0:
            return NONE
    if s.k[now.FRAMES] == 0:
        place(s, s.x)
        if s.groups > 0:
            reduce_rows(s)
    return NEW if all_within_tolerance(s, s.k[now.LAST_LEVEL]) else NONE


@rare
def write_weakest(s: Solve, t: Search) -> float:
    """
    Write the direction of the smallest singular value at x to `weakest`; return the value.

    Inverse iteration, v <- (J^T W J + mu I)^-1 v, with the factor of eq. (7).
    """
    set_variables(s)
    set_rows(s)
    for r in range(s.nr):
        s.rhs[r] = 0.0
    for v in range(s.nv):
        s.damping[v] = SHIFT
        t.weakest[v] = (1.0 + 0.1 * v) if s.fixed[v] == FREE else 0.0
    factorise(s)
    for _ in range(ITERATIONS):
        size = 0.0
        for v in range(s.nv):
            size += t.weakest[v] * t.weakest[v]
        for v in range(s.nv):
            s.preferred_step[v] = t.weakest[v] / sqrt(size)
        step_between_bounds(s)
        copy_variables(s, s.full, t.weakest)
    square = 0.0
    for v in range(s.nv):
        t.weakest[v] = s.preferred_step[v]
    add_jacobian_times(s, t.weakest, s.rhs)
    for r in range(s.nr):
        square += s.rhs[r] * s.rhs[r] / s.softness[r]
    return sqrt(square)


@rare
def face_weakest(s: Solve, t: Search) -> None:
    """Evaluate the rows and their derivatives at x, and write the weakest direction."""
    s.k[now.FRAMES] = 0
    evaluate(s)
    update_jacobian(s)
    write_weakest(s, t)


@rare
def draw(s: Solve, t: Search) -> None:
    """
    Draw variables uniformly; without limits, around the start and around zero by turns.

    A random share of them keeps the values of one of the isolated solutions, so that basins which
    are small, but near others, are hit too.
    """
    around_start = t.counts[COUNT_DRAWN] % 2 == 0
    share, n = random_number(s), int(random_number(s) * t.counts[COUNT_FOUND])
    isolated = t.counts[COUNT_FOUND] > 0 and t.counts[COUNT_CONTINUUM] == 0
    for v in range(s.nv):
        low, high = s.lower[v], s.upper[v]
        if high - low >= WIDEST:
            middle = s.x_start[v] if around_start else min(max(0.0, low), high)
            reach = pi if s.angle[v] == 1 or s.unit[v] == 1.0 else t.numbers[NUMBER_PATH]
            low, high = max(low, middle - reach), min(high, middle + reach)
        s.x[v] = low + (high - low) * random_number(s)
        if isolated and random_number(s) < share:
            s.x[v] = t.found[s.nv * n + v]


@kernel
def angle_towards(s: Solve, j: int, k: int, by_point: bool) -> float:
    """Return the angle about the axis of column j towards the axis or origin of column k [rad]."""
    own, other = s.frame[12 * j :], s.frame[12 * k :]
    x, y, z = other[2], other[5], other[8]
    if by_point:
        x, y, z = other[9] - own[9], other[10] - own[10], other[11] - own[11]
    return atan2(own[1] * x + own[4] * y + own[7] * z, own[0] * x + own[3] * y + own[6] * z)


@kernel
def are_parallel(s: Solve, j: int, k: int) -> bool:
    """Return True if the axes of two columns are parallel."""
    a, b = s.frame[12 * j :], s.frame[12 * k :]
    return bool(abs(a[2] * b[2] + a[5] * b[5] + a[8] * b[8]) > PARALLEL)


@rare
def flip(s: Solve, v: int) -> bool:
    """
    Mirror the triangle of three axes in a row, of which variable v turns the second.

    A wrist has a spherical triangle of its axes, parallel axes one of their points. Three turns by
    twice its angles mirror it, and what it carries stays where it is. If only two of the axes are
    parallel, the first and the third one turn by pi. Return False if there are no such axes.
    """
    for c in range(s.n):
        b = s.parent[c]
        a = s.parent[b] if b >= 0 else -1
        if a < 0 or s.var[b] != v or s.var[a] < 0 or s.var[c] < 0:
            continue
        if s.wraps[s.var[a]] == 1 and s.angle[v] == 1 and s.wraps[s.var[c]] == 1:
            place(s, s.x)
            first, second, third = 0.5 * pi, 0.0, 0.5 * pi
            by_point = are_parallel(s, a, b)
            if by_point == are_parallel(s, b, c):
                first = angle_towards(s, a, c, by_point) - angle_towards(s, a, b, by_point)
                second = angle_towards(s, b, a, by_point) - angle_towards(s, b, c, by_point)
                third = angle_towards(s, c, b, by_point) - angle_towards(s, c, a, by_point)
            s.x[s.var[a]] += 2.0 * first
            s.x[v] = near_turn(s.x[v] + 2.0 * second, 0.5 * (s.lower[v] + s.upper[v]))
            s.x[s.var[c]] += 2.0 * third
            return bool(s.lower[v] <= s.x[v] <= s.upper[v])
    return False


@rare
def derive(s: Solve, t: Search) -> bool:
    """
    Start from a solution with a triangle or one variable mirrored, or from beside it.

    Each kind of start takes one solution after the other; the kind that has found most for its
    steps is next. Return False if no further start can be derived from the solutions found so
    far.
    """
    while True:
        kind, best = -1, -1.0
        for k in range(2 * s.nv + KINDS):
            rate = (1.0 + t.gain[k]) / (PRIOR_STEPS + t.work[k])
            if t.turn[k] < t.counts[COUNT_FOUND] and rate > best:
                kind, best = k, rate
        if kind < 0:
            return False
        n = t.turn[kind]
        t.turn[kind] += 1
        t.counts[COUNT_KIND] = kind
        for v in range(s.nv):
            s.x[v] = t.found[s.nv * n + v]
            s.step[v] = 0.0
        if kind >= 2 * s.nv:
            if t.radius[n] <= BASIN * NEARLY_SINGULAR:
                face_weakest(s, t)
                for v in range(s.nv):
                    s.step[v] = t.weakest[v] * (ASTRAY if kind == 2 * s.nv else -ASTRAY)
                apply_step(s, s.x, s.x)
                return True
        elif kind < s.nv:
            if flip(s, kind):
                return True
        else:
            v = kind - s.nv
            if s.free_ball[v] == 1 or s.wraps[v] == 1:
                s.step[v] = pi
                apply_step(s, s.x, s.x)
                return True
            if 0.0 < s.upper[v] - s.lower[v] < WIDEST:
                s.x[v] = s.lower[v] + s.upper[v] - s.x[v]
                return True


@rare
def keep(s: Solve, t: Search) -> int:
    """Keep x as a solution, and its joint values if they are within limits; return its index."""
    n, nv = t.counts[COUNT_FOUND], s.nv
    copy_variables(s, s.x, t.found[nv * n :])
    t.hits[n] = 0
    t.counts[COUNT_FOUND] += 1
    restore_bounds(s)
    if difference(s, s.x, t.found[nv * n :], NEAR_LIMIT) <= NEAR_LIMIT:
        for j in range(s.n):
            if s.ball[j] == 1 and s.free_ball[s.var[j]] == 1:
                c, b, a = s.var[j], s.var[j + 1], s.var[j + 2]
                s.x[a], s.x[b], s.x[c] = principal_euler(s.x[a], s.x[b], s.x[c])
        answer = t.answers[s.nq * t.counts[COUNT_WITHIN] :]
        t.counts[COUNT_WITHIN] += 1
        for g in range(s.nq):
            answer[g] = s.q[g]
        column_values(s, s.x)
        write_answer(s)
        for g in range(s.nq):
            answer[g], s.q[g] = s.q[g], answer[g]
    release_bounds(s)
    return int(n)


@rare
def is_continuum(s: Solve, t: Search, n: int) -> bool:
    """
    Return True if solution n, whose rows have a null space, can be moved along it by a distance.

    An isolated solution where branches meet has a null space too, but the descent from beside it
    leads back.
    """
    face_weakest(s, t)
    for v in range(s.nv):
        s.step[v] = ASIDE * t.weakest[v]
    apply_step(s, s.x, s.x)
    if descend(s, t) == NONE:
        return False
    moved = difference(s, s.x, t.found[s.nv * n :], INFINITE)
    return moved > 0.1 * ASIDE and write_weakest(s, t) < ZERO


@rare
def miss_bound(t: Search) -> float:
    """
    Return a bound on the probability that a solution has been missed; theory.md, section 17.

    If basin sizes have a gamma distribution of shape k, a basin with c hits expected is missed
    with the probability (1 + c / k)^-k. The shape follows from the spread of the hits and a prior.
    A solution is missed only if the derived starts miss it too, as they have missed those that
    drawn starts found after them.
    """
    count, drawn = t.counts[COUNT_FOUND], float(t.counts[COUNT_DRAWN])
    if count == 0:
        return float((1.0 + RAREST * drawn / PRIOR_SHAPE) ** -PRIOR_SHAPE)
    mean, spread = 0.0, 0.0
    for n in range(count):
        mean += t.hits[n] / count
    if mean == 0.0:
        return 1.0
    for n in range(count):
        spread += ((t.hits[n] - mean) ** 2 - mean) / (mean * mean)
    shape = (PRIOR_WEIGHT + count - 1.0) / (PRIOR_WEIGHT / PRIOR_SHAPE + max(spread, 0.0))
    astray = (PRIOR_ASTRAY + t.counts[COUNT_BY_DRAW]) / (1.0 + count)
    return float(min(1.0, astray * count * (1.0 + mean / shape) ** -shape))


@kernel
def start_and_collect(s: Solve, t: Search) -> None:
    """Make one start, and count where it ends."""
    derives = t.counts[COUNT_CONTINUUM] == 0
    drawn = t.counts[COUNT_STARTS] > 0 and not (derives and derive(s, t))
    if drawn:
        draw(s, t)
    steps = t.counts[COUNT_STEPS]
    n = descend(s, t)
    t.counts[COUNT_STARTS] += 1
    if drawn:
        t.counts[COUNT_DRAWN] += 1
    else:
        t.work[t.counts[COUNT_KIND]] += t.counts[COUNT_STEPS] - steps
    if n == NEW and t.counts[COUNT_CONTINUUM] == 1:
        if nearest_found(s, t, t.numbers[NUMBER_SPREAD]) >= 0:
            t.numbers[NUMBER_SPREAD] *= SHRINKAGE
        else:
            keep(s, t)
    elif n == NEW:
        n = nearest_found(s, t, t.numbers[NUMBER_RESOLUTION])
        if n < 0:
            t.counts[COUNT_BY_DRAW] += 1 if drawn and t.counts[COUNT_FOUND] > 0 else 0
            smallest = write_weakest(s, t)
            radius = min(BASIN * smallest, WIDEST_BASIN)
            n = keep(s, t)
            t.radius[n] = radius
            if not drawn and t.counts[COUNT_STARTS] > 1:
                t.gain[t.counts[COUNT_KIND]] += 1
            t.numbers[NUMBER_NEAR] = max(t.numbers[NUMBER_NEAR], radius * radius)
            if smallest < ZERO and is_continuum(s, t, n):
                t.counts[COUNT_CONTINUUM] = 1
                t.counts[COUNT_MOST] = min(t.counts[COUNT_MOST], SAMPLE)
                t.numbers[NUMBER_SPREAD] = SPREAD
                t.numbers[NUMBER_NEAR] = 0.0
    if n >= 0 and drawn:
        t.hits[n] += 1
    bound = t.counts[COUNT_BOUND]
    if bound > 0 and t.counts[COUNT_FOUND] >= bound and t.counts[COUNT_CONTINUUM] == 0:
        t.numbers[NUMBER_MISS] = 0.0
        t.counts[COUNT_STATE] = STATE_COMPLETE
    elif t.counts[COUNT_WITHIN] >= t.counts[COUNT_MOST] or t.counts[COUNT_FOUND] >= t.room:
        t.counts[COUNT_STATE] = STATE_MOST
    elif drawn and t.counts[COUNT_CONTINUUM] == 0:
        t.numbers[NUMBER_MISS] = miss_bound(t)
        if t.numbers[NUMBER_MISS] <= t.numbers[NUMBER_WANTED]:
            t.counts[COUNT_STATE] = STATE_COMPLETE


@entry(INTS, FLOATS, INTS, *4 * [FLOATS], INTS, FLOATS, INT)
def find_solutions(
    i: Ints,
    f: Floats,
    k: Ints,
    w: Floats,
    q: Floats,
    joints: Floats,
    options: Floats,
    plan: Ints,
    data: Floats,
    starts: int,
) -> int:
    """
    Search for all solutions, or go on, with at most so many starts.

    Parameters
    ----------
    i, f, k, w, q, joints, options : ndarray
        As for `solve.advance`; the poses are those of the constraint table. q is not changed.
    plan, data : ndarray
        The search, see `Search`.
    starts : int
        Number of descents.

    Returns
    -------
    int
        STATE_*.

    """
    s, t = open_solve(i, f, k, w, q, joints, options), open_search(plan, data)
    if t.counts[COUNT_STATE] == STATE_NEW:
        if not start_solve(s):
            return STATE_REFUSED
        set_search_bounds(s, t)
        t.numbers[NUMBER_MISS] = 1.0
        t.counts[COUNT_STATE] = STATE_RUNNING
    s.k[now.PHASE] = now.PHASE_REACH
    for _ in range(starts):
        if t.counts[COUNT_STATE] != STATE_RUNNING:
            break
        start_and_collect(s, t)
    s.k[now.PHASE] = now.PHASE_DONE
    return int(t.counts[COUNT_STATE])
