"""
The policy of a solve as tables: its passes, what follows each, how each ends, and when to give up.

A pass begins at some joint values and lowers a cost by steps, eq. (6), until an event ends it;
docs/theory.md, section 8. A constant is here because another value gives up goals, finds worse
answers or takes more steps (`bench starts`, `bench nearest`). Shares are shares of a cost, which
is half a squared residual: [1]. Distances are the largest difference of a variable [rad or L].
"""

# The passes. Those from CLOSE to BEST go from level to level and hold the rows of finished levels;
# level 0 are the closures.
(
    SEARCH,  # all rows at once, from the start of the solve, then from drawn starts
    TIGHTEN,  # the same with heavy closures, from the end of a search: its loops nearly close
    TOLERATE,  # all rows, of which only what exceeds tolerances counts, from ends of searches
    CLOSE,  # closures only, from the end of TIGHTEN or WALK
    WALK,  # closures, then goals while loops stay closed, from a drawn start
    NEAR,  # from the start of the solve, or from the end of the first search
    PUSHED,  # from a perturbation of where NEAR did not move: a minimum, or a saddle point
    FAR,  # from another candidate
    BEST,  # from the best answer so far, to the last digits
    SETTLE,  # joint targets, then the rest pose, while all other rows are held; then the end
) = range(10)
# What may follow a pass besides another pass.
(
    COLLECT,  # keep the end of a start as a candidate, then DRAW
    DRAW,  # draw a start for SEARCH or WALK; after the last start IMPROVE
    IMPROVE,  # TOLERATE from the next candidate; if there is none NEAR, FAR or BEST
    COMPARE,  # keep the better answer, then PUSHED, FAR, BEST or SETTLE
) = range(10, 14)
# The events that end a pass: every residual is within its tolerance; steps gain nothing more, or
# are spent; the same, but loops are open; the pass leads to the end of an earlier start.
MET, ENDED, OPEN, KNOWN = range(4)
EVENTS = 4
FOLLOWS = (
    # MET    ENDED    OPEN     KNOWN
    SETTLE,  COLLECT, TIGHTEN, DRAW,  # SEARCH
    SETTLE,  CLOSE,   CLOSE,   CLOSE,  # TIGHTEN
    SETTLE,  IMPROVE, IMPROVE, IMPROVE,  # TOLERATE
    COLLECT, COLLECT, COLLECT, COLLECT,  # CLOSE
    SEARCH,  CLOSE,   COLLECT, CLOSE,  # WALK
    COMPARE, COMPARE, COMPARE, COMPARE,  # NEAR
    COMPARE, COMPARE, COMPARE, COMPARE,  # PUSHED
    COMPARE, COMPARE, COMPARE, COMPARE,  # FAR
    SETTLE,  SETTLE,  SETTLE,  SETTLE,  # BEST
)  # fmt: skip

# How a pass ends besides MET: the linear model predicts a decrease below a share of the cost, or
# so many steps in a row are weak. These are for the passes with all rows at once; the share is
# the first one in the first start, and for goals that conflict, which the next frame goes on with.
SEARCH_PROMISE, RESTART_PROMISE, SEARCH_PATIENCE = 1e-3, 3e-3, 4
# These are for the levels. A pass that only shows which minimum it leads to ends early. BEST does
# not follow a flat valley to its end; NEAR does, so that solves of the same goal do not creep
# along it. Level 0, and all levels after a single start, end as those of CLOSE do.
#          CLOSE  WALK  NEAR  PUSHED FAR   BEST
PROMISE = (1e-10, 1e-3, 1e-8, 1e-8,  1e-3, 2e-6)  # fmt: skip
LEVEL_PATIENCE = 12
# Loops may take so many steps to close, however few `max_iterations` are; these do not count.
ANSWER_STEPS = 50.0

# Damping of a restart relative to that of the first start: 4 instead of 1 saves rejected steps.
RESTART_DAMPING = 4.0
# Damping of the first step of a level, relative to its cost.
LEVEL_DAMPING_SCALE = 1e-2
# Squared weight of closures in TIGHTEN; a power of two, so that it can be taken back exactly.
TIGHTNESS = 4096.0

# The first starts are drawn whole; of the later ones two in three redraw some variables of a
# candidate, at least so many.
FRESH_STARTS, MIN_REDRAWN = 12, 2
# Shares of the limits in which starts of robots with loops are drawn, one after the other.
DRAWN_SHARES = (1.0, 0.15, 0.35, 0.7)
# A restart at this distance from a candidate, at a cost of at most this multiple of the cost of
# its search, is in its basin and ends.
SAME_BASIN, SAME_BASIN_COST = 0.5, 1.5
# Costs whose ratio is above this are equal: one per cent of the residual. Candidates are kept
# once for each cost, which differ by more than SAME_COST.
EQUAL, SAME_COST = 0.98, 1e-3
# So many independent starts with equal costs end the search, and so many if the lengths of the
# links prove that the goal is out of reach. See decision 0021.
#             arms loops elbows open: elbows, or loops around a link that the goal lets turn
AGREEMENT = (12, 8,    24,    24)  # fmt: skip
PROVEN = (5, 2,    12,    32)  # fmt: skip
NEVER = 1 << 40
# A residual of NEAR_MISS [rad or L] doubles AGREEMENT, which grows to MAX_AGREEMENT times.
NEAR_MISS, MAX_AGREEMENT = 0.15, 5.0

# So many starts are tried for loops that close in contact only.
CROWDED_STARTS = 8
# A search among bodies ends after BLOCKED_STARTS, of which those that met all goals, but not
# without contact, count twice. Goals of configurations in contact that have a
# free answer took more than 60 starts in 0 of 824 cases (arms), 1 of 407 (two arms on a box) and
# 11 of 410 (a humanoid, more than 150 starts in 1).
BLOCKED_STARTS, LEAST_BLOCKED = 240, 2

# Tolerances above this [rad or L] count in the levels, others would only cost time.
WIDE = 1e-4
# If the first search ends farther from the start, no answer is next to the start, and NEAR is
# left out. If NEAR ends within NEXT_TO, the solve follows a goal; within STANDS_STILL it has not
# moved.
FAR_AWAY, NEXT_TO, STANDS_STILL = 0.5, 0.1, 1e-4
# Share of the cost of the best answer below which another one replaces it where a goal is
# followed, so that it does not jump for less than half the residual.
JUMP = 0.25
