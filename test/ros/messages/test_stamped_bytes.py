# flake8: noqa: E402, I100
"""Messages that are written over as bytes are those that would have been made anew."""

import dataclasses
from types import SimpleNamespace as Data

import pytest

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from ik_node.ros.messages.stamped_bytes import blank_stamp, NUMBER, StampedBytes
from ik_node.ros.outputs import node_outputs, status_output
from ik_node.ros.outputs.node_outputs import JointStateOutput
from ik_node.ros.outputs.status_output import StatusOutput
from ik_node.ros.outputs.tick_report import TickReport
import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.ros

NODE = Data(get_fully_qualified_name=lambda: '/ik_node')


class Listener:
    """Keeps what is published, as those read it who subscribe."""

    def __init__(self, kind):
        self.kind = kind
        self.kinds, self.messages = [], []

    def get_subscription_count(self):
        """Say that somebody is there."""
        return 1

    def publish(self, message):
        """Keep a copy."""
        self.kinds.append(type(message))
        raw = message if isinstance(message, bytes) else serialize_message(message)
        self.messages.append(deserialize_message(raw, self.kind))


def listen(monkeypatch, module):
    """Return who hears all that the outputs of a module publish."""
    kind = {node_outputs: JointState, status_output: DiagnosticArray}[module]
    listener = Listener(kind)
    monkeypatch.setattr(module, 'add_publisher', lambda *arguments: listener)
    return listener


def blank(*lengths):
    """Return a joint state with blanks: positions, velocities, efforts."""
    message = JointState(name=['a', 'bc'])
    message.header.stamp = blank_stamp()
    fields = ('position', 'velocity', 'effort')
    for field, length in zip(fields, lengths, strict=False):
        setattr(message, field, [NUMBER] * length)
    return message


def test_bytes_do_not_depend_on_names():
    """Whatever the lengths of texts before them, stamp and numbers are found and written."""
    for length in range(9):
        message = blank(2, 3)
        message.header.frame_id, message.name = 'f' * length, ['n' * (2 * length), 'm']
        found = StampedBytes(message, 2, 3)
        assert found.usable
        for stamp in (Time(sec=-5, nanosec=999_999_999), Time(sec=2**31 - 1, nanosec=0)):
            raw = found.filled(stamp, np.array([1.0, -2.0]), np.array([3.0, np.inf, 5e-324]))
            read = deserialize_message(raw, JointState)
            assert read.header.stamp == stamp
            assert read.name == message.name
            assert list(read.position) == [1.0, -2.0]
            assert list(read.velocity) == [3.0, np.inf, 5e-324]


def test_what_is_not_found_makes_bytes_unusable():
    """More or fewer than were written, no stamp, two of them: nothing is written over."""
    assert StampedBytes(blank(2, 3), 2, 3).usable
    assert not StampedBytes(blank(2, 3), 2, 2).usable
    assert not StampedBytes(blank(2, 3), 3, 2).usable
    assert not StampedBytes(blank(2, 3), 2, 3, 1).usable
    assert not StampedBytes(JointState(position=[NUMBER]), 1).usable
    twice = DiagnosticArray()
    assert not StampedBytes(twice).usable
    twice.header.stamp = blank_stamp()
    assert StampedBytes(twice).usable


def test_numbers_of_another_size_are_refused():
    """The message would be another one."""
    with pytest.raises(ValueError, match='different structures'):
        StampedBytes(blank(2), 2).filled(Time(), np.zeros(3))


@pytest.mark.parametrize('usable', [True, False])
def test_joint_states(monkeypatch, usable):
    """The same is read, whether the middleware's bytes can be written over or not."""
    listener = listen(monkeypatch, node_outputs)
    output = JointStateOutput(NODE)
    for names in (('a', 'b'), ('left_elbow', 'x', 'y')):
        output.set_model(Data(joint_names=names))
        output._bytes.usable = usable
        for k in range(2):
            numbers = np.arange(len(names)) + 0.5 * k
            output.publish(numbers, -numbers, Time(sec=k, nanosec=7))
            read = listener.messages[-1]
            assert read.header.stamp == Time(sec=k, nanosec=7)
            assert tuple(read.name) == names
            assert list(read.position) == numbers.tolist()
            assert list(read.velocity) == (-numbers).tolist()
            assert list(read.effort) == []
    assert set(listener.kinds) == {bytes if usable else JointState}


@pytest.mark.parametrize('usable', [True, False])
def test_a_status_that_comes_again(monkeypatch, usable):
    """Only its stamp is another one; whatever else changes is said at once."""
    if not usable:
        never = property(lambda each: False, lambda each, value: None)
        monkeypatch.setattr(StampedBytes, 'usable', never, raising=False)
    listener = listen(monkeypatch, status_output)
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
    again = bytes if usable else DiagnosticArray
    assert listener.kinds == [DiagnosticArray, again, again, again] * 4
    model.robot.name = 'leg'
    output.publish(said[-1], model, Time())
    assert listener.messages[-1].status[0].hardware_id == 'leg'
