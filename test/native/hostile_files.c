/*
 * Load damaged copies of a file: hostile_files ROBOT COUNT SEED. Each is cut short, has bytes
 * flipped or numbers replaced by others that mean something. A copy that is accepted is solved with
 * a budget of steps. Prints how many were accepted; a crash or a report of a sanitizer fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ik_node/ik_node.h"

static uint64_t state;

static uint64_t draw(uint64_t end)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % end;
}

/* Damage a copy and return its new size; the head stays, so that the loader reads on. */
static size_t damage(unsigned char *content, size_t size)
{
    static const int64_t odd[] = {-1, 0, 1, 2, 6, 7, 64, 1000, -2, INT64_MIN, INT64_MAX, 1 << 24};
    static const size_t head = 32;
    if (draw(5) == 0)
        return draw(size + 1);
    for (uint64_t left = 1 + draw(4); left > 0; left--) {
        size_t at = head + draw(size - head);
        if (draw(3) == 0)
            content[at] ^= (unsigned char)(1 << draw(8));
        else if (size - head >= 8) {
            int64_t number;
            at = head + 8 * draw((size - head) / 8);
            memcpy(&number, content + at, 8);
            if (draw(2) == 0)
                number = (int64_t)((uint64_t)number + draw(5) - 2);
            else
                number = odd[draw(sizeof odd / sizeof *odd)];
            memcpy(content + at, &number, 8);
        }
    }
    return size;
}

static int use(const ik_node_robot *robot)
{
    ik_node_problem *problem;
    int code = ik_node_problem_new(robot, &problem);
    if (code != 0)
        return code == IK_NODE_ERROR_MEMORY ? 0 : 1;
    size_t joints = (size_t)ik_node_count(robot, IK_NODE_JOINTS);
    size_t links = (size_t)ik_node_count(robot, IK_NODE_LINKS);
    size_t goals = (size_t)ik_node_count(robot, IK_NODE_GOALS);
    double *poses = calloc(7 * links + 1, sizeof *poses);
    double *jacobian = calloc(6 * joints + 1, sizeof *jacobian);
    double *goal_poses = calloc(7 * goals + 1, sizeof *goal_poses);
    if (poses != NULL && jacobian != NULL && goal_poses != NULL) {
        for (size_t goal = 0; goal < goals; goal++)
            goal_poses[3 * goals + 4 * goal + 3] = 1.0;
        ik_node_solve(problem, NULL, goal_poses, goal_poses + 3 * goals, 40);
        ik_node_interrupt(problem);
        for (int slice = 0; slice < 4; slice++)
            ik_node_continue(problem, 10);
        ik_node_forward(problem, ik_node_start(robot), poses);
        for (size_t link = 0; link < links; link++)
            ik_node_jacobian(problem, ik_node_start(robot), (int)link, jacobian);
    }
    size_t actuators = (size_t)ik_node_count(robot, IK_NODE_ACTUATORS);
    size_t rows = (size_t)ik_node_count(robot, IK_NODE_ROWS);
    double *given = calloc(actuators + rows + 1, sizeof *given);
    ik_node_transmission *transmission;
    if (given != NULL && ik_node_transmission_new(robot, &transmission) == 0) {
        ik_node_to_joints(transmission, given, given, given);
        ik_node_to_joints(transmission, given, given, given);
        ik_node_to_actuators(transmission, given, given, given);
        ik_node_transmission_free(transmission);
    }
    free(given);
    for (int what = IK_NODE_JOINTS; what <= IK_NODE_ROWS; what++)
        for (int at = 0; what != IK_NODE_CHAINS && at < ik_node_count(robot, what); at++)
            if (strlen(ik_node_name(robot, what, at)) > 1000000)
                return 1;
    free(poses);
    free(jacobian);
    free(goal_poses);
    ik_node_problem_free(problem);
    return 0;
}

int main(int count, char **words)
{
    FILE *file = count == 4 ? fopen(words[1], "rb") : NULL;
    if (file == NULL)
        return 1;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    unsigned char *content = malloc(size), *copy = malloc(size);
    if (content == NULL || copy == NULL || fread(content, 1, size, file) != size)
        return 1;
    fclose(file);
    state = 88172645463325252u + (uint64_t)atoi(words[3]);
    int accepted = 0, copies = atoi(words[2]);
    for (int at = 0; at < copies; at++) {
        memcpy(copy, content, size);
        size_t left = damage(copy, size);
        ik_node_robot *robot;
        int code = ik_node_load_memory(copy, left, &robot);
        if (code == 0) {
            accepted++;
            if (use(robot) != 0)
                return 1;
            ik_node_free(robot);
        } else if (code == IK_NODE_ERROR_ARGUMENT || robot != NULL)
            return 1;
    }
    free(content);
    free(copy);
    printf("%d of %d accepted\n", accepted, copies);
    return 0;
}
