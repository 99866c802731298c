/*
 * Two threads solve problems of one robot at once: two_threads ROBOT. Every answer has the bits of
 * the answer found without the other thread.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ik_node/ik_node.h"

#define TICKS 400

static const ik_node_robot *robot;

typedef struct {
    int number;
    double *answers; /* (TICKS, joints) */
    int failed;
} job_t;

static void *run(void *given)
{
    job_t *job = given;
    ik_node_problem *problem;
    int joints = ik_node_count(robot, IK_NODE_JOINTS), links = ik_node_count(robot, IK_NODE_LINKS);
    double *poses = malloc(7 * (size_t)links * sizeof *poses), position[3];
    job->failed = poses == NULL || ik_node_problem_new(robot, &problem) != 0;
    if (job->failed)
        return NULL;
    ik_node_forward(problem, ik_node_start(robot), poses);
    int link = ik_node_find(robot, IK_NODE_LINKS, ik_node_name(robot, IK_NODE_GOALS, 0));
    for (int tick = 0; tick < TICKS; tick++) {
        for (int k = 0; k < 3; k++)
            position[k] = poses[7 * link + k] + 2e-5 * tick * (k == job->number ? 1.0 : -0.5);
        int status = ik_node_solve(problem, ik_node_q(problem), position, poses + 7 * link + 3, 0);
        job->failed |= status < 0;
        memcpy(job->answers + tick * joints, ik_node_q(problem), (size_t)joints * sizeof(double));
    }
    ik_node_problem_free(problem);
    free(poses);
    return NULL;
}

int main(int count, char **words)
{
    ik_node_robot *loaded;
    if (count != 2 || ik_node_load(words[1], &loaded) != 0)
        return 1;
    robot = loaded;
    size_t size = (size_t)(TICKS * ik_node_count(robot, IK_NODE_JOINTS)) * sizeof(double);
    job_t alone[2], both[2];
    pthread_t threads[2];
    for (int at = 0; at < 2; at++) {
        alone[at] = (job_t){at, malloc(size), 0};
        both[at] = (job_t){at, malloc(size), 0};
        run(alone + at);
    }
    for (int at = 0; at < 2; at++)
        pthread_create(threads + at, NULL, run, both + at);
    int differ = 0;
    for (int at = 0; at < 2; at++) {
        pthread_join(threads[at], NULL);
        differ |= alone[at].failed || both[at].failed;
        differ |= memcmp(alone[at].answers, both[at].answers, size) != 0;
        free(alone[at].answers);
        free(both[at].answers);
    }
    ik_node_free(loaded);
    printf(differ ? "answers differ\n" : "answers are equal\n");
    return differ;
}
