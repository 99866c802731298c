/*
 * The floats of hand_written_ankle.py in C: the transmission of the gallery's ankle, written by hand.
 *
 * The equations and their source are in hand_written_ankle.py. Angles in [rad], lengths in [m].
 */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <time.h>

struct rod {
    double length;
    double motor[3];
    double heel[3];
};

static const double CRANK = 0.04;
static const struct rod RODS[2] = {
    {0.25, {0.005, 0.03, 0.24}, {-0.035, 0.03, -0.01}},
    {0.2, {0.005, -0.03, 0.19}, {-0.035, -0.03, -0.01}},
};
/* The forward position is found when the rods' constraints are met to this [m^2]. */
static const double CLOSED = 1e-16;
enum { MOST_STEPS = 20 };

/* Cosine and sine of pitch and roll. */
struct turn {
    double cp, sp, cr, sr;
};

static struct turn turn_of(double pitch, double roll)
{
    struct turn r = {cos(pitch), sin(pitch), cos(roll), sin(roll)};
    return r;
}

/* Write the heel relative to the motor to u, and to derivative d f / d pitch and d f / d roll. */
static void heel(struct turn r, const struct rod *rod, double u[3], double derivative[2][3])
{
    const double *h = rod->heel;
    double y = r.cr * h[1] - r.sr * h[2], up = r.sr * h[1] + r.cr * h[2];
    double x = r.cp * h[0] + r.sp * up, z = r.cp * up - r.sp * h[0];
    u[0] = x - rod->motor[0];
    u[1] = y - rod->motor[1];
    u[2] = z - rod->motor[2];
    derivative[0][0] = z;
    derivative[0][1] = 0.0;
    derivative[0][2] = -x;
    derivative[1][0] = r.sp * y;
    derivative[1][1] = -up;
    derivative[1][2] = r.cp * y;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Convert pitch and roll: angles, velocities and efforts, to those of the left and right motor. */
void hand_to_motors(const double ankle[6], double motors[6])
{
    struct turn r = turn_of(ankle[0], ankle[1]);
    double rate[2][2];
    for (int side = 0; side < 2; ++side) {
        const struct rod *rod = &RODS[side];
        double u[3], derivative[2][3];
        heel(r, rod, u, derivative);
        double a = 2.0 * CRANK * u[0], b = -2.0 * CRANK * u[2];
        double c = rod->length * rod->length - CRANK * CRANK - dot(u, u);
        double t = atan2(b, a) - acos(c / sqrt(a * a + b * b));
        double ct = CRANK * cos(t), st = CRANK * sin(t);
        double d[3] = {u[0] + ct, u[1], u[2] - st};
        double scale = 1.0 / (d[0] * st + d[2] * ct);
        rate[side][0] = scale * dot(d, derivative[0]);
        rate[side][1] = scale * dot(d, derivative[1]);
        motors[side] = t;
        motors[2 + side] = rate[side][0] * ankle[2] + rate[side][1] * ankle[3];
    }
    double scale = 1.0 / (rate[0][0] * rate[1][1] - rate[0][1] * rate[1][0]);
    motors[4] = scale * (rate[1][1] * ankle[4] - rate[1][0] * ankle[5]);
    motors[5] = scale * (rate[0][0] * ankle[5] - rate[0][1] * ankle[4]);
}

/* Convert angles, velocities and efforts of the motors to those of pitch and roll. */
void hand_to_ankle(const double motors[6], const double start[2], double ankle[6])
{
    double pin[2][2], rate[2][2], by_motor[2], gap[2], scale = 0.0;
    double pitch = start[0], roll = start[1];
    for (int side = 0; side < 2; ++side) {
        pin[side][0] = CRANK * cos(motors[side]);
        pin[side][1] = CRANK * sin(motors[side]);
    }
    for (int step = 0; step < MOST_STEPS; ++step) {
        struct turn r = turn_of(pitch, roll);
        for (int side = 0; side < 2; ++side) {
            const struct rod *rod = &RODS[side];
            double u[3], derivative[2][3];
            heel(r, rod, u, derivative);
            double d[3] = {u[0] + pin[side][0], u[1], u[2] - pin[side][1]};
            gap[side] = 0.5 * (dot(d, d) - rod->length * rod->length);
            rate[side][0] = dot(d, derivative[0]);
            rate[side][1] = dot(d, derivative[1]);
            by_motor[side] = d[0] * pin[side][1] + d[2] * pin[side][0];
        }
        scale = 1.0 / (rate[0][0] * rate[1][1] - rate[0][1] * rate[1][0]);
        if (fabs(gap[0]) < CLOSED && fabs(gap[1]) < CLOSED)
            break;
        pitch -= scale * (rate[1][1] * gap[0] - rate[0][1] * gap[1]);
        roll -= scale * (rate[0][0] * gap[1] - rate[1][0] * gap[0]);
    }
    double left = by_motor[0] * motors[2], right = by_motor[1] * motors[3];
    double v = motors[4] / by_motor[0], w = motors[5] / by_motor[1];
    ankle[0] = pitch;
    ankle[1] = roll;
    ankle[2] = scale * (rate[1][1] * left - rate[0][1] * right);
    ankle[3] = scale * (rate[0][0] * right - rate[1][0] * left);
    ankle[4] = rate[0][0] * v + rate[1][0] * w;
    ankle[5] = rate[0][1] * v + rate[1][1] * w;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/*
 * Return the time of one call [s], of count calls that take the rows of in, (rows, 6), in turn.
 * hand_to_ankle starts at the same row of starts, (rows, 2).
 */
double hand_time(int is_forward, long count, const double *in, const double *starts, long rows)
{
    double out[6], sum = 0.0, begin = now();
    for (long call = 0; call < count; ++call) {
        long row = call % rows;
        if (is_forward)
            hand_to_ankle(in + 6 * row, starts + 2 * row, out);
        else
            hand_to_motors(in + 6 * row, out);
        sum += out[0];
    }
    double each = (now() - begin) / (double)count;
    return sum == sum ? each : -1.0;
}

typedef int (*carry_t)(void *, const double *, const double *, const double *);

/*
 * Return the time of one call of ik_node_to_joints or ik_node_to_actuators [s], of count calls that
 * take position, velocity and effort from the rows of in, (rows, 6), in turn.
 */
double call_time(carry_t carry, void *transmission, long count, const double *in, long rows)
{
    int status = 0;
    double begin = now();
    for (long call = 0; call < count; ++call) {
        const double *row = in + 6 * (call % rows);
        status |= carry(transmission, row, row + 2, row + 4);
    }
    double each = (now() - begin) / (double)count;
    return status == 0 ? each : -1.0;
}
