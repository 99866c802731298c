"""Unreachable goals: loops stay closed, and goals are missed by the least."""

import re

import ik_node as ik
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from support.gallery_mechanisms import GALLERY
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)
OUT_OF_REACH = {
    'gallery_hexapod': {'goal': ((0.03, 0.0, 0.16), (0.1, 0.05, 0.0, 0.99))},
    'fivebar': {'tool': ((0.2, 1.5, 0), UNIT)},
    'fourbar': {'pen_goal': ((1.2, 1.4, 0), UNIT)},
    'hexapod': {'pose': ((0.1, 0.0, 1.1), (0.1, 0.05, 0.0, 0.99))},
    'two_arm_box': {'box_goal': ((1.3, 0.2, 0.5), (0.1, 0.0, 0.2, 0.97))},
    'universal_and_distance': {'plate_goal': ((0.3, 0.1, 0), UNIT)},
}


@pytest.fixture(params=OUT_OF_REACH)
def stretched(request):
    """Return a mechanism, its solver and the answer to an unreachable goal."""
    m = {**MECHANISMS, **GALLERY}[request.param]()
    solver = m.solver()
    goals = OUT_OF_REACH[request.param]
    for name, (position, quaternion) in goals.items():
        m.goals[name].set_position(*position)
        m.goals[name].set_quaternion(*quaternion)
    return m, solver, solver.solve_pose(goals)


def test_loops_stay_closed_for_distant_goal(stretched):
    """To 1e-6, within limits."""
    m, solver, solution = stretched
    assert solution.status is Status.STALLED
    there = m.naive(solver.joint_names, solution.q)
    assert max(max(there.error(c)) for c in m.closures.values()) <= 1e-6
    assert max(max(there.error(g)) for g in m.goals.values()) > 0.05
    assert there.limit_excess() <= 0.0


def test_loops_stay_closed_for_random_goals():
    """Near and far, with any number of iterations."""
    for name in ['fourbar_pinned', 'hexapod_single', 'walker', 'standing', 'string_of_bodies']:
        m = MECHANISMS[name]()
        m.goals or m.goal('any', next(iter(m.links)))
        rng = np.random.default_rng(12)
        for steps, restarts in ((1, 0), (3, 1), (100, 3)):
            solver = m.solver(SolverOptions(max_iterations=steps, restarts=restarts))
            start = m.solver().solve_pose({}).q
            for size in (0.3, 1.0, 5.0):
                goals = {n: (rng.uniform(-size, size, 3), rng.normal(size=4)) for n in m.goals}
                there = m.naive(solver.joint_names, solver.solve_pose(goals, start).q)
                assert max(max(there.error(c)) for c in m.closures.values()) <= 1e-6
                assert there.limit_excess() <= 0.0


@pytest.mark.parametrize(
    ('name', 'reason'), [('arm6', 'last axis'), ('hexapod', 'shorter'), ('fivebar', 'shorter')]
)
def test_distant_goal_comes_with_a_proof(name, reason):
    """Also without restarts; a goal that is reached has none."""
    robot = ik.load_robot(name)
    link = 'platform_link' if name == 'hexapod' else 'tool_link'
    solver = ik.Solver(robot, ik.SolverOptions(restarts=0))
    pose = robot.forward(robot.q, link)
    assert solver.solve_pose({link: pose}).proof == ''
    pose[0, 3] += 30.0
    solution = solver.solve_pose({link: pose})
    assert re.search(reason, solution.proof)
    assert solution.searched == 1.0


def test_no_reachable_goal_is_proven_out_of_reach():
    """One step of a solve, which rarely gets there, has no proof for poses of the robot."""
    for name in ('arm6', 'hexapod', 'fivebar', 'delta', 'gripper'):
        robot = ik.load_robot(name)
        link = list(robot.links)[-1]
        solver = ik.Solver(robot, ik.SolverOptions(restarts=0, max_iterations=1))
        q = robot.sample(300, seed=4)
        for pose in robot.forward(q, link):
            solution = solver.solve_pose({link: pose})
            assert solution.proof == ''
            assert solution.searched == 1.0


def test_search_that_is_cut_off_tells_its_share():
    """An orientation that this arm does not reach where it is, without a proof."""
    robot = ik.load_robot('arm6')
    solver = ik.Solver(robot, ik.SolverOptions(restarts=9, time_budget=1e-9))
    solution = solver.solve_pose({'tool_link': ((0.0, 0.0, 0.05), (0, 0, 0, 1))})
    assert not solution.converged
    assert solution.proof == ''
    assert solution.searched == pytest.approx(0.1)
