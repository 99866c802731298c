"""The best effort: what is left to do, level by level, when a goal cannot be reached."""

from ik_node.kernels._jit import kernel
from ik_node.kernels.begin import all_within_tolerance, cost_of, kick, restart
from ik_node.kernels.counters import (
    BEST_COST,
    COST,
    DAMPING_SCALE,
    EFFORT,
    EFFORT_ANY,
    EFFORT_FAR,
    EFFORT_NEAR,
    EFFORT_PUSHED,
    FALLBACKS,
    INTERRUPTED,
    LAST_LEVEL,
    LEVEL,
    LEVEL_DONE,
    NEAR_COST,
    PHASE,
    PHASE_DONE,
    PHASE_LEVEL,
    PHASE_REACH,
    PHASE_SETTLE,
    STALE,
    START_COST,
    START_ITERATIONS,
    STARTS,
    WEAK,
)
from ik_node.kernels.layout import asked, CON_LEVEL, Solve, WANTS_NOTHING, WANTS_REST_POSE
from ik_node.kernels.options import RESTARTS

# Half the square of a millimetre, or a milliradian.
ROUNDING_COST = 5e-7
# Shares of the cost below which a push, another branch are taken.
WORTH_A_PUSH, JUMP = 1.0 - 1e-6, 0.25


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
        if asked(s, c, CON_LEVEL) == level:
            met = all_within_tolerance(s, -1 - c)
            for r in range(6 * c, 6 * c + 6):
                s.w[s.hold + r] = 0.0 if met else s.w[s.residual + r]
    if level < s.k[LAST_LEVEL]:
        enter_phase(s, PHASE_LEVEL, level + 1)
    elif s.k[EFFORT] == EFFORT_ANY or not another_effort(s):
        enter_settling(s, WANTS_NOTHING)
