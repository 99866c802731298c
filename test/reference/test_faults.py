"""Faults of the reference library that ik_node does not have, and that no other test shows."""

from dataclasses import replace

import ik_node as ik
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.solver.options import SolverOptions
from ik_node.solver.status import Status
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.building import Mechanism

UNIT = (0, 0, 0, 1)
ONE_START = SolverOptions(restarts=0)
# What is nearest to the reference library's own loop.
PLAIN = replace(ONE_START, adaptive_damping=False)


def arm(count, limits=None, values=None):
    """Return a planar arm of hinges, 1 m each, with a position goal for its end."""
    m = Mechanism('arm')
    m.root('base')
    parent = 'base'
    for k in range(count):
        m.joint(f'j{k}', parent, 'EZ', (1.0 if k else 0.0, 0, 0), limits=limits)
        m.joints[f'j{k}'].set_dof_values(values[k] if values else 0.0)
        parent = f'j{k}_link'
    m.tip('end', parent, (1, 0, 0))
    m.goal('goal', 'end', 'X Y')
    return m


@pytest.mark.parametrize(('bend', 'damping'), [(0.4, 0.05), (1e-4, 0.5), (0.0, 0.05)])
def test_small_singular_values_are_damped(bend, damping):
    """Version A drops small ones and does not damp the others."""
    m = arm(3)
    goals, start = {'goal': ((2.7, 0.5, 0), UNIT)}, (0.1, bend, bend)
    options = replace(PLAIN, max_iterations=1, damping_factor=damping)
    solver = m.solver(options)
    plain = solver.solve_pose(goals, start).q
    solver.options = replace(options, use_svd=True)
    by_svd = solver.solve_pose(goals, start).q
    solver.options = options
    again = solver.solve_pose(goals, start).q
    assert np.abs(plain - start).max() > 1e-3
    np.testing.assert_allclose(by_svd, plain, atol=1e-9)
    np.testing.assert_array_equal(again, plain)


@pytest.mark.parametrize('held', ['lock', 'limit'])
def test_locked_axis_does_not_shift_rest_pose_of_later_joints(held):
    """In the reference library each later joint uses the rest value of the one before."""
    m = Mechanism('row')
    m.root('base')
    parent, wanted = 'base', {}
    for k, rest in enumerate((0.4, -0.5, 0.6)):
        joint = m.joint(f'j{k}', parent, 'X EZ')
        joint.set_rest_pose_values(0.2, rest)
        wanted[f'j{k}.EZ'], parent = rest, f'j{k}_link'
    if held == 'lock':
        m.joints['j0'].lock('X')
    else:
        m.joints['j0'].set_limits('X', 0.0, 0.0)
    m.goal('goal', parent, 'Z')
    solver = m.solver()
    for _ in range(10):
        assert solver.solve()[0].status is Status.CONVERGED
    found = dict(zip(solver.joint_names, solver.q, strict=True))
    assert found['j0.X'] == 0.0
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-3)


def test_joint_leaves_limit_within_one_solve():
    """The reference library locks a clamped value for the rest of the call."""
    m = arm(3, (-1.2, 1.2))
    start = np.array((-0.4, -0.8, -0.1))
    goals = {'goal': m.pose_of('end', ['j0', 'j1', 'j2'], (0.7, -0.6, -1.0))}
    first = m.solver(replace(ONE_START, max_iterations=1)).solve_pose(goals, start)
    assert first.active_limits == ('j0', 'j1', 'j2')
    whole = m.solver(ONE_START).solve_pose(goals, start)
    assert whole.status is Status.CONVERGED
    assert whole.active_limits == ()


@pytest.mark.parametrize('move', [3e-6, 1e-8])
def test_small_goal_motions_are_followed(move):
    """The reference library ignores motions below 1e-5 m."""
    m = arm(2, values=(0.4, 0.8))
    solver = m.solver(SolverOptions(translation_converge_threshold=1e-12))
    position = m.pose_of('end')[0]
    for _ in range(5):
        position = position + np.array((move, 0, 0))
        m.goals['goal'].set_position(*position)
        assert solver.solve()[0].status is Status.CONVERGED
    np.testing.assert_allclose(m.pose_of('end')[0], position, atol=1e-12)


def test_free_closure_joint_constrains_nothing():
    """A closure joint with six free axes closes at any pose within its limits."""
    m = arm(1)
    m.goals['goal'].enabled = False
    pin = m.joint('pin', 'base', 'X Y Z EX EY EZ', (0.2, 0.1, 0.3), limits=(-2, 2))
    pin.remove_child(pin.child)
    pin.make_closure(m.links['end'])
    m.joints['j0'].lock()
    (result,) = m.solver().solve()
    assert result.status is Status.CONVERGED
    assert pin.dof == list(DOF)
    np.testing.assert_allclose(pin.get_dof_position(), (0.8, -0.1, -0.3), atol=1e-6)


@pytest.mark.parametrize('turn', [(0.3, -0.4, 0.5), (2.0, 0.1, -1.0)])
def test_root_rotation_is_applied(turn):
    """In the reference library it cancels itself."""
    root = ik.robot_to_ik_root(ik.load_robot('<robot name="r"><link name="a"/></robot>'))
    quat = Rotation.from_euler('xyz', turn).as_quat()
    ik.set_ik_from_urdf(root, {'root': ((1, 2, 3), quat)})
    there = Rotation.from_euler('xyz', turn).as_matrix()
    np.testing.assert_allclose(root.matrix_world[:3, :3], there, atol=1e-14)
    assert isinstance(root, Joint)
    assert root.get_dof_position().tolist() == [1, 2, 3]
    values = {}
    ik.set_urdf_from_ik(values, root)
    back = Rotation.from_quat(values['root'][1]).as_matrix()
    np.testing.assert_allclose(back, there, atol=1e-14)


def test_planar_and_mimic_joints_are_read():
    """In the reference library a planar joint with a child throws, and mimic is ignored."""
    robot = ik.load_robot(
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>'
        '<joint name="p" type="planar"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '</joint><joint name="h" type="continuous"><parent link="b"/><child link="c"/>'
        '<axis xyz="0 0 1"/></joint><joint name="m" type="continuous"><parent link="c"/>'
        '<child link="d"/><axis xyz="0 0 1"/><mimic joint="h" multiplier="2" offset="0.1"/>'
        '</joint></robot>'
    )
    root = ik.robot_to_ik_root(robot)
    ik.set_ik_from_urdf(root, {'p': (0.1, 0.2, 0.3), 'h': 0.5})
    values = {'p': None}
    ik.set_urdf_from_ik(values, root)
    assert values['p'].tolist() == [0.1, 0.2, 0.3]
    assert values['m'] == pytest.approx(1.1)
