"""Unreachable goals end at the best minimum of all starts, the nearest among equals."""

from math import pi

from ik_node.native import is_compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.building import Mechanism
from support.gallery_mechanisms import GALLERY
from support.mechanisms import MECHANISMS

NEAR = SolverOptions(restarts=0)
UNIT = (0, 0, 0, 1)
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
