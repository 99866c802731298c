"""The answer does not depend on names, order, position, other chains and other solvers."""

from itertools import permutations

from ik_node.model.joint import Joint
from ik_node.solver.options import SolverOptions
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.building import Mechanism, split
from support.closed_mechanisms import string_of_bodies
from support.mechanisms import MECHANISMS

NAMES = ['mixed', 'ball', 'hexapod', 'walker']
ONE_START = SolverOptions(restarts=0)


def near_goals(mechanism, seed=2, spread=0.2):
    """Return goal poses of a closed configuration near home."""
    solver, rng = mechanism.solver(), np.random.default_rng(seed)
    closed = solver.solve_pose({}, mechanism.random_q(solver.joint_names, rng, spread)).q
    there = mechanism.naive(solver.joint_names, closed)
    return {name: split(there.ends(goal)[0]) for name, goal in mechanism.goals.items()}


def answer(mechanism, goals, options=ONE_START):
    """Solve and return the values by name."""
    solver = mechanism.solver(options)
    solution = solver.solve_pose(goals)
    assert solution.status is Status.CONVERGED, solution.message
    return dict(zip(solver.joint_names, solution.q.tolist(), strict=True))


def test_order_of_joints_does_not_change_values_by_name():
    """Only the order of q changes."""
    for name in NAMES:
        goals = near_goals(MECHANISMS[name]())
        first = answer(MECHANISMS[name](), goals)

        class Told:
            """A robot whose description lists its joints in reverse order."""

            def __init__(self, mechanism):
                self.roots = mechanism.roots
                self.joint_order = [
                    f for f in mechanism.naive().frames if isinstance(f, Joint) and f.dof
                ][::-1]

        m = MECHANISMS[name]()
        solver = Solver(Told(m), ONE_START)
        found = solver.solve_pose(goals)
        assert list(first) != solver.joint_names
        by_name = dict(zip(solver.joint_names, found.q, strict=True))
        assert by_name == pytest.approx(first, abs=1e-9)


def test_moving_robot_and_goals_together_keeps_joint_values():
    """Robot and goals moved together: the same joint values."""
    for name in [n for n in NAMES if n != 'walker']:
        goals = near_goals(MECHANISMS[name]())
        there = np.eye(4)
        there[:3, :3] = Rotation.from_euler('xyz', (0.4, -0.7, 1.9)).as_matrix()
        there[:3, 3] = (1.5, -2.0, 0.7)
        first_robot, m = MECHANISMS[name](), MECHANISMS[name]()
        for robot in (first_robot, m):
            for goal in robot.goals.values():
                goal.axes = 'goal'
        first = answer(first_robot, goals)
        for root in (link for link in m.links.values() if link.parent is None):
            position, quat = split(there @ root.matrix_world)
            root.set_position(*position)
            root.set_quaternion(*quat)
        moved = {}
        for goal, (position, quat) in goals.items():
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = Rotation.from_quat(quat).as_matrix(), position
            moved[goal] = split(there @ pose)
        assert answer(m, moved) == pytest.approx(first, abs=2e-6)


def test_mirrored_robot_has_mirrored_answer():
    """A planar arm and its mirror image."""
    m = Mechanism('mirror')
    m.root('base')
    parent = 'base'
    for k in range(3):
        m.joint(f'h{k}', parent, 'EZ', (1.0 if k else 0.0, 0, 0))
        m.joints[f'h{k}'].set_dof_values((0.3, 0.5, -0.4)[k])
        parent = f'h{k}_link'
    m.tip('end', parent, (1, 0, 0))
    m.goal('goal', 'end', 'X Y')
    solver = m.solver(ONE_START)
    first = solver.solve_pose({'goal': ((1.0, 1.4, 0), (0, 0, 0, 1))}).q
    second = solver.solve_pose({'goal': ((1.0, -1.4, 0), (0, 0, 0, 1))}, -solver.q).q
    np.testing.assert_allclose(second, -first, atol=1e-9)


@pytest.mark.parametrize('order', list(permutations(range(4)))[1::7], ids=str)
def test_connected_bodies_close_in_every_order_of_roots(order):
    """A-M, M-B and B-C are one chain."""
    m = string_of_bodies(order)
    solver = m.solver()
    (result,) = solver.solve()
    assert result.status is Status.CONVERGED
    assert set(result.closure_errors) == {'AM', 'MB', 'BC'}
    there = m.naive()
    assert max(max(there.error(c)) for c in m.closures.values()) <= 1e-6
