/*
 * Count the allocations of a loop of solves: no_allocation ROBOT. Then let allocations fail one
 * after the other: loading and making a problem return IK_NODE_ERROR_MEMORY and leak nothing.
 *
 * The functions below replace those of the C library (glibc) in this process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ik_node/ik_node.h"

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static long calls, live, made, fail_at = -1;

static int fails(void)
{
    calls++;
    if (made++ != fail_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    if (fails())
        return NULL;
    live++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (fails())
        return NULL;
    live++;
    return __libc_calloc(count, size);
}

void *realloc(void *at, size_t size)
{
    if (fails())
        return NULL;
    live += at == NULL;
    return __libc_realloc(at, size);
}

void free(void *at)
{
    calls++;
    live -= at != NULL;
    __libc_free(at);
}

static int loop(const char *path)
{
    ik_node_robot *robot;
    ik_node_problem *problem;
    if (ik_node_load(path, &robot) != 0 || ik_node_problem_new(robot, &problem) != 0)
        return 1;
    double poses[7 * 512], jacobian[6 * 512], error[2];
    int links = ik_node_count(robot, IK_NODE_LINKS), goals = ik_node_count(robot, IK_NODE_GOALS);
    double positions[3 * 16], quats[4 * 16];
    if (links > 512 || goals > 16)
        return 1;
    ik_node_forward(problem, ik_node_start(robot), poses);
    long before = calls, solves = 0;
    for (int tick = 0; tick < 200; tick++) {
        for (int goal = 0; goal < goals; goal++) {
            int link = ik_node_find(robot, IK_NODE_LINKS, ik_node_name(robot, IK_NODE_GOALS, goal));
            for (int k = 0; k < 3; k++)
                positions[3 * goal + k] = poses[7 * link + k] + 1e-4 * tick;
            for (int k = 0; k < 4; k++)
                quats[4 * goal + k] = poses[7 * link + 3 + k];
        }
        int status = ik_node_solve(problem, ik_node_q(problem), positions, quats, 3);
        if (tick % 50 == 49)
            ik_node_interrupt(problem);
        while (status == IK_NODE_RUNNING)
            status = ik_node_continue(problem, 10);
        ik_node_goal_error(problem, 0, error);
        solves += status >= 0;
        ik_node_jacobian(problem, ik_node_q(problem), links - 1, jacobian);
    }
    printf("%ld solves, %ld calls of the allocator\n", solves, calls - before);
    ik_node_problem_free(problem);
    ik_node_transmission *transmission;
    if (ik_node_transmission_new(robot, &transmission) == 0) {
        double given[64] = {0.0};
        before = calls;
        for (int tick = 0; tick < 200; tick++) {
            given[0] = 1e-4 * tick;
            ik_node_to_joints(transmission, given, given, given);
            ik_node_to_actuators(transmission, given, given, given);
        }
        printf("transmission: %ld allocations\n", calls - before);
        ik_node_transmission_free(transmission);
    }
    ik_node_free(robot);
    return 0;
}

int main(int count, char **words)
{
    ik_node_robot *robot;
    ik_node_problem *problem;
    if (count != 2 || loop(words[1]) != 0)
        return 1;
    int refused = 0, all_failed = 0;
    for (long at = 0; !all_failed; at++) {
        long begin = live;
        made = 0;
        fail_at = at;
        int code = ik_node_load(words[1], &robot);
        ik_node_transmission *transmission = NULL;
        problem = NULL;
        if (code == 0)
            code = ik_node_problem_new(robot, &problem);
        if (code == 0 && ik_node_count(robot, IK_NODE_ACTUATORS) > 0)
            code = ik_node_transmission_new(robot, &transmission);
        all_failed = made <= at;
        fail_at = -1;
        ik_node_transmission_free(transmission);
        ik_node_problem_free(problem);
        ik_node_free(robot);
        refused += code == IK_NODE_ERROR_MEMORY;
        /* The C library needs memory to open a file. */
        if (live != begin || (code < 0 && code != IK_NODE_ERROR_MEMORY && at > 0)) {
            printf("allocation %ld: %s, %ld left over\n", at, ik_node_text(code), live - begin);
            return 1;
        }
    }
    printf("%d allocations refused\n", refused);
    return 0;
}
