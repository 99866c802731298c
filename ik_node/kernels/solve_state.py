"""The scalars of a solve: progress that outlives an interruption."""

# Places of the first numbers in w.
(
    COST,  # f(x) of the phase's rows, theory.md, eq. (5) [L^2, rad^2]
    DAMPING_SCALE,  # mu, the damping per unit of cost [1 / (L^2, rad^2)]
    BEST_COST,  # cost of x_best over all rows [L^2, rad^2]
    STEP_SIZE,  # largest |change of a variable| in the last step tried [rad or L]
    PREDICTED,  # decrease of the cost that the linear model predicts [L^2, rad^2]
    STEP_BEFORE,  # cost before the last step [L^2, rad^2]
    HELD_SOFTNESS,  # M of the rows of finished levels [dimensionless]
    REACH_COST,  # cost with which REACH ended, before its loops were drawn together [L^2, rad^2]
    LEFT_DAMPING,  # mu with which REACH of the first start ended [1 / (L^2, rad^2)]
    CROWD,  # cost of pairs of bodies that are too near and have no row [L^2]
    CLOSENESS,  # by how much the nearest pair of bodies is nearer than the margin [L]
) = range(11)
NUMBERS = 11

# Places of the first integers in k.
(
    PHASE,  # PHASE_*; DONE = no solve is under way
    STATUS,  # STATUS_*
    ITERATIONS,  # steps tried in this solve, all starts and phases
    CLOSING,  # those of them that only closed loops
    STARTS,  # starts used
    START_ITERATIONS,  # steps tried in this start or phase
    WEAK,  # weak steps in a row
    LEVEL,  # which rows the phase improves: 0 closures, then goals by priority
    OUT_OF_ITERATIONS,  # 1 = the start, or the pass, ended because its iterations were spent
    PERTURBED,  # 1 = the perturbation at a stationary point has been made
    RANDOM,  # state of the generator
    LAST_LEVEL,  # the largest level of any constraint
    GREW,  # 1 = the cost grew beyond the divergence threshold
    LOOPS,  # number of closures
    INTERRUPTED,  # 1 = set from outside, 2 = by a small step: close the loops and come to an end
    STALE,  # 1 = x has moved: frames, residuals, Jacobian and cost are outdated
    LEVEL_DONE,  # 1 = the level has come to its end
    FALLBACKS,  # how often closing the loops was begun again; -1 = not any more
    CLOSED_AT_START,  # 1 = there are loops, all of them closed where the solve began
    PASS,  # which pass is made, see `policy`
    JACOBIAN_DUE,  # 1 = x has moved since; frames and residuals are those of x
    CANDIDATES,  # number of kept ends of failed starts
    TRACKS,  # 1 = NEAR ended next to the start of the solve
    AGREED,  # how many independent starts ended with the cost of the best one
    ENOUGH,  # as many agreeing starts are the last; 0 = not yet decided
    FRAMES,  # 1 = frames and residual are those of x_frames
    TOLERANT,  # 1 = a residual of a goal costs only what exceeds its tolerance
    TRIED,  # candidates from which a TOLERANT start was made
    ONE_SIDED,  # number of constraints whose rows are inequalities
    DRAWN,  # 1 = the start was drawn independently of earlier ones
    UNBOUNDED,  # 1 = the start ignores the limits of angles, and bodies
    BLOCKED,  # starts that met all goals only while they ignored bodies
    ASSEMBLIES,  # in which of several ways loops may close, see `other_assemblies`
    ENDED,  # ENDED_*: why no further start was made
    YIELDS,  # 1 = loops are closed without regard to bodies
    GOES_ON,  # 1 = set from outside: the next solve goes on with LEFT_DAMPING and RANDOM
) = range(36)
COUNTS = 36
# Why a search ended: all its starts or steps were made; independent starts agree; the goal is
# proven to be out of reach; it was interrupted; a step was too small; the distance is small;
# bodies are in the way of many answers.
(
    ENDED_SPENT,
    ENDED_AGREED,
    ENDED_PROVEN,
    ENDED_INTERRUPTED,
    ENDED_SMALL,
    ENDED_NEAR,
    ENDED_BLOCKED,
) = range(7)
# RECORD_ENDED is one of these, plus ENDS times the proof of `out_of_reach`.
ENDS = 8

PHASE_REACH, PHASE_LEVEL, PHASE_SETTLE, PHASE_DONE = range(4)
STATUS_CONVERGED, STATUS_STALLED, STATUS_DIVERGED, STATUS_TIMEOUT, STATUS_RUNNING = range(5)
# A number of q or of a pose is not finite, or a quaternion is zero: nothing was done.
STATUS_REFUSED = 5
