"""The motion of driven joints in steps that keep the loops closed and in their assembly branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from ik_node.errors import listed
from ik_node.kernels.continue_to import DRIVE, LONGEST
from ik_node.kernels.layout import JOINT_TARGET, JOINT_WINDOW, RECORD_STEPS
from ik_node.kernels.options import MAX_ITERATIONS, RESTARTS
from ik_node.solver.problem.chain_problem import rank_of
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import Requirement, Solution, SolveResult
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Accuracy of the settle phase [rad or characteristic lengths]. From this distance the values are
# set exactly, and the loops are closed once more.
NEAR = 1e-3
# When the step budget is spent, so many further steps show whether the joints still advance
# [steps]. They do if the distance shrinks by more than this share, or by 1 [rad or characteristic
# lengths]; an unobstructed motion covers 0.3 per step.
PROBE_STEPS = 100
PROGRESS = 0.02
# The loops are taken to be near a singularity of type II (Gosselin and Angeles 1990) if the
# smallest singular value of the passive joints is below this share of that of all joints.
SINGULAR = 0.05
# A value this close to a limit, as a share of it, is at the limit: a coupling rounds.
ROUNDING = 1e-12
# A loop may be open by its tolerance where driven values are farther on by as many times that
# [rad or characteristic lengths per rad or characteristic length].
TOLERANCES = 20.0
# A drive that takes so many more steps than its way needs, or one that does not arrive, may have
# begun in a singularity [steps].
CRAWL = 20
# Step limit of that last closing, and of each part of a drive among bodies [steps]: from within
# `NEAR` it converges in a few steps.
CLOSING_STEPS = 20
# Step limit of `step_towards`: the values that it is given are near.
TOWARDS_STEPS = 6
# A part of a drive that is not allowed is halved, down to this share of the way.
LEAST_PART = 1e-4

# Largest motion of a driven joint out of a singular start, and of other joints [rad or L].
OUT, FAR = 0.03, 0.5
# Offset at which the usual rank of the closures is seen [rad or L], and random directions tried.
ASIDE, TRIES = 0.05, 16
# A singular value below this share of the largest one is nearly zero.
NEARLY = 5e-4
# Branches that differ by less than this at that step are the same [rad or L].
SAME = 1e-3


def drive(
    problem: Problem,
    table: JointTable,
    q: Array,
    targets: dict[int, float],
    packed: Array,
    steps: int | None = None,
) -> Solution:
    """
    Move driven joints to given values with the loops closed, see theory.md, section 9.

    `problem` has the closures alone. Of `table` limits and couplings count, and locks of joints
    that are not driven. q (nq,) is the start, and is overwritten with the result [rad or m]. The
    `targets`, values by their index in q, are clamped to the limits, or to the start if that is
    farther out. With a number of `steps` there are no restarts. The time budget of the `packed`
    options is ignored. See `Solver.drive` for the status.

    The driven values are joint targets of the settle phase, eq. (9). The loops are closed after
    every step. A step that closing would carry far from its tangent is halved, because two
    branches are near there. At the end the values are set exactly, and the loops closed with the
    driven joints fixed.
    """
    started = perf_counter()
    places = np.fromiter(targets, dtype=np.int64, count=len(targets))
    values = np.fromiter(targets.values(), dtype=np.float64, count=len(targets))
    rows = table.with_targets(places, values)
    rows[JOINT_WINDOW, places] = np.inf
    # A step covers at most 0.3 rad or characteristic lengths, so a long motion needs many steps.
    packed = packed.copy()
    packed[MAX_ITERATIONS] = max(packed[MAX_ITERATIONS], 1000.0) if steps is None else steps
    if steps is not None:
        packed[RESTARTS] = 0.0
    start = q.copy()
    lowest = np.minimum(table.lower, start)[places]
    limited = np.minimum(np.maximum(values, lowest), np.maximum(table.upper, start)[places])
    table.move_to_targets(problem.moved, rows, q)
    units = problem.units
    # Nearer targets give the same steps: beside an endless distance no step would count.
    own = units[places]
    reach = (LONGEST[DRIVE] * packed[MAX_ITERATIONS] + PROBE_STEPS) * own
    clipped = np.minimum(np.maximum(values, q[places] - reach), q[places] + reach)
    rows[JOINT_TARGET, places] = clipped

    def arrived() -> bool:
        return bool((np.abs(q[places] - values) <= NEAR * own).all())

    answers = problem.run(q, rows, packed, 0.0)
    near, departure, note = arrived(), None, ''
    if steps is None:
        slow = not near or _crawled(answers, (limited - start[places]) / own)
    else:
        slow = not near and np.abs(q - start).max() < NEAR
    if slow:
        ahead = dict(zip(places.tolist(), limited.tolist(), strict=True))
        widened = table.with_start(rows, start)
        departure = leave_singular_start(problem, widened, start, ahead, packed)
    if departure is not None:
        q[:], note = departure
        if steps is None:  # otherwise the next call goes on from there
            answers = problem.run(q, rows, packed, 0.0)
            near = arrived()
    spent = [answer.iterations for answer in answers]
    is_spent = not near and max(spent, default=0) >= packed[MAX_ITERATIONS]
    if is_spent and steps is None:
        before = float(np.max(np.abs(q[places] - clipped) / own))
        packed[[MAX_ITERATIONS, RESTARTS]] = PROBE_STEPS, 0.0
        answers = problem.run(q, rows, packed, 0.0)
        after = float(np.max(np.abs(q[places] - clipped) / own))
        is_spent = before - after > min(PROGRESS * before, 1.0)
        _add_steps(answers, spent)
    # Loops with large tolerances allow more than a motion that keeps them closed.
    if near or (np.abs(q[places] - limited) <= TOLERANCES * _tolerance(problem) * own).all():
        if steps is not None:
            packed[MAX_ITERATIONS] = min(steps, CLOSING_STEPS)
        tried, held = q.copy(), table.with_window(table.without_preferences(rows), places, 0.0)
        tried[places] = limited
        packed[RESTARTS] = 0.0
        closed = problem.run(tried, held, packed, 0.0)
        if near or all(answer.status is Status.CONVERGED for answer in closed):
            near, is_spent, answers = True, False, closed
            q[:], rows = tried, held
            _add_steps(answers, spent)
    table.follow(q)
    apart = ROUNDING * np.maximum(1.0, np.abs(values)) if near else NEAR * own
    stopped = places[np.abs(q[places] - values) > apart].tolist()
    short = ', '.join(_stop(problem, index, float(q[index]), targets[index]) for index in stopped)
    reason = f'driven joint {short}' if short else ''
    least = Status.STALLED if reason else Status.CONVERGED
    if is_spent:
        least = Status.TIMEOUT
    if reason and steps is None:
        # A caller that advances step by step, such as the ROS node, does not need the reason at
        # each call, and its computation takes time.
        reason += (
            '; all steps are spent, and further steps would advance it'
            if is_spent
            else (f'; {_obstacle(problem, table, rows, q, places, packed, answers)}')
        )
    more = Requirement(reason, least, note)
    return Solution(q, answers, perf_counter() - started, problem.tree.names, more)


def _add_steps(answers: Sequence[SolveResult], spent: Sequence[int]) -> None:
    """Add the steps of earlier answers; among bodies, all chains may be one in the meantime."""
    joined = len(answers) != len(spent)
    for index, answer in enumerate(answers):
        answer.record[RECORD_STEPS] += max(spent, default=0) if joined else spent[index]


def drive_in_parts(
    drive: Callable[[dict[int, float], Array], Solution],
    q: Array,
    targets: dict[int, float],
    units: Array,
    longest: float,
    allowed: Callable[[Array, Array], bool] = lambda before, after: True,
    least: float = LEAST_PART,
) -> tuple[list[Solution], Solution]:
    """
    Drive from q (nq,) to values, by their index in q, as far as the parts of the way are allowed.

    `drive` is a function of targets and a start. Parts are at most `longest` [rad or L]. One that
    is not allowed, or does not arrive, is halved, down to `least` of the whole way. Returns the
    solutions of allowed parts, and of the last one that was tried.
    """
    first, done, share = q, list[Solution](), 0.0
    size = max((abs(v - q[k]) / units[k] for k, v in targets.items()), default=0.0)
    longest = part = longest / max(size, longest)
    while True:
        to = min(share + part, 1.0)
        ends = {k: float(first[k] + to * (v - first[k])) for k, v in targets.items()}
        result = drive(ends if to < 1.0 else targets, q.copy())
        fine = allowed(q, result.q)
        if fine and (result.converged or part <= least):
            done.append(result)
            if to == 1.0 or not result.converged:
                return done, result
            q, share, part = result.q, to, min(2.0 * part, longest)
        elif part > least:
            part *= 0.5
        else:
            return done, result


def drive_freely(
    problem: Problem,
    table: JointTable,
    q: Array,
    targets: dict[int, float],
    packed: Array,
    steps: int | None = None,
) -> Solution:
    """
    Move driven joints as `drive` does, and stop before bodies come nearer than the margin.

    The way of every step is checked, so that no step passes through a thin body. If bodies are not
    in the way, the answer is that of `drive` without them. Joints that follow through loops make
    way where they can, and a start in contact is led out first. A call with a number of steps is
    itself a step, and so is one without loops.
    """
    avoidance, started, names = problem.avoidance, perf_counter(), problem.tree.names
    if avoidance is None:
        return drive(problem, table, q, targets, packed, steps)

    def move(ends: dict[int, float], start: Array, limit: int | None = CLOSING_STEPS) -> Solution:
        return drive(problem, table, start, ends, packed, limit)

    def is_free(before: Array, after: Array) -> bool:
        return avoidance.free_share(before, after) == 1.0

    problem.avoidance, begin = None, q
    try:
        alone = last = move(targets, q.copy(), steps)
        done = [alone]
        loops = bool(problem.chains)
        if (loops and not steps) or not is_free(q, alone.q):
            problem.avoidance = avoidance if loops else None
            if loops and avoidance.is_contact(avoidance.nearest(q)):
                begin = move({}, q.copy()).q
            ends = {k: float(alone.q[k]) for k in targets}
            done, last = drive_in_parts(move, begin, ends, problem.units, LONGEST[DRIVE], is_free)
    finally:
        problem.avoidance = avoidance
    stopped = done[-1] if done else move({}, begin.copy())
    near, more = avoidance.nearest(stopped.q), alone._more
    apart = np.abs(stopped.q - alone.q) > NEAR * problem.units
    if not apart.any():
        stopped = alone
    elif apart[list(targets)].any():
        ahead = avoidance.nearest(last.q) or near
        pair = 'bodies' if ahead is None else ' and '.join(map(repr, ahead.pair))
        more = Requirement(f'{pair} are in the way of the driven joints', Status.STALLED)
    spent = perf_counter() - started
    return Solution(stopped.q, list(stopped._answers), spent, names, more, near)


def step_towards(
    problem: Problem, table: JointTable, q: Array, target: Array, window: Array, packed: Array
) -> Solution:
    """
    Take one step from q (nq,) with closed loops as near as possible to other values (nq,).

    It is that of a drive of all joints in which none changes by more than its `window` (nq,)
    [rad or m]; q is overwritten. The caller divides the way, so that joints arrive together.
    """
    started = perf_counter()
    rows = table.with_targets(slice(None), target)
    rows[JOINT_WINDOW] = np.minimum(rows[JOINT_WINDOW], table.through_couplings(window))
    packed = packed.copy()
    packed[MAX_ITERATIONS], packed[RESTARTS] = TOWARDS_STEPS, 0.0
    table.move_to_targets(problem.moved, rows, q)
    answers = problem.run(q, rows, packed, 0.0)
    table.follow(q)
    return Solution(q, answers, perf_counter() - started, problem.tree.names)


def _crawled(answers: Sequence[SolveResult], distance: Array) -> bool:
    """Return True if a drive took many more steps than a way without obstacles [rad or L]."""
    spent = max((answer.iterations for answer in answers), default=0) - CRAWL
    return spent > 0 and spent > np.abs(distance).max(initial=0.0) / LONGEST[DRIVE]


def _tolerance(problem: Problem) -> float:
    """Return the largest tolerance of a closure [rad or L]."""
    largest = 0.0
    for chain in problem.chains:
        units = np.array((chain.flat.length, 1.0))
        largest = max(largest, float(np.min(chain.tolerances / units, axis=1).max(initial=0.0)))
    return largest


def _stop(problem: Problem, index: int, reached: float, target: float) -> str:
    """Return where a driven joint stopped, its limits if they are why, and its target."""
    joint, dof = problem.tree.owner[index]
    lower, upper = joint.get_min_limit(dof), joint.get_max_limit(dof)
    # Enough digits to tell the two numbers apart.
    digits = next(n for n in (6, 9, 12, 17) if f'{reached:.{n}g}' != f'{target:.{n}g}')
    text = f'{problem.tree.names[index]!r} stopped at {reached:.{digits}g}'
    if not lower <= target <= upper:
        text += f' (limits [{lower:.6g}, {upper:.6g}] {"rad" if dof.is_rotation else "m"})'
    return f'{text}, not {target:.{digits}g}'


def _obstacle(
    problem: Problem,
    table: JointTable,
    rows: Array,
    q: Array,
    places: NDArray[np.int64],
    packed: Array,
    answers: Sequence[SolveResult],
) -> str:
    """Return the reason why driven joints cannot advance."""
    for answer in answers:
        for name, error in answer.open_closures.items():
            off = f'{error.position:.3g} m, {error.orientation:.3g} rad'
            return f'the loops do not close: closure {name!r} is {off} off'
    names, margin = problem.tree.names, ROUNDING * np.maximum(1.0, np.abs(q))
    at_limit = (q <= table.lower + margin) | (q >= table.upper - margin)
    limited = {names.index(name) for answer in answers for name in answer.at_limits(q)}
    limited.update(place for place in places.tolist() if at_limit[place])
    limits: list[str] = []
    for place in sorted(limited):  # of a joint that its followers limit, the followers
        followers = [f for f, master in table.masters.items() if master == place and at_limit[f]]
        limits += [names[each] for each in followers] or [names[place]]
    rows = table.with_window(rows, places, np.inf)
    for chain in problem.chains:
        limits += chain.active_cones(q, rows, packed)
    if limits:
        return f'at limits: {listed(limits)}'
    for chain in problem.chains:
        _, jacobian, _ = chain.linearise_by_size(q, rows, packed)
        free = table.movable(rows)[chain.flat.var_q]
        driven = np.isin(chain.flat.var_q, places)
        whole = np.linalg.svd(jacobian[:, free], compute_uv=False)
        rank = rank_of(whole)
        part = np.linalg.svd(jacobian[:, free & ~driven], compute_uv=False)
        # Fewer passive joints than conditions: the driven joints are more than the mobility.
        count = min(rank, int(np.count_nonzero(free & ~driven)))
        if count and part[count - 1] < SINGULAR * whole[rank - 1]:
            return (
                'the loops are near a singularity of type II, where the driven joints cannot move '
                'the passive ones'
            )
        if count < rank:
            return (
                f'the loops do not allow these values together: {np.count_nonzero(free & driven)} '
                f'joints are driven, and the mobility is {np.count_nonzero(free) - rank}'
            )
    return 'the closures do not allow any further motion of the driven joints'


# -- the way out of a singular configuration, where branches of a mechanism meet


def leave_singular_start(
    problem: Problem, rows: Array, q: Array, ahead: dict[int, float], packed: Array
) -> tuple[Array, str] | None:
    """
    Return a configuration beside q in the nearest of the branches that meet there, and its name.

    `ahead`: index in q of each driven value -> the value towards which it moves [rad or m].
    Returns None if q is not singular, or no branch with the driven values farther on was found.

    q is singular if the closures have a lower rank in the passive values there than beside it.
    Motions of first order then do not show where the branches go. The values are therefore
    displaced along random first-order motions, the driven ones by a small step towards their
    values, and the loops are closed.
    """
    random, units = np.random.default_rng(0), problem.units
    places = list(ahead)
    delta = np.array([ahead[index] for index in places]) - q[places]
    size = np.abs(delta / units[places]).max(initial=0.0)
    if not size > 0.0:
        return None
    free, packed = JointTable.without_preferences(rows), packed.copy()
    held = JointTable.with_window(free, places, 0.0)
    packed[RESTARTS] = 0.0
    beside = q + ASIDE * units * random.uniform(-1.0, 1.0, (3, len(q)))
    singular = [
        (chain, chain.motions(q, held, packed, NEARLY).shape[1]) for chain in problem.chains
    ]
    for closed in (False, True):
        # Rows that are redundant may be independent while the loops are open.
        for each in beside if closed else ():
            problem.run(each, free, packed, 0.0)
        singular = [
            (chain, count)
            for chain, count in singular
            if count > min(chain.motions(each, held, packed, NEARLY).shape[1] for each in beside)
        ]
        if not singular:
            return None
    motions = [chain.motions(q, rows, packed, NEARLY) for chain, _ in singular]
    branches: list[Array] = []
    for attempt in range(TRIES):
        if attempt == TRIES // 2 and branches:
            break
        # Beside a dead centre passive values move by the root of the step.
        step = OUT if attempt < TRIES // 2 else 0.1 * OUT
        start = q.copy()
        for (chain, _), basis in zip(singular, motions, strict=True):
            along = basis @ random.normal(size=basis.shape[1])
            start[chain.flat.var_q] += 2.0 * step * chain.flat.units * along / np.abs(along).max()
        start[places] = q[places] + delta * min(1.0, step / size)
        start = JointTable.clamped(rows, start)
        answers = problem.run(start, held, packed, 0.0)
        moved = np.abs((start - q) / units)
        regular = all(
            chain.motions(start, held, packed, NEARLY).shape[1] < count
            for chain, count in singular
        )
        reached = all(answer.status is Status.CONVERGED for answer in answers)
        new = all(np.abs((start - each) / units).max() > SAME for each in branches)
        if reached and regular and new and moved.max() <= FAR:
            branches.append(start)
    if not branches:
        return None
    nearest = min(branches, key=lambda each: float(np.linalg.norm((each - q) / units)))
    names = [
        f'{name!r} {step:+.3g}'
        for name, step in zip(problem.tree.names, nearest - q, strict=True)
        if step != 0.0
    ]
    said = (
        f'the start is singular: {len(branches)} ways on were found, and the nearest one is taken'
    )
    return nearest, f'{said} ({listed(names, 6)})'
