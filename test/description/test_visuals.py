"""What links look like."""

import re

from ik_node.description.visuals import read_visuals
from ik_node.errors import DescriptionError
from ik_node.robot import from_dh
import pytest

ROBOT = """
<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="a">
    <visual>
      <origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>
      <geometry><box size="0.1 0.2 0.3"/></geometry><material name="red"/>
    </visual>
    <visual>
      <geometry><cylinder radius="0.1" length="0.5"/></geometry>
      <material name="own"><color rgba="0 1 0 0.5"/></material>
    </visual>
    <collision><geometry><box size="9 9 9"/></geometry></collision>
  </link>
  <link name="b">
    <visual><geometry><sphere radius="0.2"/></geometry><material name="unknown"/></visual>
    <visual><geometry><mesh filename="package://p/m.stl" scale="2 2 2"/></geometry></visual>
  </link>
</robot>
"""


def test_every_kind_is_read():
    """Size, place and colour of each, in the order of the file."""
    box, cylinder, sphere, mesh = read_visuals(ROBOT)
    assert (box.link, box.kind, box.size) == ('a', 'box', (0.1, 0.2, 0.3))
    assert box.position == (1.0, 2.0, 3.0)
    assert box.quat_xyzw == pytest.approx((0.0, 0.0, 0.5**0.5, 0.5**0.5))
    assert box.rgba == (1.0, 0.0, 0.0, 1.0)
    assert (cylinder.kind, cylinder.size, cylinder.rgba) == (
        'cylinder',
        (0.1, 0.5),
        (0.0, 1.0, 0.0, 0.5),
    )
    assert (sphere.link, sphere.kind, sphere.size, sphere.rgba) == ('b', 'sphere', (0.2,), None)
    assert (mesh.kind, mesh.file, mesh.size) == ('mesh', 'package://p/m.stl', (2.0, 2.0, 2.0))


def test_unreadable_visual_is_left_out():
    """The other visuals are still there."""
    for visual in [
        '<visual/>',
        '<visual><geometry/></visual>',
        '<visual><geometry><cone/></geometry></visual>',
        '<visual><geometry><box size="1 1"/></geometry></visual>',
        '<visual><geometry><box size="1 1 x"/></geometry></visual>',
        '<visual><geometry><sphere/></geometry></visual>',
        '<visual><geometry><mesh/></geometry></visual>',
        '<visual><origin xyz="nan 0 0"/><geometry><sphere radius="1"/></geometry></visual>',
    ]:
        text = f'<robot name="r"><link name="a">{visual}</link>{ROBOT.split("</material>", 1)[1]}'
        text = text.replace('name="a"', 'name="z"', 1)
        assert [found.link for found in read_visuals(text)] == ['a', 'a', 'b', 'b']


def test_quaternion_is_read():
    """URDF 1.1 may turn a shape by one, of any length."""
    (box, *_) = read_visuals(re.sub('rpy="[^"]*"', 'quat_xyzw="0 0 -2 2"', ROBOT, count=1))
    assert box.position == (1.0, 2.0, 3.0)
    assert box.quat_xyzw == pytest.approx((0.0, 0.0, -(0.5**0.5), 0.5**0.5))


def test_other_roots_have_none():
    """What is no description draws nothing; nor does a broken one; what is no XML is refused."""
    assert read_visuals('<world/>') == []
    assert read_visuals('<sdf/>') == []
    assert read_visuals('<mujoco><worldbody><joint/></worldbody></mujoco>') == []
    with pytest.raises(DescriptionError, match='XML'):
        read_visuals('<robot>')


def test_robot_without_description_has_no_visuals():
    """A Denavit-Hartenberg table is none: the page draws its links as rods."""
    arm = from_dh([(0.4, 0, 90, 0), (0, 0.5, 0, 30)], degrees=True)
    assert read_visuals(arm.description.text, arm.description.source) == []
