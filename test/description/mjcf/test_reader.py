"""Bodies, joints, sites, motors and notes of an MJCF, by hand-worked numbers."""

from math import cos, pi, sin

from ik_node.description.mjcf.reader import read_mjcf
from ik_node.description.read import read_description
from ik_node.description.xml_document import parse_xml
from ik_node.model.dof import DOF
import numpy as np

ARM = """<mujoco model="arm"><compiler angle="radian"/><worldbody>
<body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 0 1" range="-1 2"/>
<body name="lower" pos="1 0 0"><joint name="elbow" axis="0 0 1"/>
<site name="tip" pos="0.5 0 0"/></body></body></worldbody></mujoco>"""


def read(text):
    """Return the description of a text, read without MuJoCo."""
    return read_mjcf(parse_xml(text, '<text>'))


def world(body):
    """Return the description of the content of a world, angles in radians."""
    return read(f'<mujoco><compiler angle="radian"/><worldbody>{body}</worldbody></mujoco>')


def test_arm_is_read():
    """Names, order, limits and the pose of its tip."""
    description = read_description(ARM)
    assert description.dialect.startswith('MJCF')
    assert description.name == 'arm'
    assert description.root.name == 'world'
    assert list(description.links) == ['world', 'upper', 'lower', 'tip']
    shoulder, elbow = description.joint_order
    assert (shoulder.name, elbow.name) == ('shoulder', 'elbow')
    assert (shoulder.min_dof_limit[DOF.EZ], shoulder.max_dof_limit[DOF.EZ]) == (-1.0, 2.0)
    assert np.isinf(elbow.max_dof_limit).all()
    shoulder.set_dof_values(0.5)
    elbow.set_dof_values(0.25)
    wanted = (cos(0.5) + 0.5 * cos(0.75), sin(0.5) + 0.5 * sin(0.75), 1.0)
    np.testing.assert_allclose(description.links['tip'].matrix_world[:3, 3], wanted, atol=1e-15)
    assert description.notes == []


def test_degrees_are_the_default_for_hinges_alone():
    """Ranges and refs of slides are metres."""
    description = read(
        '<mujoco><worldbody><body name="a"><joint name="h" range="-90 180" ref="45"/>'
        '<joint name="s" type="slide" range="-90 180" ref="45"/></body></worldbody></mujoco>'
    )
    hinge, slide = description.joints['h'], description.joints['s']
    assert (hinge.min_dof_limit[DOF.EZ], hinge.max_dof_limit[DOF.EZ]) == (-pi / 2, pi)
    assert (slide.min_dof_limit[DOF.Z], slide.max_dof_limit[DOF.Z]) == (-90.0, 180.0)


def test_joint_at_its_ref_has_the_pose_of_the_file():
    """Its value starts there, and the body is where the file has it."""
    description = world(
        '<body name="a" pos="1 2 3"><joint name="h" ref="0.7" pos="0.5 0 0"/>'
        '<joint name="s" type="slide" axis="1 0 0" ref="-0.2"/></body>'
    )
    assert description.joints['h'].dof_values[DOF.EZ] == 0.7
    assert description.joints['s'].dof_values[DOF.X] == -0.2
    pose = description.links['a'].matrix_world
    np.testing.assert_allclose(pose[:3, 3], (1.0, 2.0, 3.0), atol=1e-15)
    description.joints['h'].set_dof_values(0.7 + pi / 2)  # about the point (1.5, 2, 3)
    pose = description.links['a'].matrix_world
    np.testing.assert_allclose(pose[:3, 3], (1.5, 1.5, 3.0), atol=1e-15)


def test_joints_of_one_body_are_in_series():
    """Between them are links without a mass, named after body and joint."""
    description = world(
        '<body name="a"><inertial pos="0 0 1" mass="2"/>'
        '<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>'
        '<joint name="turn"/></body>'
    )
    assert list(description.links) == ['world', 'a__x', 'a__y', 'a']
    assert [link.mass for link in description.links.values()] == [0.0, 0.0, 0.0, 2.0]
    np.testing.assert_array_equal(description.links['a'].centre_of_mass, (0.0, 0.0, 1.0))
    for name, value in (('x', 3.0), ('y', 4.0), ('turn', pi)):
        description.joints[name].set_dof_values(value)
    pose = description.links['a'].matrix_world
    np.testing.assert_allclose(pose[:2], [(-1, 0, 0, 3), (0, -1, 0, 4)], atol=1e-15)


def test_a_free_joint_starts_as_written():
    """X Y Z are those of qpos, the angles turn it away from how it is written."""
    description = world(
        '<body name="a" pos="1 2 3" quat="1 1 0 0"><freejoint name="root"/></body>'
    )
    root = description.joints['root']
    np.testing.assert_array_equal(root.dof_values, (1, 2, 3, 0, 0, 0))
    tilted = description.links['a'].matrix_world[:3, :3]
    np.testing.assert_allclose(tilted, [(1, 0, 0), (0, 0, -1), (0, 1, 0)], atol=1e-15)
    root.set_dof_values(0, 0, 0, 0, 0, pi / 2)
    turned = description.links['a'].matrix_world[:3, :3]
    np.testing.assert_allclose(turned, [(0, 0, 1), (1, 0, 0), (0, 1, 0)], atol=1e-15)
    assert "free joint 'root': X Y Z are the first three numbers of qpos" in description.notes[-1]


def test_a_ball_joint_has_three_angles():
    """Its range is the largest angle of its rotation."""
    description = world(
        '<body name="a"><joint name="b" type="ball" range="0 1" limited="true"/></body>'
    )
    assert description.joints['b'].dof == [DOF.EX, DOF.EY, DOF.EZ]
    assert np.isinf(description.joints['b'].max_dof_limit).all()
    assert description.joints['b'].max_turn == 1.0
    assert any("ball joint 'b': EX EY EZ" in note for note in description.notes)
