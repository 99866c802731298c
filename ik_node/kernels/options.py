"""Places of the solver options in the float array of a kernel; `SolverOptions` explains them."""

(
    MAX_ITERATIONS,  # steps of one start
    STALL_THRESHOLD,  # [rad or L]
    DIVERGE_THRESHOLD,  # [L^2, rad^2]
    DAMPING_FACTOR,  # first mu, or the constant root of the damping
    ADAPTIVE_DAMPING,  # 1 = damping proportional to the cost
    REST_POSE_FACTOR,  # share of the way in one step
    TRANSLATION_FACTOR,  # weight of translation rows
    ROTATION_FACTOR,  # weight of rotation rows
    TRANSLATION_ERROR_CLAMP,  # [m]
    ROTATION_ERROR_CLAMP,  # [rad]
    RESTARTS,  # number of further starts
    SEED,  # of the random numbers
    COMPROMISE,  # 1 = goals conflict: only the nearest answer near the start is asked for
    SMOOTHING,  # weight of the way from the start [dimensionless]
    AGREEING_STARTS,  # independent starts with one least residual that end the search; 0 = by the
    # robot, negative = none unless the goal is proven out of reach
    COLLISION_MARGIN,  # least distance of two bodies [m]
    INFLUENCE_DISTANCE,  # pairs farther beyond the margin leave a step as it is [m]
) = range(17)
OPTION_COUNT = 17
