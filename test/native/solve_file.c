/*
 * Solve the problems of a file and write the answers: solve_file ROBOT PROBLEMS ANSWERS [STEPS].
 *
 * A problem is q0 (joints), positions (goals, 3) and quaternions (goals, 4). An answer is status,
 * steps, q (joints), and the residual norms of all goals and closures. All are float64. With STEPS,
 * every call makes at most so many steps.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ik_node/ik_node.h"

static int fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

int main(int count, char **words)
{
    ik_node_robot *robot;
    ik_node_problem *problem;
    if (count < 4)
        return fail("usage: solve_file ROBOT PROBLEMS ANSWERS [STEPS]");
    int code = ik_node_load(words[1], &robot);
    if (code < 0 || (code = ik_node_problem_new(robot, &problem)) < 0)
        return fail(ik_node_text(code));
    FILE *problems = fopen(words[2], "rb"), *answers = fopen(words[3], "wb");
    int steps = count > 4 ? atoi(words[4]) : 0;
    int joints = ik_node_count(robot, IK_NODE_JOINTS), goals = ik_node_count(robot, IK_NODE_GOALS);
    int closures = ik_node_count(robot, IK_NODE_CLOSURES);
    size_t size = (size_t)(joints + 7 * goals);
    double *given = malloc((size + 1) * sizeof *given);
    if (problems == NULL || answers == NULL || given == NULL)
        return fail("cannot open the files");
    while (size > 0 && fread(given, sizeof *given, size, problems) == size) {
        const double *positions = given + joints, *quats = positions + 3 * goals;
        int status = ik_node_solve(problem, given, positions, quats, steps);
        while (status == IK_NODE_RUNNING)
            status = ik_node_continue(problem, steps);
        double head[2] = {status, (double)ik_node_steps(problem)}, error[2];
        fwrite(head, sizeof *head, 2, answers);
        fwrite(ik_node_q(problem), sizeof *given, (size_t)joints, answers);
        for (int at = 0; at < goals + closures; at++) {
            if (at < goals)
                ik_node_goal_error(problem, at, error);
            else
                ik_node_closure_error(problem, at - goals, error);
            fwrite(error, sizeof *error, 2, answers);
        }
    }
    fclose(problems);
    if (fclose(answers) != 0)
        return fail("cannot write the answers");
    free(given);
    ik_node_problem_free(problem);
    ik_node_free(robot);
    return 0;
}
