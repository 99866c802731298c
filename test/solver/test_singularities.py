"""Arms, multi-DoF joints and loops leave starts with a rank-deficient Jacobian."""

from math import pi

from ik_node.native import is_compiled
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
from scipy.spatial.transform import Rotation
from support.building import split
from support.kernel_calls import Rows
from support.mechanisms import MECHANISMS

ONE_START = SolverOptions(restarts=0)
COUNT = 10 if is_compiled() else 2
# Where the wrist of arm6 is in line with its elbow.
ELBOW = -np.arctan2(0.02, 0.4)

ARMS = {
    'arm6 elbow': ('arm6', (0.2, 0.4, ELBOW, 0.3, 0.7, -0.2)),
    'arm6 wrist': ('arm6', (0.2, 0.4, 0.8, 0.3, 0.0, -0.2)),
    'arm6 elbow and wrist': ('arm6', (0.2, 0.4, ELBOW, 0.3, 0.0, -0.2)),
    'arm6 above its base': ('arm6', None),
    'arm7 straight up': ('arm7', (0.0,) * 7),
    'arm7 elbow': ('arm7', (0.1, 0.5, 0.2, 0.0, 0.3, 0.4, 0.1)),
    'arm7 shoulder and wrist': ('arm7', (0.1, 0.0, pi / 2, -1.2, pi / 2, 0.0, 0.1)),
    'planar straight': ('planar', (0.3, 0.0, 0.0)),
    'planar folded': ('planar', (0.2, pi, pi)),
    'ball straight': ('ball', (0.1, 0.2, -0.3, 0.0, 0.3, 0.1, 0.2)),
    'ball in gimbal lock': ('ball', (0.1, pi / 2, -0.3, 0.9, 0.3, -pi / 2, 0.2)),
    'free body in gimbal lock': ('free_body', (0.1, 0.2, 0.3, 0.2, pi / 2, 0.1, 0.0, 0.0)),
    'snake straight': ('snake', (0.0,) * 30),
}


def above_the_base(m):
    """Return values of arm6 with its wrist centre on the axis of its base."""
    m.tip('crossing', 'j5_link')
    reach, low, high = 0.0, 0.8, 1.6
    for _ in range(60):  # bisection of where the crossing is in front or behind
        middle = 0.5 * (low + high)
        q = np.array((0.0, -0.7, middle, 0.0, 0.5, 0.0))
        names = [f'j{i}' for i in range(1, 7)]
        reach = m.pose_of('crossing', names, q)[0][0]
        low, high = (middle, high) if reach < 0.0 else (low, middle)
    assert abs(reach) < 1e-9
    return q


def rank_lost(m, q):
    """Return the rank deficits of all rows and of the loops' rows, compared with nearby."""
    rows, rng = Rows(m), np.random.default_rng(0)
    lost = 0
    for size, sign in ((0.1, 1), (0.0, -1)):
        _, jacobian = rows.at(q + size * rng.uniform(0, 1, q.size))
        for names in (jacobian, m.closures):
            some = np.concatenate([np.zeros((1, q.size)), *(jacobian[name] for name in names)])
            lost += sign * np.linalg.matrix_rank(some, tol=1e-7)
    return lost


def reach_around(m, q, spread, options, count=COUNT):
    """Return poses of closed configurations around q."""
    solver, rng = m.solver(options), np.random.default_rng(1)
    for _ in range(count):
        closed = m.solver().solve_pose({}, q + rng.uniform(-spread, spread, q.size))
        assert closed.status is Status.CONVERGED
        there = m.naive(solver.joint_names, closed.q)
        goals = {name: split(there.ends(goal)[0]) for name, goal in m.goals.items()}
        solution = solver.solve_pose(goals, q)
        assert solution.status is Status.CONVERGED, solution.message
        found = m.naive(solver.joint_names, solution.q)
        for name, goal in m.goals.items():
            assert max(found.error(goal, goals[name])) <= 1e-6
        assert all(max(found.error(closure)) <= 1e-6 for closure in m.closures.values())
        assert found.limit_excess() <= 0.0


def test_arm_leaves_singular_start():
    """To near and distant poses, without restarts."""
    for case in ARMS:
        name, values = ARMS[case]
        m = MECHANISMS[name]()
        q = above_the_base(m) if values is None else np.array(values)
        if 'gimbal' not in case:  # that is one of Euler angles, not of the arm
            assert rank_lost(m, q) > 0
        for spread in (0.01, 0.3):
            reach_around(m, q, spread, ONE_START)


def test_singular_wrist_turns_about_every_axis():
    """Two wrist axes are in line."""
    m = MECHANISMS['arm6']()
    solver = m.solver(ONE_START)
    q = np.array(ARMS['arm6 wrist'][1])
    position, quat = m.pose_of('hand', solver.joint_names, q)
    for axis in np.eye(3):
        turned = (Rotation.from_rotvec(0.3 * axis) * Rotation.from_quat(quat)).as_quat()
        solution = solver.solve_pose({'hand_goal': (position, turned)}, q)
        assert solution.status is Status.CONVERGED, solution.message


def fivebar(**values):
    """Return a five-bar and its values."""
    m = MECHANISMS['fivebar']()
    return m, np.array([values[name] for name in m.solver().joint_names])


def left_stretched():
    """Return a five-bar with one arm straight."""
    end = 0.9 * np.array((np.cos(1.0), np.sin(1.0)))
    away = end - (0.4, 0.0)
    far, foot = np.hypot(*away), np.arctan2(away[1], away[0])
    bend = np.arccos((0.4**2 + far**2 - 0.5**2) / (2 * 0.4 * far))
    elbow = pi - np.arccos((0.4**2 + 0.5**2 - far**2) / (2 * 0.4 * 0.5))
    return fivebar(l1=1.0, l2=0.0, r1=foot - bend, r2=elbow)


def both_stretched():
    """Return a five-bar with both arms straight."""
    lean = np.arccos(0.2 / 0.9)
    return fivebar(l1=lean, l2=0.0, r1=pi - lean, r2=0.0)


def standing_straight():
    """Return a body on straight legs."""
    m = MECHANISMS['standing']()
    return m, m.solver().q


def parallelogram_flat():
    """Return the parallelogram at the intersection of its two branches."""
    return MECHANISMS['parallelogram'](), np.zeros(3)


def box_stretched():
    """Return two stretched arms on a box."""
    m = MECHANISMS['two_arm_box']()
    return m, np.zeros(len(m.solver().joint_names))


LOOPS = {
    f.__name__: f
    for f in (left_stretched, both_stretched, standing_straight, parallelogram_flat, box_stretched)
}


def test_loops_leave_singular_start():
    """With closed loops at start and goal."""
    for name in LOOPS:
        m, q = LOOPS[name]()
        there = m.naive(m.solver().joint_names, q)
        assert max(max(there.error(closure)) for closure in m.closures.values()) <= 1e-9
        assert rank_lost(m, q) > 0
        for spread in (0.01, 0.3):
            reach_around(m, q, spread, SolverOptions())
