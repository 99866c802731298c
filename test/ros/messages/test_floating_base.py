"""Where a floating base is, and in which frame."""

from ik_node.model.rotation import quat_from_euler
from ik_node.robot import load_robot
from ik_node.ros.messages.names import base_poses, root_frame
import numpy as np
import pytest

ARM = """<robot name="arm"><link name="{root}"/><link name="tip"/>
  <joint name="turn" type="continuous"><parent link="{root}"/><child link="tip"/></joint>
</robot>"""


def test_root_frame_of_a_fixed_robot_is_its_root_link():
    """It has no floating base."""
    robot = load_robot(ARM.format(root='base'))
    assert root_frame(robot) == 'base'
    assert base_poses(robot, robot.q) == {}


@pytest.mark.parametrize(('link', 'frame'), [('base', 'world'), ('world', 'map')])
def test_root_frame_of_a_floating_robot_is_the_world(link, frame):
    """A link named like the world frame is not used."""
    robot = load_robot(ARM.format(root=link), root='floating')
    assert root_frame(robot) == frame
    q = robot.q
    q[:6] = (1.0, 2.0, 3.0, 0.1, -0.2, 0.3)
    ((name, (position, quat_xyzw)),) = base_poses(robot, q).items()
    assert name == link
    assert position == pytest.approx((1.0, 2.0, 3.0))
    assert quat_xyzw == pytest.approx(tuple(quat_from_euler(0.1, -0.2, 0.3)), abs=1e-12)


def test_each_tree_has_its_own_floating_base():
    """A robot of two trees has two bases."""
    text = ARM.format(root='base').replace('</robot>', '<link name="box"/></robot>')
    robot = load_robot(text, root='floating')
    q = robot.q
    q[robot.joint_names.index('__world_joint__:box.Z')] = 0.5
    poses = base_poses(robot, q)
    assert poses['box'][0] == pytest.approx((0.0, 0.0, 0.5))
    assert list(poses) == ['base', 'box']


def test_link_named_world_is_the_root_frame():
    """It is fixed, and closures may be attached to it."""
    pin = (
        '<loop_joint name="pin" type="point"><link1 link="tip"/><link2 link="world"/></loop_joint>'
    )
    text = ARM.format(root='base').replace('</robot>', f'{pin}</robot>')
    robot = load_robot(text, root='floating')
    assert root_frame(robot) == 'world'
    assert robot.forward(robot.q, 'world').tolist() == np.eye(4).tolist()
    assert list(base_poses(robot, robot.q)) == ['base']
    assert robot.mobility == 4
    assert root_frame(load_robot(text)) == 'base'


def test_root_link_off_the_origin_has_a_base_pose():
    """Poses of an SDF robot are in the world frame, and /tf has the pose of the root link."""
    link = '<link name="a"><pose>0 0 1 0 0 0</pose></link>'
    text = f'<sdf version="1.9"><model name="r">{link}</model></sdf>'
    robot = load_robot(text)
    assert root_frame(robot) == 'world'
    ((name, (position, quat_xyzw)),) = base_poses(robot, robot.q).items()
    assert name == 'a'
    np.testing.assert_allclose(position, [0.0, 0.0, 1.0])
    np.testing.assert_allclose(quat_xyzw, [0.0, 0.0, 0.0, 1.0])
