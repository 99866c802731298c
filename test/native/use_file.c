/*
 * Call what takes the numbers of a file: use_file ROBOT. A crash or a report of a sanitizer fails.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ik_node/ik_node.h"

static int use(const ik_node_robot *robot)
{
    ik_node_problem *problem;
    int code = ik_node_problem_new(robot, &problem);
    if (code != 0)
        return code;
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
    free(poses);
    free(jacobian);
    free(goal_poses);
    ik_node_problem_free(problem);
    return 0;
}

int main(int count, char **words)
{
    ik_node_robot *robot = NULL;
    int code = count == 2 ? ik_node_load(words[1], &robot) : 1;
    if (code == 0)
        code = use(robot);
    ik_node_free(robot);
    return code != 0;
}
