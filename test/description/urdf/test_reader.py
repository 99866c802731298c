"""URDF: every joint type, every default, and that values mean what URDF says."""

from ik_node.description.read import read_description
from ik_node.model.dof import DOF
from ik_node.model.rotation import pose_matrix, quat_from_euler
import numpy as np
import pytest
from support.robot_texts import AXIS, joint, urdf


def one(type_name, inside=''):
    """Return a URDF of one joint j from a to b."""
    return urdf('a b', joint('j', 'a', 'b', inside, type_name))


def turn(axis, angle):
    """Return the 3x3 rotation about a unit axis, by Rodrigues' formula."""
    k = np.cross(np.eye(3), np.asarray(axis, dtype=float))
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


AXES = ['1 0 0', '0 1 0', '0 0 1', '-1 0 0', '0 -1 0', '0 0 -1', '1 -2 0.5', '0 1e-9 1', '3 0 0']


def test_joint_of_one_axis_is_read():
    """The child link is at origin times motion about or along the axis, for any axis."""
    for axis in AXES:
        for type_name in ['revolute', 'continuous', 'prismatic']:
            inside = f'<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="{axis}"/><limit/>'
            description = read_description(one(type_name, inside))
            joint, link = description.joints['j'], description.links['b']
            joint.set_dof_values(0.7)
            direction = np.array([float(part) for part in axis.split()])
            direction /= np.linalg.norm(direction)
            motion = np.eye(4)
            if type_name == 'prismatic':
                motion[:3, 3] = 0.7 * direction
            else:
                motion[:3, :3] = turn(direction, 0.7)
            wanted = pose_matrix((1, 2, 3), quat_from_euler(0.1, 0.2, 0.3)) @ motion
            np.testing.assert_allclose(link.matrix_world, wanted, atol=1e-14)
            assert joint.value_names == ('j',)


@pytest.mark.parametrize(
    ('axis', 'dofs'),
    [
        ('0 0 1', [DOF.X, DOF.Y, DOF.EZ]),
        ('1 0 0', [DOF.Y, DOF.Z, DOF.EX]),
        ('0 1 0', [DOF.X, DOF.Z, DOF.EY]),
        ('0 1 1', [DOF.X, DOF.Y, DOF.EZ]),
    ],
)
def test_planar_joint_is_read(axis, dofs):
    """Two translations in the plane normal to the axis, and a turn about it."""
    description = read_description(one('planar', f'<axis xyz="{axis}"/>'))
    joint, link = description.joints['j'], description.links['b']
    assert joint.dof == dofs
    joint.set_dof_values(*(0.3 if dof < DOF.EX else 0.5 for dof in dofs))
    normal = np.array([float(part) for part in axis.split()])
    normal /= np.linalg.norm(normal)
    assert link.get_world_position() @ normal == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(link.matrix_world[:3, :3], turn(normal, 0.5), atol=1e-15)


def test_joint_order_is_the_file_order():
    """Links and joints keep the order of the file, whatever the tree."""
    ends = joint('z', 'b', 'c'), joint('m', 'a', 'd', kind='fixed'), joint('y', 'a', 'b')
    description = read_description(urdf('d c b a', *ends))
    assert list(description.links) == ['d', 'c', 'b', 'a']
    assert list(description.joints) == ['z', 'm', 'y']
    assert [joint.name for joint in description.joint_order] == ['z', 'y']
    assert description.root is description.links['a']
    assert (description.name, description.dialect, description.source) == ('r', 'URDF', '<text>')


def test_start_and_quaternion_origin_are_read():
    """A joint starts at the nearest value to zero that it may have; `quat_xyzw` turns it."""
    inside = '<axis xyz="0 0 1"/><limit lower="0.5" upper="2"/>'
    assert read_description(one('revolute', inside)).joints['j'].get_dof_value(DOF.EZ) == 0.5
    text = one('fixed', '<origin xyz="1 0 0" quat_xyzw="0 0 2 0"/>')
    world = read_description(text).links['b'].matrix_world
    np.testing.assert_allclose(world, pose_matrix((1, 0, 0), (0, 0, 1, 0)), atol=1e-15)


def test_mimic_is_read():
    """Multiplier and offset default to 1 and 0; the mimic of a mimic follows it."""
    text = urdf(
        'a b c d',
        joint('k', 'b', 'c', AXIS + '<mimic joint="j" multiplier="-2" offset="0.5"/>'),
        joint('j', 'a', 'b', AXIS + '<mimic joint="i"/>'),
        joint('i', 'a', 'd'),
    )
    joints = read_description(text).joints
    assert joints['j'].couplings[DOF.EZ].master is joints['i']
    assert joints['j'].couplings[DOF.EZ].coefficients == (0.0, 1.0)
    assert joints['k'].couplings[DOF.EZ].master is joints['j']
    assert joints['k'].couplings[DOF.EZ].coefficients == (0.5, -2.0)


def test_elements_without_kinematic_meaning_are_ignored(capfd):
    """Meshes, dynamics, foreign elements and half-written ones neither fail nor print."""
    inside = (
        '<dynamics/><safety_controller soft_lower_limit="1"/><calibration bad="x"/>'
        '<limit lower="-1" upper="1"/><axis xyz="0 0 1"/><drake:mimic joint="x"/>'
    )
    extra = '<frame name="f"/><gazebo reference="a"/><transmission/><material name="m" x="y"/>'
    text = one('revolute', inside).replace(
        '<link name="a"/>',
        '<link name="a"><visual><geometry><mesh filename="package://x/y.stl" scale="bad"/>'
        '</geometry></visual><inertial><inertia ixx="none"/></inertial></link>' + extra,
    )
    description = read_description(text)
    assert description.joints['j'].get_max_limit(DOF.EZ) == 1.0
    assert capfd.readouterr() == ('', '')
