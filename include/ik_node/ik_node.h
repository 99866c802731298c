/*
 * The C interface of ik_node: inverse kinematics for robots with closed loops, without Python.
 *
 * `python -m ik_node export ROBOT -o robot.ikr --goal LINK` writes a robot with its loops and goals
 * to a file. A program loads the file once (`ik_node_load`), makes one problem for each thread
 * (`ik_node_problem_new`), and calls `ik_node_solve` in its control loop. The numbers are those of
 * the Python package, to the last bit.
 *
 * Units: [m], [rad]; joint values q in [rad or m]. Poses are in the root frame, or in the frame of
 * the goal's parent if it has one; quaternions are x, y, z, w. Arrays are row by row.
 *
 * Threads: a robot is read-only once it is loaded, and any number of problems in any number of
 * threads share it. One thread at a time may use a problem.
 *
 * Real time: only the functions that say so allocate or free memory. No function takes a lock or
 * writes to a stream, and none but `ik_node_load` calls the operating system. The time of a
 * solve is bounded by the budget of steps that the caller gives.
 *
 * Errors: functions that can fail return a negative IK_NODE_ERROR_*. Results are then unchanged,
 * except where the function says otherwise.
 */
#ifndef IK_NODE_H
#define IK_NODE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IK_NODE_API __attribute__((visibility("default")))

/* The version of this interface. A program may compare it with `ik_node_interface()`. */
#define IK_NODE_INTERFACE 2

/* The outcome of a solve; a larger number is worse. */
enum {
    IK_NODE_CONVERGED = 0, /* every loop and goal is within its tolerance */
    IK_NODE_STALLED = 1,   /* no step improves the best configuration, which is returned */
    IK_NODE_DIVERGED = 2,  /* with the option adaptive_damping off: the cost grew too much */
    IK_NODE_TIMEOUT = 3,   /* the steps that the options allow are spent, or it was interrupted */
    IK_NODE_RUNNING = 4    /* the budget of the call is spent: `ik_node_continue` goes on */
};

/* Errors. */
enum {
    IK_NODE_ERROR_ARGUMENT = -1,  /* a pointer is NULL, or an index or number is out of range */
    IK_NODE_ERROR_FILE = -2,      /* the file cannot be opened or read */
    IK_NODE_ERROR_FORMAT = -3,    /* the file is no exported robot, or is damaged */
    IK_NODE_ERROR_VERSION = -4,   /* the file was exported for a library of other sources */
    IK_NODE_ERROR_MEMORY = -5,    /* there is not enough memory */
    IK_NODE_ERROR_PROCESSOR = -6, /* the library has no code for this processor */
    IK_NODE_ERROR_INPUT = -7      /* a joint value or pose is not finite, or a quaternion is zero */
};

/* What a robot has several of. */
enum {
    IK_NODE_JOINTS = 0,   /* joint values, in the order of q */
    IK_NODE_LINKS = 1,    /* links */
    IK_NODE_GOALS = 2,    /* goals, in the order of the export */
    IK_NODE_CLOSURES = 3, /* loop closures */
    IK_NODE_CHAINS = 4,   /* independent chains, which have no names */
    IK_NODE_ACTUATORS = 5, /* actuators of the transmission */
    IK_NODE_ROWS = 6      /* rows of its joint space: joint values, then six for each link */
};

/* A robot with its loops and goals, read from a file. */
typedef struct ik_node_robot ik_node_robot;

/* One solve of a robot's goals: workspace and results. */
typedef struct ik_node_problem ik_node_problem;

/* ---- library ---- */

/* Return IK_NODE_INTERFACE of the library. */
IK_NODE_API int ik_node_interface(void);

/* Return the digest of the sources of the library, which a file of a robot must have as well. */
IK_NODE_API const char *ik_node_digest(void);

/* Return a sentence about an error or the name of an outcome; never NULL. The text is static. */
IK_NODE_API const char *ik_node_text(int code);

/* ---- robot ---- */

/*
 * Read a robot from a file. Allocates memory; the caller owns *robot and frees it with
 * `ik_node_free`. The file may come from anywhere: every number in it is checked.
 *
 * Returns 0, or IK_NODE_ERROR_ARGUMENT, _FILE, _FORMAT, _VERSION, _MEMORY or _PROCESSOR; *robot is
 * then NULL.
 */
IK_NODE_API int ik_node_load(const char *path, ik_node_robot **robot);

/* The same for the content of a file. It is copied: the caller may free it afterwards. */
IK_NODE_API int ik_node_load_memory(const void *content, size_t size, ik_node_robot **robot);

/* Free a robot, after all its problems; NULL is allowed. */
IK_NODE_API void ik_node_free(ik_node_robot *robot);

/* Return the name of the robot, in UTF-8; the robot owns it. */
IK_NODE_API const char *ik_node_robot_name(const ik_node_robot *robot);

/* Return how many joints, links ... a robot has (IK_NODE_JOINTS ...), or IK_NODE_ERROR_ARGUMENT. */
IK_NODE_API int ik_node_count(const ik_node_robot *robot, int what);

/* Return the name of a joint, link, goal or closure, in UTF-8; NULL = there is none. */
IK_NODE_API const char *ik_node_name(const ik_node_robot *robot, int what, int index);

/* Return the index of the first one with a name, or IK_NODE_ERROR_ARGUMENT. */
IK_NODE_API int ik_node_find(const ik_node_robot *robot, int what, const char *name);

/* Return the limits of all joints [rad or m]; infinite = none. The robot owns the arrays. */
IK_NODE_API const double *ik_node_lower(const ik_node_robot *robot);
IK_NODE_API const double *ik_node_upper(const ik_node_robot *robot);

/* Return the joint values at the export [rad or m], with closed loops. The robot owns the array. */
IK_NODE_API const double *ik_node_start(const ik_node_robot *robot);

/* Return 1 if a joint has a motor, 0 if it has none; IK_NODE_ERROR_ARGUMENT = no such joint. */
IK_NODE_API int ik_node_is_actuated(const ik_node_robot *robot, int joint);

/* Return the axes that a goal constrains, bits 0 to 5 = X Y Z EX EY EZ (or an error). */
IK_NODE_API int ik_node_goal_axes(const ik_node_robot *robot, int goal);

/* Return the chain that a goal belongs to, or IK_NODE_ERROR_ARGUMENT. */
IK_NODE_API int ik_node_goal_chain(const ik_node_robot *robot, int goal);

/* Return the characteristic length of a chain [m], which counts as much as 1 rad; 0 = no such. */
IK_NODE_API double ik_node_length(const ik_node_robot *robot, int chain);

/*
 * Set the coupled values of q (mimic joints) from the values of their masters, within their limits.
 * `ik_node_solve` does this as well; kinematics take q as it is.
 */
IK_NODE_API void ik_node_follow(const ik_node_robot *robot, double *q);

/* ---- problem ---- */

/*
 * Make a problem for a robot, which must live longer. Allocates all memory that its solves need;
 * the caller owns *problem and frees it with `ik_node_problem_free`.
 *
 * Returns 0, IK_NODE_ERROR_ARGUMENT or IK_NODE_ERROR_MEMORY; *problem is then NULL.
 */
IK_NODE_API int ik_node_problem_new(const ik_node_robot *robot, ik_node_problem **problem);

/* Free a problem; NULL is allowed. */
IK_NODE_API void ik_node_problem_free(ik_node_problem *problem);

/*
 * Set the limits of later solves, (joints) [rad or m], as long as they lie within those of the robot;
 * infinite = the robot's. A joint whose two limits are equal stays where a solve starts. For an
 * answer near a configuration, limit the joints around it. Coupled joints follow their masters.
 *
 * Returns 0, or IK_NODE_ERROR_ARGUMENT if a lower limit is not below or at its upper one.
 */
IK_NODE_API int ik_node_limits(ik_node_problem *problem, const double *lower, const double *upper);

/*
 * Solve for poses of all goals: begin a new solve, and end one that is under way.
 *
 * problem     problem
 * q0          start, (joints) [rad or m]; NULL = the start of the robot. For a goal that moves
 *             continuously, take the last result (`ik_node_q`).
 * positions   (goals, 3) [m]; NULL only if there are no goals
 * quats_xyzw  (goals, 4), normalised if they are not; for a goal without rotations 0 0 0 1 will do
 * steps       largest number of steps of this call, over all chains; 0 = until the solve ends.
 *             A step of six joints takes about a microsecond. Steps that only close loops count.
 *
 * Returns IK_NODE_CONVERGED ... IK_NODE_TIMEOUT at the end of the solve, and IK_NODE_RUNNING if the
 * steps are spent before. Errors: IK_NODE_ERROR_ARGUMENT; IK_NODE_ERROR_INPUT, after which the
 * problem has no result until the next solve.
 */
IK_NODE_API int ik_node_solve(ik_node_problem *problem, const double *q0, const double *positions,
                              const double *quats_xyzw, int steps);

/*
 * Go on with the solve that is under way, for at most so many steps; 0 = until it ends. Slices of
 * any length lead to the same result. After the end it returns the outcome again.
 */
IK_NODE_API int ik_node_continue(ik_node_problem *problem, int steps);

/*
 * Make the solve that is under way come to its end: it begins nothing new and closes the loops,
 * which takes up to some dozens of steps of `ik_node_continue`.
 */
IK_NODE_API int ik_node_interrupt(ik_node_problem *problem);

/*
 * Return the result, (joints) [rad or m], within the limits; while a solve is under way the values
 * are those of the start for each chain that has not ended. The problem owns the array, and the
 * next solve overwrites it.
 */
IK_NODE_API const double *ik_node_q(const ik_node_problem *problem);

/* Return what the last call of `ik_node_solve` or `ik_node_continue` returned. */
IK_NODE_API int ik_node_status(const ik_node_problem *problem);

/* Return the outcome of one chain, as above, or IK_NODE_ERROR_ARGUMENT. */
IK_NODE_API int ik_node_chain_status(const ik_node_problem *problem, int chain);

/* Return the steps towards goals, of the chain with the most; a slice counts all its steps. */
IK_NODE_API int64_t ik_node_steps(const ik_node_problem *problem);

/* Return the steps that only closed loops, of the chain with the most. */
IK_NODE_API int64_t ik_node_closing_steps(const ik_node_problem *problem);

/* Return the number of starts, of the chain with the most; 1 = no restart. */
IK_NODE_API int64_t ik_node_starts(const ik_node_problem *problem);

/*
 * Write the norms of a residual: of the position rows [m] and of the orientation rows [rad]. They
 * are those of the result, or of the present iterate while the solve is under way.
 *
 * Returns 0 or IK_NODE_ERROR_ARGUMENT.
 */
IK_NODE_API int ik_node_goal_error(const ik_node_problem *problem, int goal, double error[2]);
IK_NODE_API int ik_node_closure_error(const ik_node_problem *problem, int closure,
                                      double error[2]);

/* ---- kinematics ---- */

/*
 * Write the poses of all links in the root frame, (links, 7): position [m] and quaternion xyzw with
 * w >= 0. They do not disturb a solve that is under way.
 *
 * q is (joints) [rad or m], taken as it is: closures and couplings are not applied. Returns 0,
 * IK_NODE_ERROR_ARGUMENT or IK_NODE_ERROR_INPUT.
 */
IK_NODE_API int ik_node_forward(ik_node_problem *problem, const double *q, double *poses);

/*
 * Write the geometric Jacobian of a link's origin in the axes of the root frame, (6, joints):
 * linear rows [m], then angular rows [rad], per [rad or m]. Every joint counts as free: closures
 * and couplings are not applied. Arguments and errors as for `ik_node_forward`.
 */
IK_NODE_API int ik_node_jacobian(ik_node_problem *problem, const double *q, int link,
                                 double *jacobian);

/* ---- transmission ---- */

/*
 * Position, velocity and effort between the actuators and the joint space of the export
 * (`--actuators`, `--joints`), through closed loops; docs/transmission.md explains the signs.
 */
typedef struct ik_node_transmission ik_node_transmission;

/* What a transmission returns; see `ik_node_transmission_get`. */
enum {
    IK_NODE_VELOCITY = 0,          /* (joints) of all joints [rad/s or m/s] */
    IK_NODE_ACTUATOR_POSITION = 1, /* (actuators) [rad or m] */
    IK_NODE_ACTUATOR_VELOCITY = 2, /* (actuators) [rad/s or m/s] */
    IK_NODE_ACTUATOR_EFFORT = 3,   /* (actuators) [N m or N] */
    IK_NODE_ROW_POSITION = 4,      /* (rows) [rad or m]; of a link position and rotation vector */
    IK_NODE_ROW_VELOCITY = 5,      /* (rows) [rad/s or m/s] */
    IK_NODE_ROW_EFFORT = 6,        /* (rows) [N m or N] */
    IK_NODE_MOTION = 7,            /* (joints, actuators) d joint / d actuator */
    IK_NODE_RATIO = 8,             /* (rows, actuators) d row / d actuator */
    IK_NODE_SINGULARITY = 9        /* (2) from 1 to 0 in a singularity of type II, of type I */
};

/*
 * Make a transmission for a robot, which must live longer. Allocates all memory that its calls need;
 * the caller owns *transmission and frees it with `ik_node_transmission_free`.
 *
 * Returns 0, IK_NODE_ERROR_ARGUMENT (also for a robot exported without one), or
 * IK_NODE_ERROR_MEMORY; *transmission is then NULL.
 */
IK_NODE_API int ik_node_transmission_new(const ik_node_robot *robot,
                                         ik_node_transmission **transmission);

/* Free a transmission; NULL is allowed. */
IK_NODE_API void ik_node_transmission_free(ik_node_transmission *transmission);

/*
 * Start the next call from q, (joints) [rad or m] with closed loops, which decides the assembly;
 * NULL = the start of the robot. Without this, a call starts from the result of the one before.
 *
 * Returns 0, IK_NODE_ERROR_ARGUMENT or IK_NODE_ERROR_INPUT.
 */
IK_NODE_API int ik_node_transmission_start(ik_node_transmission *transmission, const double *q);

/*
 * Carry positions, velocities and efforts of the actuators to the joint space, or back.
 *
 * position  (actuators) or (rows) [rad or m]; of a link position [m] and rotation vector [rad]
 * velocity  the same [rad/s or m/s]; NULL = not wanted
 * effort    the same [N m or N]; NULL = not wanted
 *
 * Returns IK_NODE_CONVERGED; IK_NODE_STALLED if limits, loops or a singularity end the way to the
 * position: the results are then those where it ends; IK_NODE_ERROR_ARGUMENT; IK_NODE_ERROR_INPUT.
 * A small step takes a few microseconds; a long way is walked in parts of at most 0.1 rad, a
 * bounded number of them.
 */
IK_NODE_API int ik_node_to_joints(ik_node_transmission *transmission, const double *position,
                                  const double *velocity, const double *effort);
IK_NODE_API int ik_node_to_actuators(ik_node_transmission *transmission, const double *position,
                                     const double *velocity, const double *effort);

/* Return all joint values of the last call, (joints) [rad or m]. The transmission owns the array. */
IK_NODE_API const double *ik_node_transmission_q(const ik_node_transmission *transmission);

/*
 * Return a part of the result of the last call, IK_NODE_VELOCITY ...; NULL = there is none. What was
 * not given has no meaning. The transmission owns the array, and the next call overwrites it.
 */
IK_NODE_API const double *ik_node_transmission_get(const ik_node_transmission *transmission,
                                                   int part);

#ifdef __cplusplus
}
#endif

#endif
