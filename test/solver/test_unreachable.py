"""Unreachable goals: loops stay closed, and the answer is the best minimum of all starts."""

from math import pi
import re

import ik_node as ik
from ik_node.native import is_compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.building import Mechanism
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


NEAR = SolverOptions(restarts=0)
# How far away goals are [m].
AWAY = {'arm7': 1.5, 'fivebar': 1.2, 'two_arm_box': 1.5}
GOALS, STARTS = 5, 20


def residual(mechanism, solver, q, asked):
    """Return the norm of all goal rows by the oracle, with loops closed and limits kept."""
    there = mechanism.naive(solver.joint_names, q)
    assert all(max(there.error(closure)) <= 1e-6 for closure in mechanism.closures.values())
    assert there.limit_excess() <= 0.0
    rows = [there.residual(mechanism.goals[name], pose) for name, pose in asked.items()]
    return float(np.linalg.norm(np.concatenate([part for pair in rows for part in pair])))


def poses_away(mechanism, rng, size):
    """Return poses of all goals, moved and turned away from where they are met."""
    asked, there = {}, mechanism.naive()
    for name, goal in mechanism.goals.items():
        here = there.ends(goal)[0]
        way = rng.normal(size=3) * goal.dof_flags[:3]
        turn = Rotation.from_rotvec(rng.uniform(-1.5, 1.5, 3)) * Rotation.from_matrix(here[:3, :3])
        asked[name] = (here[:3, 3] + size * way / np.linalg.norm(way), turn.as_quat())
    return asked


@pytest.mark.skipif(not is_compiled(), reason='thousands of steps')
@pytest.mark.parametrize('name', AWAY)
def test_no_single_search_beats_answer_by_one_percent(name):
    """Twenty searches from random starts."""
    m = {**MECHANISMS, **GALLERY}[name]()
    solver, single, rng = m.solver(), m.solver(NEAR), np.random.default_rng(8)
    missed = 0
    for _ in range(GOALS):
        asked = poses_away(m, rng, AWAY[name])
        solution = solver.solve_pose(asked)
        if solution.status is Status.CONVERGED:
            continue
        missed += 1
        starts = [m.random_q(solver.joint_names, rng, pi) for _ in range(STARTS)]
        others = [single.solve_pose(asked, start).q for start in starts]
        best = min(residual(m, solver, q, asked) for q in others if closed(m, solver, q))
        assert residual(m, solver, solution.q, asked) <= 1.01 * best
    assert missed >= GOALS // 2


def closed(mechanism, solver, q):
    """Return True if the oracle finds the loops closed at q."""
    there = mechanism.naive(solver.joint_names, q)
    return all(max(there.error(closure)) <= 1e-6 for closure in mechanism.closures.values())


def mirrored_arm():
    """Return two hinges that cannot turn straight backwards, symmetric to both sides."""
    m = Mechanism('mirrored')
    m.root('base')
    m.joint('shoulder', 'base', 'EZ', limits=(-2.0, 2.0))
    m.joint('elbow', 'shoulder_link', 'EZ', (0.5, 0, 0), limits=(-0.5, 0.5))
    m.tip('end', 'elbow_link', (0.4, 0, 0))
    m.goal('goal', 'end', 'X Y')
    return m


@pytest.mark.parametrize('side', [1, -1])
def test_equal_minima_are_decided_by_side_of_start(side):
    """The goal is straight behind."""
    m = mirrored_arm()
    solver = m.solver()
    for value in (0.2, 0.7, 1.4, 1.9):
        solution = solver.solve_pose({'goal': ((-0.9, 0, 0), UNIT)}, (side * value, side * 0.2))
        assert solution.status is Status.STALLED
        np.testing.assert_allclose(solution.q, (side * 2.0, side * 0.5), atol=1e-6)


@pytest.mark.parametrize('first', ['hand_goal', 'elbow'])
def test_first_priority_goal_gets_its_own_best_answer(first):
    """Two unreachable goals contradict each other."""
    m = MECHANISMS['arm7']()
    m.goal('elbow', 'j4_link', 'X Y Z')
    for name, goal in m.goals.items():
        goal.priority = 0 if name == first else 1
    asked = {'hand_goal': ((-0.9, 0.8, 0.9), (0.5, 0.5, 0.5, 0.5)), 'elbow': ((0.8, 0, 0.1), UNIT)}
    solver, alone = m.solver(), {first: asked[first]}
    both, single = solver.solve_pose(asked), solver.solve_pose(alone)
    assert both.status is single.status is Status.STALLED
    found = residual(m, solver, both.q, alone)
    assert found == pytest.approx(residual(m, solver, single.q, alone), rel=0.011)
