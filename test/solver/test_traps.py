"""Difficult starts and goals: straight arms, half turns, bounds and locks."""

from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.building import Mechanism
from support.mechanisms import MECHANISMS

UNIT = (0, 0, 0, 1)
ONE_START = SolverOptions(restarts=0)


def straight(count, limits=None):
    """Return a planar arm of unit links along x."""
    m = Mechanism('straight')
    m.root('base')
    parent = 'base'
    for k in range(count):
        m.joint(f'h{k}', parent, 'EZ', (1.0 if k else 0.0, 0, 0), limits=limits)
        parent = f'h{k}_link'
    m.tip('end', parent, (1, 0, 0))
    m.goal('goal', 'end', 'X Y')
    return m


@pytest.mark.parametrize('share', [0.99, 0.6])
@pytest.mark.parametrize(('name', 'towards'), [('arm7', (0, 0, 0.36)), ('snake', (0, 0, 0))])
def test_stretched_arm_in_space_reaches_goal_straight_inwards(name, towards, share):
    """The hand keeps its orientation."""
    m = MECHANISMS[name]()
    solver = m.solver(ONE_START)
    q0 = np.zeros(len(solver.joint_names))
    ((goal, frame),) = m.goals.items()
    position, quat = m.pose_of(frame.child.name, solver.joint_names, q0)
    wanted = towards + share * (position - towards)
    solution = solver.solve_pose({goal: (wanted, quat)}, q0)
    assert solution.status is Status.CONVERGED, solution.message


def test_orientation_half_a_turn_away_is_reached():
    """About any axis."""
    for axis in [(0, 1, 0), (0.6, 0, 0.8)]:
        for name, link in [('ball', 'wrist_link'), ('free_body', 'hand'), ('walker', 'body')]:
            m = MECHANISMS[name]()
            position, quat = m.pose_of(link)
            turned = Rotation.from_rotvec(np.pi * np.array(axis)) * Rotation.from_quat(quat)
            solver = m.solver(ONE_START)
            solution = solver.solve_pose({link: (position, turned.as_quat())})
            assert solution.status is Status.CONVERGED, solution.message
            there = m.naive(solver.joint_names, solution.q).world(m.links[link])
            np.testing.assert_allclose(there[:3, :3], turned.as_matrix(), atol=3e-6)
            np.testing.assert_allclose(there[:3, 3], position, atol=1e-6)


def test_axis_pointing_opposite_way_is_aligned():
    """The hand may turn about this axis."""
    for axes in ['world', 'goal', 'link']:
        for name, free in [('ball', 'EX'), ('arm7', 'EY'), ('arm6', 'EZ')]:
            m = MECHANISMS[name]()
            goal = m.goals['hand_goal']
            goal.set_goal_dof(*({'EX', 'EY', 'EZ'} - {free}))
            goal.axes = axes
            _, quat = m.pose_of('hand')
            other = Rotation.from_quat(quat).as_matrix()[
                :, (['EX', 'EY', 'EZ'].index(free) + 1) % 3
            ]
            turned = Rotation.from_rotvec(np.pi * other) * Rotation.from_quat(quat)
            goals = {'hand_goal': ((0, 0, 0), turned.as_quat())}
            if axes == 'world':  # the turn's own axis `free` is of the root frame
                start = np.eye(3)[(['EX', 'EY', 'EZ'].index(free) + 1) % 3]
                turned = Rotation.from_rotvec(-np.pi * start) * Rotation.from_quat(quat)
                goals = {'hand_goal': ((0, 0, 0), turned.as_quat())}
            before = m.naive().error(goal, goals['hand_goal'])
            assert before[1] == pytest.approx(np.pi, abs=1e-3)
            solver = m.solver()
            solution = solver.solve_pose(goals)
            assert solution.status is Status.CONVERGED, solution.message
            there = m.naive(solver.joint_names, solution.q)
            assert there.error(goal, goals['hand_goal'])[1] <= 1e-6
            assert there.limit_excess() <= 0.0


def test_start_with_every_joint_on_limit_reaches_goal():
    """Every joint has to leave its limit."""
    for name, bound in [('arm7', 'lower'), ('mixed', 'upper')]:
        m = MECHANISMS[name]()
        solver, rng = m.solver(), np.random.default_rng(5)
        lower = np.array([j.min_dof_limit[d] for j, d in solver.tree.owner])
        upper = np.array([j.max_dof_limit[d] for j, d in solver.tree.owner])
        (goal,) = m.goals
        for _ in range(5):
            q = 0.5 * m.random_q(solver.joint_names, rng, 9)
            goals = {goal: m.pose_of(m.goals[goal].child.name, solver.joint_names, q)}
            solution = solver.solve_pose(goals, lower if bound == 'lower' else upper)
            assert solution.status is Status.CONVERGED, solution.message


LOCKED = ['ball', 'coupled', 'hexapod']


def all_locked(name):
    """Return a closed mechanism without free joints."""
    m = MECHANISMS[name]()
    solver = m.solver()
    solver.q = solver.solve_pose({}).q
    for joint in m.joints.values():
        joint.lock()
    return m


def test_fully_locked_robot_is_stalled_and_keeps_q():
    """No exception is raised."""
    for name in LOCKED:
        m = all_locked(name)
        solver = m.solver()
        q0 = solver.q
        for goal in m.goals.values():
            goal.set_position(3, 3, 3)
        solution = solver.solve_pose(dict.fromkeys(m.goals, ((3, 3, 3), UNIT)))
        assert solution.status is Status.STALLED
        np.testing.assert_array_equal(solution.q, q0)
        assert max(result.status for result in solver.solve()) is Status.STALLED
        np.testing.assert_array_equal(solver.q, q0)


def test_locked_axis_of_ball_leaves_other_axes_free():
    """A lock fixes one axis only."""
    m = MECHANISMS['ball']()
    m.joints['wrist'].lock('EY')
    m.joints['shoulder'].lock('EX')
    solver = m.solver()
    q = solver.q
    for name in ('wrist.EX', 'wrist.EZ', 'shoulder.EY', 'shoulder.EZ', 'elbow'):
        q[solver.joint_names.index(name)] += 0.3
    solution = solver.solve_pose({'hand_goal': m.pose_of('hand', solver.joint_names, q)})
    assert solution.status is Status.CONVERGED
    for name, value in (('wrist.EY', 0.0), ('shoulder.EX', 0.1)):
        assert solution.q[solver.joint_names.index(name)] == value
