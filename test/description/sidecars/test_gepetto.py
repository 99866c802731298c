"""Gepetto's robot.yaml: what it says to the model, real robots against truth, and its faults."""

from ik_node.description.read import read_description
from ik_node.model.dof import DOF
import numpy as np
import pytest
from support.robot_texts import joint, urdf

# Joints about y, off their parents.
OFF = '<origin xyz="1 2 3" rpy="0 0 1"/><axis xyz="0 1 0"/>'
LIMITED = OFF + '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
ROBOT = urdf(
    'base left right rod tip',
    joint('motor', 'base', 'left', LIMITED, 'revolute'),
    joint('free', 'base', 'right', OFF),
    joint('to_rod', 'right', 'rod', LIMITED + '<mimic joint="free"/>', 'revolute'),
    joint('tip_frame', 'rod', 'tip', OFF, 'fixed'),
)


def read(text):
    """Read the robot with such a file."""
    return read_description(ROBOT, closures=text + '\n')


def test_loops_and_motors_are_read():
    """A link, a fixed joint or a movable one names a frame; 3d is a point, 6d all axes."""
    description = read(
        "closed_loop: [['left', 'tip_frame'], ['motor', 'to_rod'], ['left', 'tip']] \n"
        "type: ['6D', '3d', '3D'] \nname_mot: ['motor', 'free'] \n"
    )
    assert description.dialect == 'URDF + Gepetto YAML'
    assert description.actuated == ['motor', 'free']
    links = {
        name: (closure.child.name, closure.parent.name, len(closure.dof))
        for name, closure in description.closures.items()
    }
    assert links == {
        'left__tip_frame': ('left', 'tip', 6),
        'motor__to_rod': ('left', 'rod', 3),
        'left__tip': ('left', 'tip', 3),
    }
    assert all((closure.matrix == np.eye(4)).all() for closure in description.closures.values())


def test_dict_with_equal_pairs_is_read():
    """A dict will do; a pair that comes twice gets a name of its own."""
    pairs = {'closed_loop': [('left', 'rod'), ('left', 'rod')], 'type': ['3d', '6d']}
    description = read_description(ROBOT, closures=pairs)
    assert list(description.closures) == ['left__rod', 'left__rod_2']


def test_the_world_is_a_frame():
    """The link `world` need not be declared."""
    (closure,) = read('closed_loop: [[world, tip]]\ntype: [6d]').closures.values()
    assert closure.child.name == 'world'


def test_joints_become_spherical_or_fixed():
    """The joint keeps origin and links; its axis, limits and mimic are gone."""
    description = read(
        'name_mot: [motor]\njoint_name: [to_rod, free]\njoint_type: [SPHERICAL, FIXED]'
    )
    ball, fixed = description.joints['to_rod'], description.joints['free']
    assert ball.dof == [DOF.EX, DOF.EY, DOF.EZ]
    assert ball.position.tolist() == [1, 2, 3]
    assert ball.child.name == 'rod'
    assert not ball.couplings
    assert fixed.dof == []
    note = "joint 'to_rod': its <mimic> is removed, as joint_name changes its type"
    assert note in description.notes
    assert [joint.name for joint in description.joint_order] == ['motor', 'to_rod']


@pytest.mark.parametrize('name', ['UJOINT_ZX', 'UJOINTZX', 'ujoint_zx'])
def test_universal_joint_becomes_two_joints(name):
    """One joint becomes two, about the first axis at the origin, then about the second."""
    description = read(
        'closed_loop: [[right, motor_Z], [right, motor_X], [right, motor]]\ntype: [3d, 3d, 6d]\n'
        f'name_mot: [free]\njoint_name: [motor]\njoint_type: [{name}]'
    )
    assert list(description.joints)[:3] == ['motor_Z', 'motor_X', 'free']
    first, second = description.joints['motor_Z'], description.joints['motor_X']
    assert (first.dof, second.dof) == ([DOF.EZ], [DOF.EX])
    assert (first.child.name, second.child.name) == ('motor_Z', 'left')
    assert first.min_dof_limit[DOF.EZ] == -np.inf
    first.set_dof_values(0.3)
    second.set_dof_values(0.5)
    x, z = np.eye(4), np.eye(4)
    x[1:3, 1:3] = [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]]
    z[0:2, 0:2] = [[np.cos(1.3), -np.sin(1.3)], [np.sin(1.3), np.cos(1.3)]]  # 1 is the origin's
    z[:3, 3] = [1, 2, 3]
    np.testing.assert_allclose(description.links['left'].matrix_world, z @ x, atol=1e-12)
    ends = [closure.parent.name for closure in description.closures.values()]
    assert ends == ['motor_Z', 'left', 'left']


def test_a_link_between_finds_a_free_name():
    """The link between the two halves gives way to a link of that name."""
    text = ROBOT.replace('name="tip"', 'name="free_X"').replace(
        'child link="tip"', 'child link="free_X"'
    )
    types = {'name_mot': [], 'joint_name': ['free'], 'joint_type': ['UJOINT_XY']}
    description = read_description(text, closures=types)
    assert description.joints['free_X'].child.name == 'free_X_'
    assert description.joints['tip_frame'].child.name == 'free_X'
    assert description.joints['to_rod'].couplings == {}  # it mimics what is no longer there
    note = "joint 'to_rod': its <mimic> is removed, as joint_name changes the type of 'free'"
    assert note in description.notes
