"""The start of a solve and of a restart, preferences, weights and costs."""

from math import pi, sqrt

from ik_node.kernels import layout, policy
from ik_node.kernels import options as option
from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.forward import column_values, forward, place_b_frames
from ik_node.kernels.kinds import KIND_AVOID, KIND_CONE, KIND_COUPLING
from ik_node.kernels.layout import Floats, LARGEST, Solve, unit_of_column
from ik_node.kernels.redundant import store_grouped_rows
from ik_node.kernels.rotation import euler_difference, near_turn, turned_within
from ik_node.kernels.rows import coupling_gap, norm, residuals, term_of

# Least squared weight of a row, relative to the heaviest of its level: in REACH, and otherwise.
LEAST_REACH_WEIGHT, LEAST_WEIGHT = 1e-6, 1e-12
# A TOLERANT phase aims at this share of a tolerance, so that it ends inside.
INNER = 0.999
# Limits farther apart than this [rad or L] count as infinite when a start is drawn.
WIDEST = 1e4
INFINITE = 1e300
# The gap of a coupling that is the rounding of its sum, relative to the value.
ROUNDING = 1e-15
# Passes over all couplings, and the least squared slope of one that takes a part of a gap.
SWEEPS, LEAST_SLOPE = 3, 1e-12


@kernel
def all_within_tolerance(s: Solve, level: int) -> bool:
    """
    Return True if every constraint of levels up to `level` is within its tolerances.

    With level = -1 - c only constraint c counts.
    """
    for c in range(s.nc):
        counts = (level >= 0 and s.constraints[c, layout.CON_LEVEL] <= level) or c == -1 - level
        if counts and not is_met(s, c):
            return False
    return True


@kernel
def is_met(s: Solve, c: int) -> bool:
    """
    Return True if constraint c is within its tolerances; a NaN is not.

    For a closure with redundant rows (theory.md, section 10) the least-squares residual must be
    within the tolerance, and what rounding leaves open within the tolerance plus the group's
    misfit.
    """
    position, orientation = s.error[2 * c], s.error[2 * c + 1]
    position_limit = s.constraints[c, layout.CON_TRANSLATION_TOLERANCE]
    orientation_limit = s.constraints[c, layout.CON_ROTATION_TOLERANCE]
    if s.groups > 0:
        loose_position = s.constraints[c, layout.CON_TRANSLATION_MISFIT]
        loose_orientation = s.constraints[c, layout.CON_ROTATION_MISFIT]
        if loose_position > 0.0 or loose_orientation > 0.0:
            end = s.angular[c]
            closed = (
                s.length * norm(s.trial, 6 * c, end) <= position_limit
                and norm(s.trial, end, s.row_end[c]) <= orientation_limit
            )
            if not closed:
                return False
            position_limit += loose_position
            orientation_limit += loose_orientation
    if s.constraints[c, layout.CON_ROW_TOLERANCE] >= 0.0:
        for r in range(6 * c, s.row_end[c]):
            if not abs(s.trial[r]) <= row_tolerance(s, r):
                return False
    return bool(position <= position_limit and orientation <= orientation_limit)


@kernel
def row_tolerance(s: Solve, r: int) -> float:
    """
    Return the tolerance of row r of a constraint with tolerances by axis [L or rad].

    Otherwise return that of the norm of all rows in its unit.
    """
    c = r // 6
    angular = r >= s.angular[c]
    if s.constraints[c, layout.CON_ROW_TOLERANCE] >= 0.0:
        tolerance = s.constraints[c, layout.CON_ROW_TOLERANCE + r - 6 * c]
    else:
        tolerance = s.constraints[
            c, layout.CON_ROTATION_TOLERANCE if angular else layout.CON_TRANSLATION_TOLERANCE
        ]
    return float(tolerance if angular else tolerance / s.length)


@rare
def excess_share(s: Solve, rows: Floats, r: int) -> float:
    """
    Return the share 1 - t / |r| of residual r of `rows` (nr,) that exceeds its tolerance t.

    It is 0 inside the tolerance; |r| is the norm of the rows in the same unit, or of the row
    alone if the constraint has tolerances by axis. See theory.md, eq. (17). An inequality counts
    where it exceeds the value at which it is held.
    """
    c = r // 6
    if s.kind[c] >= KIND_CONE:
        return 1.0 if rows[r] > s.hold[r] else 0.0
    size = abs(rows[r])
    if s.constraints[c, layout.CON_ROW_TOLERANCE] < 0.0:
        angular = s.angular[c]
        first, end = (6 * c, angular) if r < angular else (angular, s.row_end[c])
        size = norm(rows, first, end)
    tolerance = INNER * row_tolerance(s, r)
    return 1.0 - tolerance / size if size > tolerance else 0.0


@kernel
def tolerates(s: Solve, c: int) -> bool:
    """Return True if the phase counts only what exceeds the tolerances, or limit, of c."""
    goal = s.constraints[c, layout.CON_LEVEL] > 0.0
    counts = s.k[now.TOLERANT] == 1 and goal and s.k[now.PHASE] != now.PHASE_SETTLE
    return bool(counts or s.kind[c] >= KIND_CONE)


@kernel
def has_preference(s: Solve, v: int) -> bool:
    """
    Return True if variable v has a preferred value in the present stage of SETTLE.

    One stage is for the variables with a target, the other for those with a rest pose.
    """
    return bool(s.preference[v] == s.k[now.LEVEL] - s.k[now.LAST_LEVEL])


@rare
def write_difference(s: Solve, to: Floats, x: Floats) -> None:
    """
    Write the difference of variables `to` and x, both (nv,), to `preferred_step`.

    For a free ball joint it is a rotation vector on SO(3).
    """
    out = s.preferred_step
    for v in range(s.nv):
        out[v] = to[v] - x[v]
    for j in range(s.n):
        if s.ball[j] == 1:
            c, b, a = s.var[j], s.var[j + 1], s.var[j + 2]
            if s.free_ball[c] == 1:
                out[a], out[b], out[c] = euler_difference(x[a], x[b], x[c], to[a], to[b], to[c])


@kernel
def write_preferred_step(s: Solve, x: Floats) -> None:
    """Write x* - x, the difference to the preferred values, to `preferred_step`; 0 without one."""
    write_difference(s, s.target, x)
    for v in range(s.nv):
        if not has_preference(s, v):
            s.preferred_step[v] = 0.0


@kernel
def row_weight(s: Solve, r: int) -> float:
    """Return the squared weight of row r, or a small constant if it is smaller than that."""
    least = LEAST_REACH_WEIGHT if s.k[now.PHASE] == now.PHASE_REACH else LEAST_WEIGHT
    return float(max(s.weight[r], least))


@kernel
def weigh_closures(s: Solve, factor: float) -> None:
    """Multiply the squared weights of all rows of closures by a factor."""
    for c in range(s.nc):
        if s.constraints[c, layout.CON_LEVEL] == 0.0:
            for r in range(6 * c, 6 * c + 6):
                s.weight[r] *= factor


@kernel
def copy_variables(s: Solve, start: Floats, out: Floats) -> None:
    """Copy variables (nv,). A caller that writes s.x also sets STALE."""
    for v in range(s.nv):
        out[v] = start[v]


@kernel
def remember_best(s: Solve, margin: float) -> None:
    """Copy x to x_best if its cost is below margin * BEST_COST."""
    if s.w[now.COST] < margin * s.w[now.BEST_COST]:
        s.w[now.BEST_COST] = s.w[now.COST]
        copy_variables(s, s.x, s.x_best)


@kernel
def smooths(s: Solve) -> bool:
    """Return True if the phase also minimises the way from the start, theory.md, eq. (15)."""
    return bool(
        s.options[option.SMOOTHING] > 0.0
        and s.k[now.PHASE] == now.PHASE_LEVEL
        and s.k[now.LEVEL] > 0
    )


@kernel
def cost_of(s: Solve, x: Floats) -> float:
    """
    Return the cost f(x) of the phase, theory.md, eq. (5), from the rows in `trial`.

    SETTLE: 1/2 |x* - x|^2 weighted by `pull`. Goals of a solve with smoothing: also the weighted
    way from the start.
    """
    phase, level = s.k[now.PHASE], s.k[now.LEVEL]
    total = 0.0
    if phase == now.PHASE_SETTLE:
        write_preferred_step(s, x)
        for v in range(s.nv):
            total += s.pull[v] * s.preferred_step[v] * s.preferred_step[v]
        return 0.5 * total
    if smooths(s):
        write_difference(s, s.x_start, x)
        for v in range(s.nv):
            total += s.options[option.SMOOTHING] * s.preferred_step[v] ** 2
    if phase == now.PHASE_REACH or level == 0:
        total += 2.0 * s.w[now.CROWD]
    for c in range(s.nc):
        if phase == now.PHASE_REACH or s.constraints[c, layout.CON_LEVEL] == level:
            loose = tolerates(s, c)
            for r in range(6 * c, 6 * c + 6):
                value = s.trial[r]
                if loose:
                    value *= excess_share(s, s.trial, r)
                total += row_weight(s, r) * value * value
    return 0.5 * total


@kernel
def keep_place_of_frames(s: Solve) -> None:
    """Note that frames and residual are those of x."""
    s.k[now.FRAMES] = 1
    copy_variables(s, s.x, s.x_frames)


@kernel
def has_frames_of_x(s: Solve) -> bool:
    """Return True if frames and residual in the workspace are those of x."""
    same = s.k[now.FRAMES] == 1
    for v in range(s.nv):
        same = same and s.x_frames[v] == s.x[v]
    return bool(same)


@rare
def place(s: Solve, x: Floats) -> None:
    """Write frames and rows of variables x (nv,); rows of grouped closures are left unreduced."""
    forward(s, x)
    residuals(s)
    if s.groups > 0:
        store_grouped_rows(s)


@kernel
def evaluate(s: Solve) -> None:
    """
    Update frames, residuals and cost at x, and mark the Jacobian as outdated.

    Rows of grouped closures are left unreduced: which of them are independent follows from the
    Jacobian. If the frames are those of x already, only the cost is new.
    """
    if s.groups == 0 and has_frames_of_x(s):
        for r in range(s.nr):
            s.trial[r] = s.residual[r]
    else:
        place(s, s.x)
        for r in range(s.nr):
            s.residual[r] = s.trial[r]
        keep_place_of_frames(s)
        s.k[now.JACOBIAN_DUE] = 1
    s.w[now.COST] = cost_of(s, s.x)


@kernel
def random_number(s: Solve) -> float:
    """Return the next number in [0, 1) of a multiplicative generator (Park & Miller 1988)."""
    state = (s.k[now.RANDOM] * 48271) % 2147483647
    s.k[now.RANDOM] = state
    return float(state / 2147483647.0)


@rare
def perturb(s: Solve) -> None:
    """Add up to 0.02 rad or L to every variable, to leave a saddle point."""
    for v in range(s.nv):
        size = min(0.02, 0.05 * (s.upper[v] - s.lower[v]))
        value = s.x[v] + size * (2.0 * random_number(s) - 1.0)
        s.x[v] = min(max(value, s.lower[v]), s.upper[v])


@rare
def redraw_some_variables(s: Solve, x: Floats) -> None:
    """
    Start from x (nv,) with a few neighbouring variables drawn anew.

    This is iterated local search (Lourenco et al. 2003).

    An error in one part of the robot is rarely corrected by a draw of all variables, because such
    a draw introduces errors elsewhere.
    """
    count = min(s.nv, 1 + int(policy.MIN_REDRAWN + s.nv * random_number(s) ** 4))
    first = int(s.nv * random_number(s))
    for v in range(s.nv):
        s.x[v] = x[v]
    for k in range(count):
        v = (first + k) % s.nv
        lower, upper = s.lower[v], s.upper[v]
        if not upper - lower < WIDEST:
            lower, upper = max(lower, x[v] - pi), min(upper, x[v] + pi)
        s.x[v] = lower + (upper - lower) * random_number(s)


@rare
def restart(s: Solve, best: int) -> bool:
    """
    Draw a new start within the limits, or redraw a part of a candidate.

    `best` is the best candidate, -1 if there is none. With a single goal and no loop every start
    is drawn whole; among bodies, most starts are parts of candidates from the first one on.

    In a robot with loops, draws near the first start and near the middle of the limits come first,
    by turns, because a draw of all joints at once mostly lies in another assembly. Return True if
    the new start walks: it closes its loops first and keeps them closed on the way to the goals,
    so that the goals cannot pull it out of its assembly.
    """
    number, walks = s.k[now.STARTS], False
    s.k[now.DRAWN] = 1
    fresh = 0 if s.checks > 0 else policy.FRESH_STARTS
    if number > fresh and s.nc > 1:
        if best >= 0 and number % 3 > 0:
            index = best
            if number % 3 == 2 and random_number(s) < 0.5:
                index = int(s.k[now.CANDIDATES] * random_number(s))
            redraw_some_variables(s, s.candidate[index * s.nv :])
            # With loops it often leads to another assembly.
            s.k[now.DRAWN] = 1 if s.k[now.LOOPS] > 0 else 0
            return False
        number = fresh + (number - fresh) // 3
        walks = best >= 0 and s.k[now.LOOPS] > 0
    share, around_middle = 1.0, False
    if s.k[now.LOOPS] > 0 and not walks:
        around_middle = number % 2 == 1
        share = policy.DRAWN_SHARES[(number // 2) % 4]
        s.k[now.DRAWN] = 1 if share > 0.5 else 0
    for v in range(s.nv):
        lower, upper = s.lower[v], s.upper[v]
        start = s.x_start[v]
        if upper - lower < WIDEST:
            centre = 0.5 * (lower + upper) if around_middle else start
        else:
            centre = min(max(0.0, lower), upper) if around_middle else start
            lower, upper = max(lower, centre - pi), min(upper, centre + pi)
        drawn = lower + (upper - lower) * random_number(s)
        s.x[v] = centre + share * (drawn - centre)
    return walks


@rare
def release_bounds(s: Solve) -> None:
    """
    Let angles pass their limits until the start ends, if full turns of them do not count.

    A limit in the way of an angle ends many starts that lead to a solution within the limits, a
    full turn farther on. (With constant damping, the best iterate may be one of those on the way.)
    Bodies do not count either: most answers in contact are next to one that is free.
    """
    s.k[now.UNBOUNDED] = 1 if s.options[option.ADAPTIVE_DAMPING] != 0.0 else 0
    for v in range(s.nv):
        if s.k[now.UNBOUNDED] == 1 and s.wraps[v] == 1:
            s.lower[v], s.upper[v] = -INFINITE, INFINITE


@rare
def restore_bounds(s: Solve) -> bool:
    """
    Bring x back within the limits that `release_bounds` lifted, and let the start go on.

    Angles are shifted by full turns, those that do not fit then to the nearer limit. Return True
    if there was one of these.
    """
    s.k[now.UNBOUNDED], moved = 0, False
    if s.checks > 0:
        # The rows of bodies are outdated.
        s.k[now.FRAMES] = 0
    for v in range(s.nv):
        if s.wraps[v] == 1:
            g = s.var_q[v]
            value, start = s.x[v], s.x_start[v]
            lower = min(s.joints[layout.JOINT_LOWER, g], start)
            upper = max(s.joints[layout.JOINT_UPPER, g], start)
            value = near_turn(value, start)
            if value > upper and lower - (value - 2.0 * pi) < value - upper:
                value -= 2.0 * pi
            elif value < lower and value + 2.0 * pi - upper < lower - value:
                value += 2.0 * pi
            s.lower[v], s.upper[v] = lower, upper
            s.x[v] = min(max(value, lower), upper)
            moved = moved or not lower <= value <= upper
    continue_start(s)
    return moved


@kernel
def continue_start(s: Solve) -> None:
    """Let REACH go on from x, which was changed, with the steps that are left of the start."""
    s.k[now.WEAK] = 0
    s.k[now.STALE] = 1
    s.w[now.STEP_SIZE] = INFINITE
    s.w[now.PREDICTED] = INFINITE
    s.w[now.DAMPING_SCALE] = s.options[option.DAMPING_FACTOR]


@kernel
def set_preferences(s: Solve) -> None:
    """Read joint targets and rest pose, angles as the equivalent nearest to the start."""
    for v in range(s.nv):
        g = s.var_q[v]
        s.preference[v] = layout.PREFERS_NOTHING
        s.target[v], s.pull[v], s.gain[v] = 0.0, 1.0, 1.0
        if s.joints[layout.JOINT_TARGET_WEIGHT, g] > 0.0:
            s.preference[v] = layout.PREFERS_TARGET
            s.target[v] = s.joints[layout.JOINT_TARGET, g] / s.unit[v]
            s.pull[v] = s.joints[layout.JOINT_TARGET_WEIGHT, g]
        elif s.joints[layout.JOINT_REST_ON, g] > 0.0 and s.options[option.REST_POSE_FACTOR] > 0.0:
            s.preference[v] = layout.PREFERS_REST_POSE
            s.target[v] = s.joints[layout.JOINT_REST, g] / s.unit[v]
            # Small beside the stiffness of held rows: a stretched arm is held to second order.
            s.pull[v] = 1e-3
            s.gain[v] = s.options[option.REST_POSE_FACTOR]
        if s.joints[layout.JOINT_TURNS, g] > 0.0 and s.preference[v] != layout.PREFERS_NOTHING:
            lower, upper = s.joints[layout.JOINT_LOWER, g], s.joints[layout.JOINT_UPPER, g]
            s.target[v] = turned_within(s.target[v], s.x[v], lower, upper)


@kernel
def set_bounds(s: Solve) -> None:
    """
    Read the start and its bounds, and mark the ball joints whose limits cannot bind.

    A value that starts outside its limits may stay or move inwards: the start is its bound.
    A marked ball joint may turn freely on SO(3), without regard to its Euler angles.
    """
    for v in range(s.nv):
        g = s.var_q[v]
        lower, upper = s.joints[layout.JOINT_LOWER, g], s.joints[layout.JOINT_UPPER, g]
        window = s.joints[layout.JOINT_WINDOW, g]
        unit = s.unit[v]
        # The start is the best iterate until there is a better one.
        s.x[v] = s.x_start[v] = s.x_best[v] = s.x_kept[v] = s.q[g] / unit
        s.lower[v] = max(min(lower, s.q[g]), s.q[g] - window) / unit
        s.upper[v] = min(max(upper, s.q[g]), s.q[g] + window) / unit
        s.free_ball[v] = 0
        # Without restarts, or with a window, the answer stays near the start: no full turns.
        anywhere = s.options[option.RESTARTS] > 0.0 and window > INFINITE and upper > lower
        angle = s.angle[v] == 1 and s.joints[layout.JOINT_TURNS, g] > 0.0
        s.wraps[v] = 1 if anywhere and angle else 0
    for j in range(s.n):
        s.held[j] = s.q[s.column_q[j]] / unit_of_column(s, j)
        if s.ball[j] == 1 and s.var[j] >= 0:
            free = 1
            for k in range(3):
                v = s.var[j + k]
                # EY spans half a turn in either direction from zero, EZ and EX a whole one.
                span = 0.5 * pi if k == 1 else pi
                stays = s.joints[layout.JOINT_WINDOW, s.var_q[v]] < INFINITE
                if stays or s.lower[v] > -span or s.upper[v] < span:
                    free = 0
            for k in range(3):
                s.free_ball[s.var[j + k]] = free


@rare
def keep_couplings(s: Solve, limit: float) -> None:
    """Move values with several masters onto their couplings at x, where gaps are below `limit`."""
    for c in range(s.nc):
        if s.kind[c] == KIND_COUPLING:
            column_values(s, s.x)
            v, gap = s.slot_var[s.slot0[c]], coupling_gap(s, c)
            if ROUNDING * max(1.0, abs(s.x[v])) < abs(gap) < limit:
                x = s.x[v] - gap
                s.x[v] = min(max(x, s.lower[v]), s.upper[v])


@rare
def share_gaps(s: Solve, limit: float) -> None:
    """
    Move all values of couplings whose followers cannot take the rest of a gap, being at a bound.

    Each coupling takes the shortest step that closes it (Kaczmarz 1937); couplings share masters.
    """
    for _ in range(SWEEPS):
        for c in range(s.nc):
            if s.kind[c] == KIND_COUPLING:
                column_values(s, s.x)
                gap, total = coupling_gap(s, c), 0.0
                for e in range(s.entry0[c], s.entry0[c + 1]):
                    j = s.entry_column[e]
                    v, slope = s.var[j], term_of(s, c, e)[1] * s.rate[j]
                    total += slope * slope if s.lower[v] < s.upper[v] else 0.0
                own = abs(s.x[s.slot_var[s.slot0[c]]])
                if not ROUNDING * max(1.0, own) < abs(gap) < limit or total < LEAST_SLOPE:
                    continue
                for e in range(s.entry0[c], s.entry0[c + 1]):
                    j = s.entry_column[e]
                    v, slope = s.var[j], term_of(s, c, e)[1] * s.rate[j]
                    x = s.x[v] - gap * slope / total
                    s.x[v] = min(max(x, s.lower[v]), s.upper[v])
        column_values(s, s.x)


@rare
def follow_masters(s: Solve) -> None:
    """Set values with several masters from these at the start, as far as bounds allow."""
    keep_couplings(s, LARGEST)
    for v in range(s.nv):
        x = s.x[v]
        if x != s.x_start[v]:
            s.x_start[v] = s.x_best[v] = s.x_kept[v] = x
            s.q[s.var_q[v]] = x * s.unit[v]


@kernel
def largest_weight_in_level(s: Solve, c: int) -> float:
    """Return the largest weight of a constraint in the level of c; 1 if all are 0."""
    largest = 0.0
    for other in range(s.nc):
        if s.constraints[other, layout.CON_LEVEL] == s.constraints[c, layout.CON_LEVEL]:
            largest = max(largest, s.constraints[other, layout.CON_WEIGHT])
    return largest if largest > 0.0 else 1.0


@kernel
def read_poses(s: Solve, positions: Floats, quats_xyzw: Floats, count: int) -> bool:
    """
    Write the poses of all goals (count, 3), (count, 4) to the constraint table, at its end.

    With count = 0 the table is left unchanged. Return False if it is not the number of goals.
    """
    goals = 0
    for c in range(s.nc):
        goals += 1 if s.constraints[c, layout.CON_LEVEL] > 0.0 else 0
    if count > 0 and count != goals:
        return False
    for g in range(count):
        c = s.nc - count + g
        for k in range(3):
            s.constraints[c, layout.CON_POSE + k] = positions[g, k]
        for k in range(4):
            s.constraints[c, layout.CON_QUAT + k] = quats_xyzw[g, k]
    return True


@kernel
def check_inputs(s: Solve) -> bool:
    """
    Normalise the quaternions of the constraint table.

    Return False if a number of q or of a pose is not finite or too large, or a quaternion is zero.
    A quaternion that is normalised keeps its bits, so that answers do not depend on repeated
    calls.
    """
    fine = True
    for g in range(s.nq):
        fine = fine and abs(s.q[g]) <= LARGEST
    for c in range(s.nc):
        square = 0.0
        for k in range(layout.CON_POSE, layout.CON_POSE + 7):
            fine = fine and abs(s.constraints[c, k]) <= LARGEST
        for k in range(layout.CON_QUAT, layout.CON_QUAT + 4):
            square += s.constraints[c, k] * s.constraints[c, k]
        length = sqrt(square)
        fine = fine and layout.SMALLEST_QUATERNION <= length <= LARGEST
        if abs(square - 1.0) > layout.NORMALISED:
            for k in range(layout.CON_QUAT, layout.CON_QUAT + 4):
                s.constraints[c, k] /= length
    return fine


@kernel
def start_solve(s: Solve) -> bool:
    """
    Set up the workspace for a new solve from q. Return False if q or a pose is refused.

    Row weights are (weight of the constraint / largest weight of its level * factor)^2.
    """
    if not check_inputs(s):
        return False
    goes_on, random = s.k[now.GOES_ON], s.k[now.RANDOM]
    for k in range(now.COUNTS):
        s.k[k] = 0
    # Rows that a constraint does not have are never written.
    for r in range(s.nr):
        s.trial[r] = 0.0
        s.implied[r] = 0
        s.row_check[r] = -1
    for k in range(18 * s.nc):
        s.vector[k] = 0.0
    s.w[now.CROWD] = 0.0
    for check in range(s.checks):
        # Begun anew, so that an answer does not depend on the solve before.
        s.check_count[check] = 0
        s.check_row[check] = -1
        s.check_margin[check] = s.options[option.COLLISION_MARGIN] / s.length
    set_bounds(s)
    if s.nt > 0:
        follow_masters(s)
    set_preferences(s)
    last = 0
    for c in range(s.nc):
        last = max(last, int(s.constraints[c, layout.CON_LEVEL]))
        loop = s.constraints[c, layout.CON_LEVEL] == 0 and s.kind[c] != KIND_AVOID
        s.k[now.LOOPS] += 1 if loop else 0
        s.k[now.ONE_SIDED] += 1 if s.kind[c] >= KIND_CONE else 0
    s.k[now.LAST_LEVEL] = last
    s.k[now.PHASE], s.k[now.STATUS] = now.PHASE_REACH, now.STATUS_RUNNING
    s.w[now.DAMPING_SCALE] = s.options[option.DAMPING_FACTOR]
    if s.options[option.COMPROMISE] > 0.0:
        s.k[now.PHASE], s.k[now.STATUS] = now.PHASE_LEVEL, now.STATUS_STALLED
        s.k[now.PASS] = policy.NEAR
        s.w[now.DAMPING_SCALE] = policy.LEVEL_DAMPING_SCALE
    elif goes_on == 1:
        s.w[now.DAMPING_SCALE] = s.w[now.LEFT_DAMPING]
    s.k[now.STARTS] = 1
    s.k[now.RANDOM] = random if goes_on == 1 else 1 + int(s.options[option.SEED]) % 2147483646
    place_b_frames(s)
    s.w[now.BEST_COST] = INFINITE
    for c in range(s.nc):
        relative = s.constraints[c, layout.CON_WEIGHT] / largest_weight_in_level(s, c)
        for r in range(6 * c, 6 * c + 6):
            angular = r >= s.angular[c]
            factor = (
                relative
                * s.options[option.ROTATION_FACTOR if angular else option.TRANSLATION_FACTOR]
            )
            s.weight[r] = factor * factor
            s.hold[r] = 0.0
    s.k[now.STALE] = 1
    return True
