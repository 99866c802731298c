"""Gazebo Sim's DetachableJoint between links of one robot is a weld in the file's pose."""

from ik_node import load_robot
from ik_node.analysis.differences import differences
import numpy as np
import pytest
from support.robot_texts import joint, sdf, sdf_joint, urdf

NAME = 'gz::sim::systems::DetachableJoint'
FILE = 'gz-sim-detachable-joint-system'


def plugin(parent='b', child='c', model='__model__', more='', name=NAME, file=FILE):
    """Return the plugin."""
    return (
        f'<plugin filename="{file}" name="{name}"><parent_link>{parent}</parent_link>'
        f'<child_model>{model}</child_model><child_link>{child}</child_link>{more}</plugin>'
    )


PINS = (('j1', 'g', 'a'), ('j2', 'a', 'b'), ('j3', 'g', 'd'), ('j4', 'd', 'c'))
PLACES = {'g': '0 0 0', 'a': '0 0 0', 'b': '0 1 0', 'd': '2 0 0', 'c': '2 1 0'}


def of_urdf(inside):
    """Return a parallelogram that is cut at its fourth pin, where a dummy link is welded."""
    joints = (
        joint(*pin, f'<origin xyz="{place}"/><axis xyz="0 0 1"/>')
        for pin, place in zip(PINS, ('0 0 0', '0 1 0', '2 0 0', '0 1 0'), strict=True)
    )
    return urdf('g a b c d', *joints, f'\n<gazebo>{inside}</gazebo>')


def of_sdf(inside, more=''):
    """Return the same as SDFormat, with a frame at the dummy link."""
    text = ''.join(f'<link name="{n}"><pose>{p} 0 0 0</pose></link>' for n, p in PLACES.items())
    text += ''.join(sdf_joint(*pin) for pin in PINS)
    frame = '<frame name="eye" attached_to="c"><pose>0.3 0 0 0 0 1</pose></frame>'
    return sdf(f'{text}{frame}\n{inside}').replace('</model></sdf>', f'</model>{more}</sdf>')


def test_weld_of_own_links_closes_the_loop():
    """It is closed with all joints at 0, and the parallelogram moves as one."""
    for text in [of_urdf, of_sdf]:
        for made in [
            plugin(),
            plugin(model='r'),
            plugin('c', 'b'),
            plugin(name='ignition::gazebo::systems::DetachableJoint', file='libign.so'),
            plugin(name='weld', file='libgz-sim-detachable-joint-system.so'),
        ]:
            robot = load_robot(text(made))
            (closure,) = robot.closures.values()
            assert {closure.parent.name, closure.child.name} == {'b', 'c'}
            assert len(closure.dof) == 6
            assert robot.dialect.endswith(' + DetachableJoint')
            np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-12)
            assert robot.q == pytest.approx(np.zeros(4), abs=1e-9)
            assert int(robot.mobility) == 1
            back = load_robot(robot.to_urdf())
            assert differences(robot, back) == []


def test_weld_holds_the_pose_of_the_file():
    """Links that are apart and turned are held where the file has them, and frames count."""
    for text, ends in ((of_urdf(plugin('a', 'c')), 'ac'), (of_sdf(plugin('a', 'eye')), 'ac')):
        robot = load_robot(text, assemble=False)
        (closure,) = robot.closures.values()
        assert (closure.parent.name, closure.child.name) == tuple(ends)
        np.testing.assert_allclose(closure.get_residual(), 0.0, atol=1e-12)


def test_weld_to_a_nested_model_is_read():
    """A model that is part of the robot is named by its own name."""
    inner = (
        '<model name="tool"><pose>2 1 0 0 0 0</pose><link name="tip"/></model>'
        '<joint name="hold" type="fixed"><parent>c</parent><child>tool::tip</child></joint>'
    )
    for made in (plugin('b', 'tip', 'tool'), plugin('b', 'tool::tip')):
        robot = load_robot(of_sdf(inner + made))
        (closure,) = robot.closures.values()
        assert closure.child.name == 'tool::tip'
        assert int(robot.mobility) == 1


def test_plugins_of_other_models_are_carried_over():
    """Only the welds that became closures are left out of a written URDF."""
    robot = load_robot(of_urdf(plugin() + plugin(model='cube')))
    text = robot.to_urdf()
    assert text.count('<plugin') == 1
    assert 'cube' in text
