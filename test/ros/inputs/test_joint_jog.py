"""Jogs of joints, with a stand-in for control_msgs."""

import sys
from types import ModuleType

from ik_node.ros.inputs.inputs import Inputs
from ik_node.ros.loading.joint_roles import JointRoles
from ik_node.ros.process.node_health import NodeCounts
import pytest
import rclpy
from support.control_messages import JointJog


@pytest.fixture
def jog(monkeypatch, moving):
    """Provide inputs of a node with a five-bar, and what its topic of jogs calls."""
    messages = ModuleType('control_msgs.msg')
    messages.JointJog = JointJog
    monkeypatch.setitem(sys.modules, 'control_msgs', ModuleType('control_msgs'))
    monkeypatch.setitem(sys.modules, 'control_msgs.msg', messages)
    context = rclpy.Context()
    rclpy.init(context=context)
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
    yield inputs, taken['~/joint_jog']
    node.destroy_node()
    rclpy.try_shutdown(context=context)


def test_jog_is_a_command_of_velocities(jog):
    inputs, take = jog
    take(JointJog(joint_names=['left_elbow'], velocities=[0.3]))
    assert inputs.commands.command.velocities == {'left_elbow': 0.3}
    assert inputs.commands.command.positions == {}


def test_displacements_are_refused(jog):
    inputs, take = jog
    take(JointJog(joint_names=['left_elbow'], velocities=[0.3]))
    take(JointJog(joint_names=['left_elbow'], displacements=[0.1]))
    assert inputs.refusals.counts['joint_jog'] == 1
    assert inputs.commands.command.velocities == {'left_elbow': 0.3}


def test_jog_of_another_joint_is_refused(jog):
    inputs, take = jog
    take(JointJog(joint_names=['left_shoulder'], velocities=[0.3]))
    take(JointJog(joint_names=['left_elbow'], velocities=[float('inf')]))
    take(JointJog(joint_names=['left_elbow'], velocities=[]))
    assert inputs.refusals.counts == {'joint_jog': 3}
    assert 'joint_jog: name' in inputs.refusals.last
    assert inputs.commands.command is None
