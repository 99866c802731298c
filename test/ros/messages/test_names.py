"""Names of frames and topics, and where a floating base is."""

from types import SimpleNamespace as Data

from ik_node.errors import OptionError
from ik_node.model.link import Link
from ik_node.model.rotation import pose_matrix, quat_from_euler
from ik_node.robot import load_robot
from ik_node.ros.messages import FrameNames, topic_parts
from ik_node.ros.outputs import multi_dof_joint_poses
import numpy as np
import pytest

TIP = pose_matrix((0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0))
MAP = pose_matrix((5.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
ROBOT = Data(
    description=Data(root=Link('base'), roots=()),
    links={'base': None, 'tip': None},
    forward=lambda q, link: TIP,
)


def lookup(target, source):
    assert target == 'base'
    if source == 'map':
        return MAP
    raise LookupError(f'no frame {source}')


def test_frame_of_a_goal_is_found():
    """Empty is the base frame, links belong to the robot, and others are looked up."""
    for frame_id, base_frame, expected in [
        ('', '', None),
        ('base', 'tip', None),
        ('/base', '', None),
        ('', 'tip', TIP),
        ('tip', '', TIP),
        ('map', '', MAP),
        ('', 'map', MAP),
    ]:
        frame = FrameNames(ROBOT, '', base_frame).pose(frame_id, np.zeros(1), lookup)
        assert frame is expected


def test_prefix_comes_from_the_parameter_or_the_base_frame():
    for frame_prefix, base_frame, expected in [
        ('', '', ''),
        ('left/', '', 'left/'),
        ('left/', 'right/base', 'left/'),
        ('left_', '', 'left_'),
        ('', 'left/base', 'left/'),
        ('', '/cell/left/tip', 'cell/left/'),
        ('', 'left/camera', ''),
        ('', 'tip', ''),
    ]:
        assert FrameNames(ROBOT, frame_prefix, base_frame).prefix == expected


def test_names_with_equal_topic_parts_are_refused():
    with pytest.raises(OptionError, match=r"closure names.*'a b', 'a-b'.*'a_b'"):
        topic_parts(['a b', 'a-b'], 'closure')


ARM = """<robot name="arm"><link name="{root}"/><link name="tip"/>
  <joint name="turn" type="continuous"><parent link="{root}"/><child link="tip"/></joint>
</robot>"""


@pytest.mark.parametrize(('link', 'frame'), [('base', 'world'), ('world', 'map')])
def test_root_frame_of_a_floating_robot_is_the_world(link, frame):
    robot = load_robot(ARM.format(root=link), root='floating')
    assert FrameNames(robot).root == frame
    q = robot.q
    q[:6] = (1.0, 2.0, 3.0, 0.1, -0.2, 0.3)
    ((names, (position, quat_xyzw)),) = multi_dof_joint_poses(robot, frame, q).items()
    assert names == (frame, link)
    assert position == pytest.approx((1.0, 2.0, 3.0))
    assert quat_xyzw == pytest.approx(tuple(quat_from_euler(0.1, -0.2, 0.3)), abs=1e-12)


def test_link_named_world_is_the_root_frame():
    pin = (
        '<loop_joint name="pin" type="point"><link1 link="tip"/><link2 link="world"/></loop_joint>'
    )
    text = ARM.format(root='base').replace('</robot>', f'{pin}</robot>')
    robot = load_robot(text, root='floating')
    assert FrameNames(robot).root == 'world'
    assert robot.forward(robot.q, 'world').tolist() == np.eye(4).tolist()
    assert list(multi_dof_joint_poses(robot, 'world', robot.q)) == [('world', 'base')]
    assert robot.mobility == 4
    assert FrameNames(load_robot(text)).root == 'base'


def test_root_link_off_the_origin_has_a_base_pose():
    """Poses of an SDF robot are in the world frame, and /tf has the pose of the root link."""
    link = '<link name="a"><pose>0 0 1 0 0 0</pose></link>'
    text = f'<sdf version="1.9"><model name="r">{link}</model></sdf>'
    robot = load_robot(text)
    assert FrameNames(robot).root == 'world'
    ((names, (position, quat_xyzw)),) = multi_dof_joint_poses(robot, 'world', robot.q).items()
    assert names == ('world', 'a')
    np.testing.assert_allclose(position, [0.0, 0.0, 1.0])
    np.testing.assert_allclose(quat_xyzw, [0.0, 0.0, 0.0, 1.0])
