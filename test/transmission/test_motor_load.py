"""Efforts that hold a load: the work that motors do is that of force and weight."""

from dataclasses import replace

from ik_node.robot import load_robot
from ik_node.transmission.motor_load import Load, MotorStatics
from ik_node.viewer.sessions.library_session import gallery_session
import numpy as np
import pytest

STEP = 1e-4
# Two motors on one motion.
TWICE = """<robot name="twice"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="one" type="continuous"><parent link="a"/><child link="b"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="two" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
    <mimic joint="one"/></joint>
  {motors}</robot>"""
MOTOR = """<transmission name="t_{0}"><type>transmission_interface/SimpleTransmission</type>
  <joint name="{0}"/><actuator name="m_{0}"/></transmission>"""


def twice(*names):
    """Return the robot with motors on some joints."""
    return load_robot(TWICE.format(motors=''.join(MOTOR.format(name) for name in names)))


def moved(name, motor, by):
    """Return a solved session of a robot with one motor moved from its start."""
    session = gallery_session(name)
    session.update(0.0)
    session.set_forward(True)
    at = session.robot.joint_names.index(motor)
    session.set_joint(motor, session.q[at] + by)
    session.update(0.0)
    return session


@pytest.mark.parametrize(
    ('name', 'link'),
    [('ankle', 'foot_link'), ('excavator', 'bucket_link'), ('hexapod', 'platform_link')],
)
def test_motors_do_the_work_of_load_and_weight(name, link):
    """With every motor in turn: effort . motion + force . motion of its point + weight is zero."""
    session = gallery_session(name)
    session.update(0.0)
    load = Load(link, (0.05, -0.02, 0.03), (30.0, -50.0, 70.0), gravity=True)
    efforts = MotorStatics(session.robot).efforts(session.q, load)
    assert [effort.name for effort in efforts] == session.robot.actuated
    for effort in efforts:
        work = 0.0
        for sign in (1.0, -1.0):
            there = moved(name, effort.name, sign * STEP)
            mass = there.robot.mass * there.robot.centre_of_mass(there.q)[2]
            work += sign * (load.start(there.robot) @ load.force - 9.81 * mass)
        assert effort.effort == pytest.approx(-work / (2.0 * STEP), rel=1e-5, abs=1e-4)


def test_motor_is_over_its_limit_if_the_load_is_too_large():
    """Units follow from the joint: the house swings, a cylinder slides."""
    session = gallery_session('excavator')
    session.update(0.0)
    load = Load('tip_link', (0.0, 0.0, 0.0), (0.0, 1e5, 0.0), gravity=False)
    swing = MotorStatics(session.robot).efforts(session.q, load)[0]
    assert (swing.name, swing.unit, swing.is_over) == ('swing', 'N m', True)
    assert swing.effort == pytest.approx(-2.61e5, rel=1e-6)


@pytest.mark.parametrize(
    ('name', 'link', 'way'),
    [
        ('ankle', 'foot_link', (0, 0, 1)),  # its origin does not move: at the centre of mass
        ('excavator', 'tip_link', (0, 0, 1)),  # on the ground
        ('excavator', 'arm_link', (0, 0, -1)),
        ('fivebar', 'tool_link', None),  # in a horizontal plane
    ],
)
def test_first_load_can_be_held_and_is_felt(name, link, way):
    """No motor is over its limit by the load, in whatever direction, but some motor feels it."""
    session = gallery_session(name)
    session.update(0.0)
    statics = MotorStatics(session.robot)
    load = statics.first_load(session.q, link, 0.3)
    size = np.linalg.norm(load.force)
    if way is not None:
        np.testing.assert_allclose(np.array(load.force) / size, way, atol=1e-12)
    load = replace(load, gravity=False)
    assert max(effort.share for effort in statics.efforts(session.q, load)) > 0.01
    for force in size * np.vstack((np.eye(3), -np.eye(3))):
        for effort in statics.efforts(session.q, load.with_force(force)):
            assert effort.share <= 0.5 + 1e-6


def test_load_keeps_its_place_on_the_link():
    """A point that is dragged in the root frame is kept in the frame of the link."""
    session = gallery_session('excavator')
    session.update(0.0)
    load = Load('bucket_link', (0.0, 0.0, 0.0), (1.0, 2.0, 3.0), gravity=True)
    where = load.start(session.robot) + np.array((0.1, 0.2, -0.1))
    load = load.moved(session.robot, where)
    np.testing.assert_allclose(load.start(session.robot), where, atol=1e-4)
    there = moved('excavator', 'boom_cylinder', 0.1)
    pose = there.robot.links['bucket_link'].matrix_world
    np.testing.assert_allclose(load.start(there.robot), (pose @ (*load.point, 1.0))[:3])


def test_robot_without_motors_has_a_refusal_and_no_efforts():
    """A motor on a joint that follows the other is none."""
    load = Load('c', (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), gravity=True)
    robot = twice()
    statics = MotorStatics(robot)
    assert 'names no motors' in statics.refusal
    assert statics.efforts(robot.q, load) == []
    assert statics.singularity(robot.q) is None
    assert not MotorStatics(twice('one', 'two')).refusal


def test_distance_to_singularity_is_for_robots_with_loops():
    """A serial arm has none; a five-bar whose forearms are in line is near one, which is named."""
    assert MotorStatics(gallery_session('arm6').robot).singularity(np.zeros(6)) is None
    session = gallery_session('fivebar')
    session.update(0.0)
    nearness, warning = MotorStatics(session.robot).singularity(session.q)
    assert 0.05 < nearness < 1.0
    assert warning == ''
    for joint in session.robot.joint_order:
        joint.set_min_limits(-3.0)
        joint.set_max_limits(3.0)
    session.set_forward(True)
    for angle in (0.3, 0.5, 0.6):
        session.set_joint('left_shoulder', angle)
        session.set_joint('right_shoulder', -angle)
        session.update(0.0)
    nearness, warning = MotorStatics(session.robot).singularity(session.q)
    assert nearness < 0.05
    assert 'singularity of type II' in warning
    assert 'left_elbow' in warning
