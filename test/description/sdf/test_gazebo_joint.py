"""<gazebo><joint>: a joint of SDF, added in the pose in which all joints are zero."""

import ik_node as ik
from ik_node.description.read import read_description
from ik_node.model.rotation import quat_to_matrix
import numpy as np
import pytest
from support.robot_texts import joint, urdf

ABOUT_Z = '<axis><xyz>0 0 1</xyz></axis>'


def robot(inside, extra=''):
    """Return a row of links a b c, hinged about z and turned by a right angle at b."""
    joints = (
        joint(
            f'j{child}', parent, child, f'<origin xyz="1 0 0" rpy="0 0 {yaw}"/><axis xyz="0 0 1"/>'
        )
        for child, parent, yaw in (('b', 'a', np.pi / 2), ('c', 'b', 0.0))
    )
    return urdf('a b c', *joints, f'{extra}<gazebo>{inside}</gazebo>')


def closing(type_name='revolute', inside=ABOUT_Z, parent='a', child='c'):
    """Return an SDF joint g."""
    ends = f'<parent>{parent}</parent><child>{child}</child>'
    return f'<joint name="g" type="{type_name}">{ends}{inside}</joint>'


@pytest.mark.parametrize(
    ('type_name', 'rows'),
    [('revolute', 5), ('continuous', 5), ('prismatic', 5), ('ball', 3), ('fixed', 6)],
)
def test_every_joint_type_is_read(type_name, rows):
    """The closure of each type; it is closed with all joints at zero."""
    description = read_description(robot(closing(type_name)))
    found = description.closures['g']
    assert len(found.dof) == rows
    assert (found.parent.name, found.child.name) == ('a', 'c')
    np.testing.assert_allclose(found.get_residual(), 0.0, atol=1e-12)
    assert description.dialect == 'URDF + gazebo joint'
    description.joints['jb'].set_dof_values(0.3)
    assert np.linalg.norm(found.get_residual()) > 0.1


def where(description, name='g'):
    """Return place and z of a closure in the root frame, all joints being 0."""
    found = description.closures[name]
    world = found.parent.matrix_world
    axis = world[:3, :3] @ quat_to_matrix(found.quaternion)[:, 2]
    return world[:3, :3] @ found.position + world[:3, 3], axis


@pytest.mark.parametrize(
    ('inside', 'place', 'axis'),
    [
        (ABOUT_Z, (1, 1, 0), (0, 0, 1)),
        ('<pose>1 0 0 0 0 0</pose><axis><xyz>1 0 0</xyz></axis>', (1, 2, 0), (0, 1, 0)),
        ("<pose frame=''>0 0 2 0 0 0</pose>" + ABOUT_Z, (1, 1, 2), (0, 0, 1)),
        (
            '<pose relative_to="a">5 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis>',
            (5, 0, 0),
            (0, 0, 1),
        ),
        (
            '<pose relative_to="__model__" degrees="true">0 0 0 0 90 0</pose>' + ABOUT_Z,
            (0, 0, 0),
            (1, 0, 0),
        ),
        (
            '<pose rotation_format="quat_xyzw">0 0 0 0 0.5 0 0.5</pose>' + ABOUT_Z,
            (1, 1, 0),
            (0, 1, 0),
        ),
        (
            '<axis><xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>',
            (1, 1, 0),
            (1, 0, 0),
        ),
        ('<axis><xyz expressed_in="__model__">1 0 0</xyz></axis>', (1, 1, 0), (1, 0, 0)),
        ('<axis><xyz expressed_in="b">1 0 0</xyz></axis>', (1, 1, 0), (0, 1, 0)),
        ('', (1, 1, 0), (0, 0, 1)),
    ],
)
def test_pose_and_axis_are_read(inside, place, axis):
    """The pose counts in the child link, the axis in the joint, unless they say otherwise."""
    found = where(read_description(robot(closing(inside=inside))))
    np.testing.assert_allclose(found[0], place, atol=1e-12)
    np.testing.assert_allclose(found[1], axis, atol=1e-12)


def test_closure_can_have_root_as_child():
    """And links may be named with the model before them."""
    description = read_description(robot(closing(parent='r::c', child='a')))
    assert description.closures['g'].parent.name == 'c'
    assert description.closures['g'].child.name == 'a'


@pytest.mark.parametrize('type_name', ['universal', 'revolute2'])
def test_universal_joint_becomes_a_closure(type_name):
    """The first axis is fixed in the parent, the second in the child."""
    axes = '<axis><xyz>0 0 1</xyz></axis><axis2><xyz>1 0 0</xyz></axis2>'
    description = read_description(robot(closing(type_name, axes)))
    found = description.closures['g']
    assert found.kind == 'universal'
    first = quat_to_matrix(found.quaternion)[:, 0]
    np.testing.assert_allclose(first, (0, 0, 1), atol=1e-12)
    second = quat_to_matrix(found.offset_quaternion)[:, 1]
    np.testing.assert_allclose(second, (1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(found.get_residual(), 0.0, atol=1e-12)


def test_loop_joint_with_limits_stays_a_joint():
    """It moves within them, and its end is welded to the link; 1e16 is no limit."""
    limit = '<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>2</upper></limit></axis>'
    description = read_description(robot(closing(inside=limit)))
    assert list(description.joints) == ['jb', 'jc', 'g']
    assert (
        description.joints['g'].min_dof_limit[5],
        description.joints['g'].max_dof_limit[5],
    ) == (-1, 2)
    assert len(description.closures['g'].dof) == 6
    np.testing.assert_allclose(description.closures['g'].get_residual(), 0.0, atol=1e-12)
    for none in ('1e+16', '1e13', 'inf'):
        endless = limit.replace('-1', f'-{none}').replace('2', none, 1)
        assert list(read_description(robot(closing(inside=endless))).joints) == ['jb', 'jc']


def test_root_on_a_hinge_to_the_world_moves():
    """The world is the root then."""
    loaded = ik.load_robot(robot(closing(parent='world', child='a')))
    assert loaded.joint_names == ['jb', 'jc', 'g']
    assert [root.name for root in loaded.description.roots] == ['world']
    loaded.q = [0, 0, 0.5]
    assert loaded.forward(loaded.q, 'a')[0, 0] == pytest.approx(np.cos(0.5))


def test_joint_connects_a_separate_tree():
    """A joint to a root that hangs nowhere carries it, where it stands with all joints at zero."""
    extra = '<link name="d"/><link name="e"/><joint name="je" type="continuous"><parent link="d"/>'
    extra += '<child link="e"/><origin xyz="0 0 3"/><axis xyz="0 0 1"/></joint>'
    description = read_description(robot(closing(parent='c', child='d'), extra))
    assert [root.name for root in description.roots] == ['a']
    assert not description.closures
    assert description.links['e'].get_world_position().tolist() == pytest.approx([0, 0, 3])
    description.joints['jb'].set_dof_values(np.pi)
    assert description.links['d'].get_world_position() == pytest.approx([2, 0, 0])
