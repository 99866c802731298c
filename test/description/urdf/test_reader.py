"""URDF: every joint type, every default, and that values mean what URDF says."""

from ik_node.description.read import read_description
from ik_node.model.dof import DOF
from ik_node.model.rotation import pose_matrix, quat_from_euler
import numpy as np
from support.robot_texts import joint, urdf


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
