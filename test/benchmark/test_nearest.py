"""The benchmark of unreachable goals: its kinematics, and some of its goals."""

import ik_node as ik
from nearest import cases, measure, Searches
import numpy as np
import pytest

CASES = cases()


@pytest.mark.parametrize('name', ['ur5', '3-RUU', 'fivebar'])
def test_jacobian_passed_to_scipy_equals_differences(name):
    case = CASES[name]
    searches, q = Searches(case), case.home + np.random.default_rng(0).uniform(-0.05, 0.05)
    slopes = np.concatenate(searches.rows(q)[2:])
    for column, step in enumerate(1e-6 * np.eye(q.size)):
        after, before = (np.concatenate(searches.rows(q + sign * step)[:2]) for sign in (1, -1))
        np.testing.assert_allclose((after - before) / 2e-6, slopes[:, column], atol=1e-8)


@pytest.mark.parametrize(('name', 'goals', 'searches'), [('ur5', 20, 20), ('fivebar', 3, 20)])
def test_answer_is_mostly_within_one_percent_of_best_search(name, goals, searches):
    row = measure(name, CASES[name], goals, searches)
    assert np.mean(np.array(row.shares) <= 1.01) >= 0.9
    assert max(row.shares) <= 1.15
    assert (row.open_loops, row.beyond_limits) == (0, 0)


def test_turned_assembly_of_3upu_is_found():
    case = CASES['3-UPU']
    plain = case.mechanism
    robot = ik.load_robot(plain.urdf(), closures=plain.closures(), assemble=False)
    robot.add_goal(case.link, name='goal', dof=case.dof)
    solver = ik.Solver(robot, ik.SolverOptions(restarts=300))
    order = [solver.joint_names.index(joint) for joint in plain.names]
    start, position = np.zeros(len(order)), np.array((0.2, 0.2, 0.9))
    start[order] = case.home
    solution = solver.solve_pose({'goal': (position, (0, 0, 0, 1))}, start)
    searches = Searches(case)
    searches.goal = (position, np.eye(3))
    gap, loops, _, _ = searches.rows(solution.q[order])
    assert np.abs(loops).max() <= 1e-6
    assert np.linalg.norm(gap) <= 1.01 * 0.3290  # the other assembly ends at 0.3603 m
