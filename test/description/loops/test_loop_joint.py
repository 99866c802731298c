"""Isaac's <loop_joint>: both spellings, all types, our optional attributes, and its faults."""

from ik_node.description.read import read_description
from ik_node.model.closure import Closure, CLOSURE_TYPES
from ik_node.model.dof import DOF
from ik_node.model.rotation import quat_from_euler, quat_to_matrix
import numpy as np
import pytest
from support.robot_texts import joint, urdf

ENDS = '<link1 link="left"/><link2 link="right"/>'


def read(attributes='name="c" type="spherical"', inside=ENDS):
    """Read a robot of three links with one loop."""
    joints = joint('l', 'base', 'left', ''), joint('r', 'base', 'right', '')
    loop = f'<loop_joint {attributes}>{inside}</loop_joint>'
    return read_description(urdf('base left right', *joints, loop))


def closure(*args):
    """Read one loop."""
    (found,) = read(*args).closures.values()
    return found


@pytest.mark.parametrize('second', ['link2', 'link1'])
def test_frames_of_both_links_are_read(second):
    """The first link is frame_a, the second frame_b, as in Isaac's documentation also `link1`."""
    description = read(
        'name="c" type="fixed"',
        f'<link1 link="left" xyz="1 2 3" rpy="0.1 0.2 0.3"/><{second} link="right" xyz="4 5 6"/>',
    )
    found = description.closures['c']
    assert found.parent is description.links['right']
    assert found.child is description.links['left']
    assert found.position.tolist() == [4, 5, 6]
    assert found.offset_position.tolist() == [1, 2, 3]
    wanted = quat_from_euler(0.1, 0.2, 0.3)
    np.testing.assert_allclose(found.offset_quaternion, wanted, atol=1e-15)
    assert description.dialect == 'URDF + loop_joint'


@pytest.mark.parametrize('name', CLOSURE_TYPES)
def test_every_loop_joint_type_is_read(name):
    """Every type of the annotations is read, Isaac's among them."""
    found = closure(f'name="c" type="{name}" distance="0.5"')
    kind, dofs = Closure.rows_of_type(name)
    assert (found.kind, found.dof) == (kind, list(dofs))


def test_own_attributes_are_read():
    """The attribute dof wins over the type; distance, tolerance, weight and enabled are read."""
    assert closure('name="c" type="spherical" dof="X EZ"').dof == [DOF.X, DOF.EZ]
    assert closure('name="c" dof="X Y"').dof == [DOF.X, DOF.Y]
    found = closure('name="c" type="distance" distance="0.5" tolerance="1e-6" enabled="false"')
    assert (found.distance, found.tolerance, found.enabled) == (0.5, (1e-6, 1e-6), False)
    assert closure('name="c" type="fixed" tolerance="1e-6 1e-3"').tolerance == (1e-6, 1e-3)
    assert closure('name="c" type="fixed" weight="0.5"').weight == 0.5
    assert closure('name="c" type="fixed"').weight == 1.0


def test_an_axis_becomes_z():
    """A hinge with an <axis> is free about it, not about z; a ball does not care."""
    found = closure('name="c" type="revolute"', ENDS + '<axis xyz="2 0 0"/>')
    for quat in (found.quaternion, found.offset_quaternion):
        np.testing.assert_allclose(quat_to_matrix(quat)[:, 2], (1, 0, 0), atol=1e-15)
    ball = closure('name="c" type="spherical"', ENDS + '<axis xyz="1 0 0"/>')
    assert ball.quaternion.tolist() == [0, 0, 0, 1]


ROBOT = (
    '<robot name="r"><link name="left"/><link name="right"/>'
    '<joint name="j" type="fixed"><parent link="left"/><child link="right"/>'
    f'<origin rpy="0 0 {np.pi / 2}"/></joint>LOOP</robot>'
)


@pytest.mark.parametrize(
    ('axis', 'wanted', 'note'),
    [
        ('0 0 1', (0, 0, 1), None),
        ('1 0 0', (1, 0, 0), "the x of its frames, like 'j'"),
        ('0 -1 0', (0, 1, 0), "the y of its frames, like 'j'"),
        ('0 1 1', (0, 0, 1), 'the z of its frames, no joint of the loop is parallel'),
    ],
)
def test_revolute_loop_without_axis_takes_that_of_a_joint(axis, wanted, note):
    """Isaac Sim's exporter writes none: it is the z, or what lies along a joint of the loop."""
    loop = f'<loop_joint name="c" type="revolute">{ENDS}</loop_joint>'
    text = ROBOT.replace('type="fixed"', 'type="continuous"').replace(f'rpy="0 0 {np.pi / 2}"', '')
    text = text.replace('</joint>', f'<axis xyz="{axis}"/></joint>')
    description = read_description(text.replace('LOOP', loop))
    found = description.closures['c']
    for quat in (found.quaternion, found.offset_quaternion):
        np.testing.assert_allclose(quat_to_matrix(quat)[:, 2], wanted, atol=1e-12)
    if note is None:
        assert description.notes == []
    else:
        assert f"loop_joint 'c': no <axis>, taken as {note}" in description.notes[0]


def test_hinge_without_axis_is_about_z():
    """It is about z, whatever the joints."""
    loop = f'<loop_joint name="c" type="hinge">{ENDS}</loop_joint>'
    description = read_description(ROBOT.replace('LOOP', loop))
    assert description.closures['c'].quaternion.tolist() == [0, 0, 0, 1]
    assert description.notes == []


FUSION = (
    '<parent link="left"/><child link="right"/><parent_origin xyz="1 2 3"/>'
    '<child_origin xyz="4 5 6"/>'
)


def world_axis(description, end):
    """Return where the z of an end of closure c points, and where the end is."""
    found = description.closures['c']
    if end == 'child':
        turn, link = found.quaternion, found.parent
        place = found.position
    else:
        turn, link, place = found.offset_quaternion, found.child, found.offset_position
    pose = link.matrix_world
    return pose[:3, :3] @ quat_to_matrix(turn)[:, 2], pose[:3, :3] @ place + pose[:3, 3]


@pytest.mark.parametrize(('frame', 'wanted'), [('', (0, 1, 0)), (' frame="child"', (-1, 0, 0))])
def test_fusion_notation_is_read(frame, wanted):
    """Points in both links; the axis is that of one link, and one and the same at zero."""
    element = f'<loop_joint name="c" type="revolute">{FUSION}<axis xyz="0 1 0"{frame}/>'
    text = ROBOT.replace('LOOP', element + '</loop_joint>')
    description = read_description(text)
    for end, place in (('parent', (1, 2, 3)), ('child', (-5, 4, 6))):
        axis, point = world_axis(description, end)
        np.testing.assert_allclose(axis, wanted, atol=1e-12)
        np.testing.assert_allclose(point, place, atol=1e-12)
    assert len(description.closures['c'].dof) == 5
