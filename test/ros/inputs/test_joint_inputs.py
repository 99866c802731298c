"""Joint values that others send: measurements, jogs, targets and rest poses."""

import sys
from types import ModuleType

from ik_node.robot import load_robot
from ik_node.ros.inputs.inputs import Inputs, JointTargets, MeasuredState
from ik_node.ros.loading import JointRoles
from ik_node.ros.messages import JointValues
from ik_node.ros.process import NodeCounts
import pytest
import rclpy
from support.control_messages import JointJog

ARM = """<robot name="arm"><link name="a"/><link name="b"/><link name="c"/>
  <joint name="one" type="revolute"><parent link="a"/><child link="b"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="ball" type="ball"><parent link="b"/><child link="c"/></joint></robot>"""


def test_measured_values_of_another_robot_are_dropped_with_their_times():
    measured = MeasuredState()
    measured.update(JointValues({'a': 1.0, 'b': 2.0}), 1.0)
    measured.set_joint_names(['b'])
    assert measured.values(['a', 'b']) == {'b': 2.0}
    assert measured.stale(['a', 'b'], 9.0, 1.0) == ('b',)


def test_jog_is_a_command_of_velocities(monkeypatch, moving, context):
    """Displacements, other joints and bad numbers are refused under its topic."""
    messages = ModuleType('control_msgs.msg')
    messages.JointJog = JointJog
    monkeypatch.setitem(sys.modules, 'control_msgs', ModuleType('control_msgs'))
    monkeypatch.setitem(sys.modules, 'control_msgs.msg', messages)
    node = rclpy.create_node('inputs', context=context)
    subscribe, taken = node.create_subscription, {}

    def create_subscription(kind, topic, callback, *words, **named):
        if kind is JointJog:  # rclpy takes real messages only
            taken[topic] = callback
            return None
        return subscribe(kind, topic, callback, *words, **named)

    monkeypatch.setattr(node, 'create_subscription', create_subscription)
    inputs = Inputs(node, NodeCounts(), lambda text: None, lambda names, stamp: None)
    tracker = moving('fivebar').tracker
    inputs.set_robot(tracker.model, lambda: tracker.q)
    roles = JointRoles(joint_space=('left_elbow', 'right_elbow'))
    inputs.commands.configure(tracker.model, roles)
    take = taken['~/joint_jog']
    take(JointJog(joint_names=['left_shoulder'], velocities=[0.3]))
    assert inputs.commands.command is None
    take(JointJog(joint_names=['left_elbow'], velocities=[0.3]))
    take(JointJog(joint_names=['left_elbow'], displacements=[0.1]))
    take(JointJog(joint_names=['left_elbow'], velocities=[float('inf')]))
    take(JointJog(joint_names=['left_elbow'], velocities=[]))
    assert inputs.refusals.counts == {'joint_jog': 4}
    assert 'joint_jog: name' in inputs.refusals.last
    assert inputs.commands.command.velocities == {'left_elbow': 0.3}
    assert inputs.commands.command.positions == {}
    node.destroy_node()


@pytest.fixture
def robot():
    return load_robot(ARM)


def targets(robot):
    """Return the targets that are set."""
    return {
        joint.name: [joint.get_target_value(dof) for dof in joint.dof]
        for joint in robot.joint_order
        if joint.target_set
    }


def test_last_target_of_each_joint_counts(robot):
    """A message replaces the parameter's target, and the parameter that of a message."""
    wishes = JointTargets()

    def after(**parameter):
        wishes.configure(parameter)
        wishes.apply(robot)
        return targets(robot)

    assert after(one=0.1) == {'one': [0.1]}
    wishes.update({'one': 0.2, 'ball.EX': 0.3})
    # What is unchanged is no new wish.
    assert after(one=0.1) == {'one': [0.2], 'ball': [0.3, 0.0, 0.0]}
    assert after(one=0.4) == {'one': [0.4], 'ball': [0.3, 0.0, 0.0]}
    assert after() == {'ball': [0.3, 0.0, 0.0]}
    # A reset forgets the targets of messages; names of other robots are ignored.
    wishes.configure({'one': 0.1, 'nose': 3.0})
    wishes.forget()
    wishes.apply(robot)
    assert targets(robot) == {'one': [0.1]}
