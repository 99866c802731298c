"""The benchmark of goals out of reach: its own kinematics, and some of its goals."""

import ik_node as ik
from nearest import cases, measure, Searches
import numpy as np
import pytest

CASES = cases()


@pytest.mark.parametrize('name', CASES)
def test_rows_have_the_slopes_of_their_differences(name):
    """The Jacobian that SciPy is given is that of the rows."""
    case = CASES[name]
    searches, q = Searches(case), case.home + np.random.default_rng(0).uniform(-0.05, 0.05)
    slopes = np.concatenate(searches.rows(q)[2:])
    for column, step in enumerate(1e-6 * np.eye(q.size)):
        after, before = (np.concatenate(searches.rows(q + sign * step)[:2]) for sign in (1, -1))
        np.testing.assert_allclose((after - before) / 2e-6, slopes[:, column], atol=1e-8)


@pytest.mark.parametrize(('name', 'searches'), [('ur5', 20), ('fivebar', 20), ('3-UPU', 5)])
def test_no_search_gets_nearer(name, searches):
    """A few goals of the benchmark: loops closed, limits kept, one per cent from the best."""
    row = measure(name, CASES[name], 4, searches)
    assert max(row.shares) <= 1.01
    assert (row.open_loops, row.beyond_limits) == (0, 0)


def test_assembly_that_only_closed_loops_lead_to_is_found():
    """A turned platform of the 3-UPU is nearer; no start that opens the loops finds it."""
    case = CASES['3-UPU']
    plain = case.mechanism
    robot = ik.load_robot(plain.urdf(), closures=plain.closures(), assemble=False)
    robot.add_goal(case.link, name='goal', dof=case.dof)
    solver = ik.Solver(robot)
    order = [solver.joint_names.index(joint) for joint in plain.names]
    start, position = np.zeros(len(order)), np.array((0.2, 0.2, 0.9))
    start[order] = case.home
    solution = solver.solve_pose({'goal': (position, (0, 0, 0, 1))}, start)
    searches = Searches(case)
    searches.goal = (position, np.eye(3))
    gap, loops, _, _ = searches.rows(solution.q[order])
    assert np.abs(loops).max() <= 1e-6
    assert np.linalg.norm(gap) <= 1.01 * 0.3290  # the other assembly ends at 0.3603 m


def test_position_rows_are_divided_by_the_length():
    """A length of 2 m halves position rows and their slopes, and leaves the others."""
    case = CASES['ur5']
    rows = {}
    for length in (1.0, 2.0):
        gap, _, slope, _ = Searches(case, length).rows(case.home)
        rows[length] = np.column_stack((gap, slope))
    np.testing.assert_allclose(rows[2.0][:3], rows[1.0][:3] / 2.0)
    np.testing.assert_array_equal(rows[2.0][3:], rows[1.0][3:])
