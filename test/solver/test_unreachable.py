"""Unreachable goals: loops stay closed, and the answer is the best minimum of all starts."""

from math import pi
import pickle
import re

import ik_node as ik
from ik_node.native import is_compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.gallery_mechanisms import GALLERY
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)


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


def narrow_arm(random):
    """Return an arm of one to six joints with random limits, which turn or slide."""
    count = int(random.integers(1, 7))
    middle, half = random.uniform(-2, 2, count), random.uniform(0.05, 2, count)
    kinds = ''.join(random.choice(list('RRRP'), count))
    scale = np.where(np.array(list(kinds)) == 'R', 180 / pi, 1.0)[:, None]
    rows = np.c_[random.uniform(-0.5, 0.5, (count, 2)), random.choice([0, 90, 37], count)]
    limits = np.c_[middle - half, middle + half] * scale
    rows = np.c_[rows, np.zeros(count)]
    return ik.from_dh(rows, degrees=True, joints=kinds, limits=limits)


@pytest.mark.parametrize('dof', ['X Y Z EX EY EZ', 'X Y Z', 'X Y'])
def test_no_reachable_goal_is_proven_out_of_reach(dof):
    """One step of a solve, which rarely gets there, has no proof for poses of the robot."""
    random = np.random.default_rng(5)
    robots = [ik.load_robot(name) for name in ('arm6', 'hexapod', 'fivebar', 'gripper')]
    for robot in [*robots, *(narrow_arm(random) for _ in range(12))]:
        link = list(robot.links)[-1]
        robot.add_goal(link, dof=dof, name='asked')
        solver = ik.Solver(robot, ik.SolverOptions(restarts=0, max_iterations=1))
        for pose in robot.forward(robot.sample(12, seed=4), link):
            solution = solver.solve_pose({'asked': pose})
            assert solution.proof == ''
            assert solution.searched == 1.0


def test_limits_that_keep_a_goal_away_are_a_proof():
    """Behind the sector of the first joint, too near for the elbow, and a wrist that ends."""
    arm = ik.from_dh([(0, 1, 0, 0), (0, 0.8, 0, 0)], degrees=True, limits=[(-60, 60), (10, 170)])
    arm.add_goal('link2', dof='X Y', name='tip')
    solver = ik.Solver(arm)
    for angles in ((-1.0, 0.2), (1.0, 2.9), (0.3, 1.4)):
        here = arm.forward(angles, 'link2')[:3, 3]
        assert solver.solve_pose({'tip': (here, UNIT)}).proof == ''
    for point in ((-1.2, 0.4, 0), (1.795, 0, 0), (0.2, 0, 0), (0.3, -1.4, 0)):
        solution = solver.solve_pose({'tip': (point, UNIT)})
        assert not solution.converged
        assert re.search("limits meet goal 'tip'", solution.proof)
        assert pickle.loads(pickle.dumps(solution)).proof == solution.proof
    wrist = ik.from_dh(
        [(0, 0, 90, 0), (0, 0, -90, 0), (0.1, 0, 0, 0)], degrees=True, limits=[(-30, 30)] * 3
    )
    for angle, reason in ((0.4, ''), (1.5, "no joint values within limits meet goal 'link3'")):
        pose = wrist.forward(np.zeros(3), 'link3')
        pose[:3, :3] = pose[:3, :3] @ Rotation.from_euler('z', angle).as_matrix()
        assert ik.Solver(wrist).solve_pose({'link3': pose}).proof == reason


def test_search_that_is_cut_off_tells_its_share():
    """Each of two goals can be reached alone, so that there is no proof."""
    robot = ik.load_robot('arm6')
    solver = ik.Solver(robot, ik.SolverOptions(restarts=9, time_budget=1e-9))
    poses = {
        link: robot.forward(robot.q + angle, link)
        for link, angle in zip(list(robot.links)[3:], (0.3, 0.0, 0.6), strict=False)
    }
    solution = solver.solve_pose(poses)
    assert not solution.converged
    assert solution.proof == ''
    assert 0.0 < solution.searched < 0.5


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
