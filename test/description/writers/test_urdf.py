"""What stands in the URDF that is written, and what other tools make of it."""

from xml.etree import ElementTree

from ik_node.description.description import Description
from ik_node.description.tree import hang_tree
from ik_node.description.writers.urdf import to_urdf
from ik_node.errors import TopologyError
from ik_node.model.constraint import Closure
from ik_node.model.dof import DOF
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.rotation import quat_between, quat_conjugate, unit
from ik_node.robot import load_robot, Robot
import numpy as np
import pytest
from support.fourbar_urdf import FOURBAR

DRESSED = """<robot name="dressed" version="1.0" xmlns:drake="http://drake.mit.edu">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base">
    <inertial><origin xyz="0 0 0.1" rpy="0 0 1"/><mass value="2"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual name="body"><geometry><mesh filename="package://arm/base.stl"/></geometry>
      <material name="grey"/></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
    <sensor name="eye"/>
  </link>
  <link name="tip"/>
  <joint name="turn" type="revolute"><parent link="base"/><child link="tip"/>
    <limit lower="-1" upper="1" effort="7" velocity="2"/>
    <dynamics damping="0.3"/><safety_controller k_velocity="2"/></joint>
  <transmission name="t"><joint name="turn"/></transmission>
  <gazebo><joint name="j" type="ball"><parent>tip</parent><child>base</child></joint></gazebo>
  <gazebo reference="tip"><mu1>0.2</mu1></gazebo>
  <drake:ball_constraint><drake:ball_constraint_body_A name="base"/>
    <drake:ball_constraint_body_B name="tip"/><drake:ball_constraint_p_AP value="0 0 0"/>
    <drake:ball_constraint_p_BQ value="0 0 0"/></drake:ball_constraint>
</robot>"""
MOTORS = '<ros2_control name="x" type="system">{}</ros2_control>'
MOTOR = '<joint name="{}"><command_interface name="position"/></joint>'


def written(robot, **options):
    """Return the root element of what a robot is written as."""
    return ElementTree.fromstring(robot.to_urdf(**options))


def one_joint(*dofs, position=(0.0, 0.0, 0.0), quat_xyzw=(0.0, 0.0, 0.0, 1.0)):
    """Return a description of one joint, its child link anywhere in its moved frame."""
    description = Description('one')
    joint, link = Joint('joint'), Link('hand')
    description.links.update(base=Link('base'), hand=link)
    joint.set_dof(*dofs)
    link.set_position(*position)
    link.set_quaternion(*quat_xyzw)
    description.joints['joint'] = joint
    hang_tree(description, {'joint': ('base', 'hand')})
    return description


def kinds(description):
    """Return the name and type of every joint that is written."""
    root = ElementTree.fromstring(to_urdf(description))
    return [(joint.get('name'), joint.get('type')) for joint in root.findall('joint')]


def test_shapes_are_carried_over():
    """Links, materials and what simulators need; not what would be a loop a second time."""
    robot = load_robot(DRESSED, closures='closures: []')
    root, before = written(robot), ElementTree.fromstring(DRESSED)
    for path in ('link', 'material', 'transmission', 'link/visual/geometry/mesh', 'link/sensor'):
        found, wanted = root.find(path), before.find(path)
        assert ElementTree.canonicalize(
            ElementTree.tostring(found), strip_text=True
        ) == ElementTree.canonicalize(ElementTree.tostring(wanted), strip_text=True), path
    joint = root.find('joint')
    assert joint.find('limit').attrib == {
        'lower': '-1',
        'upper': '1',
        'velocity': '2',
        'effort': '7',
    }
    assert joint.find('dynamics').get('damping') == '0.3'
    assert joint.find('safety_controller') is not None
    assert [each.get('reference') for each in root.findall('gazebo')] == ['tip']
    assert root.get('version') == '1.0'
    text = robot.to_urdf()
    assert '<drake:' not in text.split('-->')[1]
    assert 'Left out: <drake:ball_constraint>.' in text


def test_effort_that_was_changed_is_written():
    """The value of the joint counts, not the text of the source; other attributes are kept."""
    robot = load_robot(
        DRESSED.replace('effort="7"', 'effort="7" jerk="5"'), closures='closures: []'
    )
    joint = robot.joint_order[0]
    joint.max_effort[joint.dof] = 0.25
    limit = written(robot).find('joint/limit').attrib
    assert (limit['effort'], limit['jerk']) == ('0.25', '5')
    joint.max_effort[joint.dof] = np.inf
    limit = written(robot).find('joint/limit').attrib
    assert (limit['effort'], limit['unlimited']) == ('1000000000', 'effort')


def test_limits_are_written_for_all_tools():
    """A number stands where there is none, as urdfdom wants one; ours know better."""
    description = one_joint('EZ')
    description.joints['joint'].set_limits('EZ', -np.inf, 0.5)
    limit = ElementTree.fromstring(to_urdf(description)).find('joint/limit')
    assert limit.attrib == {
        'lower': '-1000000000',
        'upper': '0.5',
        'velocity': '1000000000',
        'effort': '1000000000',
        'unlimited': 'lower velocity effort',
    }
    description.joints['joint'].max_effort[DOF.EZ] = 2.5
    limit = ElementTree.fromstring(to_urdf(description)).find('joint/limit')
    assert (limit.get('effort'), limit.get('unlimited')) == ('2.5', 'lower velocity')
    assert ElementTree.fromstring(to_urdf(one_joint('EZ'))).find('joint/limit') is None


def test_joints_with_several_axes_are_written():
    """Those with a name in URDF keep it; others become joints that act one after the other."""
    assert kinds(one_joint('EX', 'EY', 'EZ')) == [('joint', 'spherical')]
    assert kinds(one_joint('X', 'Y', 'EZ')) == [('joint', 'planar')]
    limited = one_joint('X', 'Y', 'EZ')
    limited.joints['joint'].max_effort[DOF.Y] = 2.0
    assert [name for name, _ in kinds(limited)] == ['joint.X', 'joint.Y', 'joint.EZ']
    assert kinds(one_joint('X', 'Y', 'Z', 'EX', 'EY', 'EZ')) == [('joint', 'floating')]
    description = one_joint('X', 'EX', 'EZ')
    assert kinds(description) == [
        *(('joint.X', 'prismatic'), ('joint.EX', 'continuous'), ('joint.EZ', 'continuous'))
    ]
    chain = {
        joint.find('parent').get('link'): joint.get('name')
        for joint in ElementTree.fromstring(to_urdf(description)).findall('joint')
    }
    assert chain == {'base': 'joint.X', 'joint.X__link': 'joint.EZ', 'joint.EZ__link': 'joint.EX'}


def test_axis_nearly_along_another_is_kept():
    """It is written as it is, not made exact, and reads back to the same motion."""
    for size in [1e-14, 1e-8, 1e-6, 1e-3]:
        for near in [(0, 0, -1), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, -1, 0)]:
            for dofs in [('EZ',), ('EX',), ('Z',), ('X', 'Y', 'EZ')]:
                axis = unit(np.array(near) + size * np.array((0.6, -0.5, 0.4)))
                own = (0.0, 0.0, 1.0) if dofs[-1].endswith('Z') else (1.0, 0.0, 0.0)
                description = one_joint(*dofs, quat_xyzw=quat_conjugate(quat_between(own, axis)))
                text = to_urdf(description)
                root = ElementTree.fromstring(text)
                if len(dofs) == 1:
                    assert len(root.findall('link')) == 2
                    found = [
                        float(number) for number in root.find('joint/axis').get('xyz').split()
                    ]
                    np.testing.assert_allclose(found, axis, rtol=0.0, atol=1e-15)
                q = [0.4, -0.7, 1.1][: len(dofs)]
                poses = [
                    robot.forward(q, 'hand')
                    for robot in (Robot(description), load_robot(text, assemble=False))
                ]
                np.testing.assert_allclose(*poses, rtol=0.0, atol=5e-15)


def test_names_of_added_links_are_free():
    """Also where a link has the name that would be given."""
    description = one_joint('EZ', position=(1.0, 0.0, 0.0))
    description.links['joint__moved'] = taken = Link('joint__moved')
    description.roots.append(taken)
    root = ElementTree.fromstring(to_urdf(description))
    names = [link.get('name') for link in root.findall('link')]
    assert names == ['base', 'joint__moved_', 'hand', 'joint__moved']


def test_floating_root_is_connected_to_the_world():
    """As do roots with a pose; a link `world` that is there is the one."""
    root = written(load_robot(FOURBAR, root='floating'))
    assert root.find('link').get('name') == 'world'
    assert root.find('joint').attrib == {'name': '__world_joint__', 'type': 'floating'}
    declared = FOURBAR.replace(
        '<link name="ground"/>', '<link name="world"/><link name="ground"/>'
    )
    links = written(load_robot(declared, root='floating')).findall('link')
    assert [link.get('name') for link in links].count('world') == 1
    assert 'world_' not in [link.get('name') for link in links]


def test_a_curve_is_no_mimic():
    """Lines are for everybody, curves for us alone."""
    robot = load_robot(FOURBAR)
    joint, master = robot.joints['shake'], robot.joints['nod']
    joint.couple('Z', master, 'EY', (0.1, 0.2, 0.3))
    root = written(robot)
    assert root.find('joint/mimic') is None
    assert root.find('joint_coupling').attrib == {
        'joint': 'shake',
        'of': 'nod',
        'coefficients': '0.1 0.2 0.3',
    }
    joint.couple('Z', master, 'EY', (0.1, 0.2, 0.0))
    assert written(robot).find('joint/mimic').attrib == {
        'joint': 'nod',
        'multiplier': '0.2',
        'offset': '0.1',
    }


def test_motors_are_written():
    """As ros2_control has them, on a mock; what is carried over stays if it says the same."""
    robot = load_robot(FOURBAR)
    assert written(robot).find('ros2_control') is None
    robot.description.actuated = ['drive', 'nod']
    control = written(robot).find('ros2_control')
    assert [joint.get('name') for joint in control.findall('joint')] == ['drive', 'nod']
    assert control.find('hardware/plugin').text == 'mock_components/GenericSystem'
    driven = FOURBAR.replace('</robot>', MOTORS.format(MOTOR.format('drive')) + '</robot>')
    robot = load_robot(driven)
    assert written(robot).find('ros2_control').get('name') == 'x'
    robot.description.actuated = ['nod']
    text = robot.to_urdf()
    assert 'Left out: its ros2_control and transmissions, which declare other motors.' in text
    assert load_robot(text).actuated == ['nod']


def test_transmissions_of_the_pr2_are_kept():
    """They say motors to the reader, and so to the writer: they are carried over."""
    driven = '<transmission name="t"><leftJoint name="drive"/></transmission></robot>'
    robot = load_robot(FOURBAR.replace('</robot>', driven))
    assert robot.actuated == ['drive']
    root = written(robot)
    assert root.find('transmission/leftJoint').get('name') == 'drive'
    assert root.find('ros2_control') is None
    assert 'Left out' not in robot.to_urdf()


def test_loop_joints_have_type_names_of_isaac():
    """Types that others know; axes of their own tie nothing there."""
    robot = load_robot(FOURBAR)
    loop = written(robot).find('loop_joint')
    assert loop.attrib == {'name': 'tie', 'type': 'revolute'}
    assert loop.find('link1').attrib == {'link': 'coupler', 'xyz': '1.1 0 0', 'rpy': '0 0 0'}
    robot.closures['tie'].set_dof('X', 'EY')
    loop = written(robot).find('loop_joint')
    assert (loop.get('type'), loop.get('dof')) == ('floating', 'X EY')
    assert written(robot, loops=False).find('loop_joint') is None


def test_the_comment_is_one():
    """Whatever the name of the file: two dashes would end it."""
    description = one_joint('EZ')
    description.source, description.text = 'a--b---\x01.urdf', 'x'
    text = to_urdf(description)
    assert 'a- -b' in text
    ElementTree.fromstring(text)


def test_names_that_xml_cannot_hold():
    """They are refused, as they could not be read again."""
    for name in ['', ' ', 'a\x00', '\x1b', '\ud800', '\uffff']:
        description = one_joint('EZ')
        description.links['hand'].name = name
        description.links[name] = description.links.pop('hand')
        with pytest.raises(TopologyError, match='XML does not allow this name'):
            to_urdf(description)


def test_joint_or_closure_without_link_is_refused():
    """A joint without a link, a closure without two."""
    description = one_joint('EZ')
    loose = Joint('loose')
    description.joints['loose'] = loose
    with pytest.raises(TopologyError, match="joint 'loose' carries no link"):
        to_urdf(description)
    del description.joints['loose']
    description.closures['c'] = closure = Closure('c')
    with pytest.raises(TopologyError, match="closure 'c' does not connect two links"):
        to_urdf(description)
    description.links['base'].add_child(closure)
    closure.make_closure(description.links['hand'])
    closure.kind = 'look_at'
    with pytest.raises(TopologyError, match="of kind 'look_at', which cannot be written"):
        to_urdf(description)
