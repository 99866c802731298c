"""The scalars of a solve: progress that outlives an interruption."""

# Places of the first numbers in w.
(
    COST,  # half the weighted sum of squares of the phase's rows, at x
    DAMPING_SCALE,  # damping per unit of cost, adapted from step to step
    BEST_COST,  # cost of x_best over all rows
    STEP_SIZE,  # largest |change of a variable| in the last step tried [rad or L]
    PREDICTED,  # decrease of the cost the linear model expects of the step
    STEP_BEFORE,  # cost before the last step
    HELD_SOFTNESS,  # of the rows of finished levels
) = range(7)
NUMBERS = 7

# Places of the first integers in k.
(
    PHASE,  # PHASE_*; DONE = no solve is under way
    STATUS,  # STATUS_*
    ITERATIONS,  # steps tried in this solve, all starts and phases
    CLOSING,  # those of them that did nothing but close loops
    STARTS,  # starts used
    START_ITERATIONS,  # steps tried in this start or phase
    WEAK,  # steps in a row that hardly helped
    LEVEL,  # which rows the phase improves: 0 closures, then goals by priority
    OUT_OF_ITERATIONS,  # 1 = the start, the effort ended because its iterations were spent
    KICKED,  # 1 = the push out of a stationary point has been made
    RANDOM,  # state of the generator
    LAST_LEVEL,  # the largest level of any constraint
    GREW,  # 1 = the cost grew beyond the divergence threshold
    LOOPS,  # number of closures
    INTERRUPTED,  # 1 = set from outside: close the loops and come to an end
    STALE,  # 1 = x has moved: frames, residuals, Jacobian and cost are to be worked out
    LEVEL_DONE,  # 1 = the level has come to its end
    FALLBACKS,  # how often closing the loops was begun anew; -1 = no more
    CLOSED_AT_START,  # 1 = there are loops, all of them closed where the solve began
    EFFORT,  # EFFORT_*
    JACOBIAN_DUE,  # 1 = x has moved since; frames and residuals are those of x
    CANDIDATES,  # where starts ended that did not get there: how many are kept
    TRACKS,  # 1 = the best effort near the start is next to the start
) = range(23)
COUNTS = 23

# From where levels are gone through: where a start has ended, to close its loops only; the start
# of the solve, or where the first search has ended, for what is near; a push away from there; a
# candidate; the best effort kept, once more and to its end; a draw whose loops close before it
# goes anywhere (a walk).
EFFORT_DRAWN, EFFORT_NEAR, EFFORT_PUSHED, EFFORT_FAR, EFFORT_KEPT, EFFORT_WALKED = range(6)
PHASE_REACH, PHASE_LEVEL, PHASE_SETTLE, PHASE_DONE = range(4)
STATUS_CONVERGED, STATUS_STALLED, STATUS_DIVERGED, STATUS_TIMEOUT, STATUS_RUNNING = range(5)
# A number that came in is not finite, or a quaternion zero: nothing was done.
STATUS_REFUSED = 5
