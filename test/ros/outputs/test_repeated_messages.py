"""Messages that are written over are those that would have been made anew."""

import dataclasses
from types import SimpleNamespace as Data

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from ik_node.ros.outputs import node_outputs
from ik_node.ros.outputs.node_outputs import JointStateOutput, StatusOutput, TickReport
import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.ros

NODE = Data(get_fully_qualified_name=lambda: '/ik_node')


class Listener:
    """Keeps what is published, as those read it who subscribe."""

    def __init__(self, kind):
        self.kind = kind
        self.messages = []

    def get_subscription_count(self):
        return 1

    def publish(self, message):
        self.messages.append(deserialize_message(serialize_message(message), self.kind))


def listen(monkeypatch, kind):
    listener = Listener(kind)
    monkeypatch.setattr(node_outputs, 'add_publisher', lambda *arguments: listener)
    return listener


def test_joint_state_keeps_names_and_changes_numbers(monkeypatch):
    listener = listen(monkeypatch, JointState)
    output = JointStateOutput(NODE)
    for names in (('a', 'b'), ('left_elbow', 'x', 'y')):
        output.set_model(Data(joint_names=names))
        for k in range(2):
            numbers = np.arange(len(names)) + 0.5 * k
            output.publish(numbers, -numbers, Time(sec=k, nanosec=7))
            read = listener.messages[-1]
            assert read.header.stamp == Time(sec=k, nanosec=7)
            assert tuple(read.name) == names
            assert list(read.position) == numbers.tolist()
            assert list(read.velocity) == (-numbers).tolist()
            assert list(read.effort) == []


def test_repeated_status_changes_only_its_stamp(monkeypatch):
    listener = listen(monkeypatch, DiagnosticArray)
    output = StatusOutput(NODE)
    model = Data(robot=Data(name='arm'))
    report = TickReport(np.zeros(1), np.zeros(1), Data(chains=()))
    said = [
        report,
        dataclasses.replace(report, notes=('goal hand is stale',)),
        dataclasses.replace(report, solution=None, held='paused'),
        dataclasses.replace(report, solution=None, held='closing pin'),
    ]
    for each in said:
        for k in range(4):
            output.publish(each, model, Time(sec=k))
    texts = [message.status[0].message for message in listener.messages]
    assert texts == [
        text
        for text in (
            'CONVERGED: no goal and no loop',
            'CONVERGED: no goal and no loop; goal hand is stale',
            'not solved: paused',
            'not solved: closing pin',
        )
        for _ in range(4)
    ]
    assert [message.header.stamp.sec for message in listener.messages] == [0, 1, 2, 3] * 4
    assert {message.status[0].hardware_id for message in listener.messages} == {'arm'}
    model.robot.name = 'leg'
    output.publish(said[-1], model, Time())
    assert listener.messages[-1].status[0].hardware_id == 'leg'
