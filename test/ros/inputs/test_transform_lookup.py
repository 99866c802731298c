"""Frames of /tf, with a stand-in for tf2_ros and without."""

import sys
from types import SimpleNamespace as Data
from typing import ClassVar

from geometry_msgs.msg import PoseStamped, TransformStamped
from ik_node.ros.inputs import transform_lookup
from ik_node.ros.inputs.inputs import Inputs
from ik_node.ros.inputs.transform_lookup import TransformLookup
from ik_node.ros.process import NodeCounts
import pytest
import rclpy
from rclpy.time import Time


class TransformError(Exception):
    """What tf2 raises when it does not know."""


class Buffer:
    """Knows the frames that a test has put in; the poses of `source` in `target`."""

    made: ClassVar[list] = []

    def __init__(self):
        self.known = {}
        Buffer.made.append(self)

    def put(self, target, source, x, time=0.0):
        """Have `source` stand at x in `target`, turned half about z, at a time; 0 for always."""
        known = TransformStamped()
        known.header.stamp = Time(nanoseconds=round(1e9 * time)).to_msg()
        known.transform.translation.x = x
        known.transform.rotation.z, known.transform.rotation.w = 1.0, 0.0
        self.known.setdefault((target, source), []).append((time, known))

    def lookup_transform(self, target, source, time):
        if (target, source) not in self.known:
            raise TransformError(f'{source} does not exist')
        history = self.known[target, source]
        seconds = 1e-9 * time.nanoseconds
        if not seconds or (history == [history[0]] and history[0][0] == 0.0):
            return history[-1][1]
        if not history[0][0] <= seconds <= history[-1][0]:
            raise TransformError('extrapolation')
        return max((each for each in history if each[0] <= seconds), key=lambda each: each[0])[1]

    def clear(self):
        self.known.clear()


class Listener:
    """Counts how many there are."""

    count = 0

    def __init__(self, buffer, node):
        Listener.count += 1

    def unregister(self):
        Listener.count -= 1


@pytest.fixture
def tf2(monkeypatch):
    Buffer.made, Listener.count = [], 0
    module = Data(Buffer=Buffer, TransformListener=Listener, TransformException=TransformError)
    monkeypatch.setitem(sys.modules, 'tf2_ros', module)
    clock = Data(now=100.0)
    monkeypatch.setattr(transform_lookup.time, 'monotonic', lambda: clock.now)
    return clock


def test_lookup_without_tf2_names_the_missing_package(monkeypatch):
    monkeypatch.setitem(sys.modules, 'tf2_ros', None)
    lookup = TransformLookup(object())
    with pytest.raises(LookupError, match='tf2_ros is not installed'):
        lookup.pose('base', 'camera')
    lookup.rewind()
    assert not lookup.is_starting


@pytest.fixture
def inputs(tf2, moving):
    """Provide the inputs of a node with a five-bar and a goal, and its rclpy node's log."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('inputs', context=context)
    inputs = Inputs(node, NodeCounts(), lambda text: None, lambda names, stamp: None)
    inputs.goal_inputs.set_goals(['tool'])
    tracker = moving('fivebar').tracker
    inputs.set_robot(tracker.model, lambda: tracker.q)
    yield inputs
    node.destroy_node()
    rclpy.try_shutdown(context=context)


def goal(x, frame='camera', time=0.0):
    message = PoseStamped()
    message.header.stamp = Time(nanoseconds=round(1e9 * time)).to_msg()
    message.header.frame_id = frame
    message.pose.position.x = x
    message.pose.orientation.w = 1.0
    return message


def test_a_goal_sent_once_waits_for_its_frame(tf2, inputs):
    """The first lookup subscribes to /tf, and the goal is accepted when its frame is known."""
    inputs.goal_inputs.take_goal('tool', goal(0.25))
    inputs.goal_inputs.take_early_goals()
    assert not inputs.goals.poses()
    assert not inputs.refusals.total
    Buffer.made[0].put('base_link', 'camera', 0.5)
    inputs.goal_inputs.take_early_goals()
    assert inputs.goals.poses()['tool'][0] == pytest.approx((0.25, 0.0, 0.0))
    inputs.goals.clear()
    inputs.goal_inputs.take_early_goals()
    assert not inputs.goals.poses()


def test_a_goal_whose_frame_never_comes_is_refused(tf2, inputs):
    """It is refused once, after two seconds; later goals in this frame at once."""
    inputs.goal_inputs.take_goal('tool', goal(0.25))
    tf2.now += 2.5
    inputs.goal_inputs.take_early_goals()
    inputs.goal_inputs.take_early_goals()
    assert inputs.refusals.total == 1
    assert 'camera does not exist' in inputs.refusals.last
    inputs.goal_inputs.take_goal('tool', goal(0.25))
    assert inputs.refusals.total == 2


def heard(inputs, *history):
    """Begin to listen, and hear of a camera at places and times; return the buffer."""
    inputs.goal_inputs.take_goal('tool', goal(9.0, 'nowhere'))
    inputs.forget()
    for x, time in history:
        Buffer.made[-1].put('base_link', 'camera', x, time)
    return Buffer.made[-1]


def x_of(inputs):
    pose = inputs.goals.poses().get('tool')
    return None if pose is None else pose[0][0]


def test_goal_is_transformed_at_its_stamp(tf2, inputs):
    heard(inputs, (0.5, 50.0), (0.7, 51.0), (0.9, 52.0))
    inputs.goal_inputs.take_goal('tool', goal(0.25, time=51.0))
    assert x_of(inputs) == pytest.approx(0.7 - 0.25)
    inputs.goal_inputs.take_goal('tool', goal(0.25))
    assert x_of(inputs) == pytest.approx(0.9 - 0.25)


def test_a_goal_waits_for_the_transform_of_its_stamp(tf2, inputs):
    """In a stream of goals, each newer than /tf, none is lost to the one after it."""
    buffer = heard(inputs, (0.5, 50.0), (0.6, 51.0))
    for time in (51.1, 51.2, 51.3):
        inputs.goal_inputs.take_goal('tool', goal(0.25, time=time))
        inputs.goal_inputs.take_early_goals()
        assert x_of(inputs) is None
    buffer.put('base_link', 'camera', 0.7, 51.2)
    inputs.goal_inputs.take_early_goals()
    assert x_of(inputs) == pytest.approx(0.7 - 0.25)
    assert inputs.refusals.total == 0
    buffer.put('base_link', 'camera', 0.8, 51.3)
    inputs.goal_inputs.take_early_goals()
    assert x_of(inputs) == pytest.approx(0.8 - 0.25)


def test_a_goal_is_as_old_as_its_transform(tf2, inputs):
    """Nobody publishes the camera's frame any more, so its last pose and the goal are old."""
    now = inputs.time.now()
    heard(inputs, (0.5, now - 60.0), (0.5, now - 30.0))
    inputs.goal_inputs.take_goal('tool', goal(0.25))
    assert inputs.goals.stale(now, 25.0) == ('tool',)
    assert inputs.goals.stale(now, 40.0) == ()
    heard(inputs).put('base_link', 'camera', 0.5, now)
    inputs.goal_inputs.take_goal('tool', goal(0.25))
    assert inputs.goals.stale(now, 25.0) == ()


def test_idle_lookup_unsubscribes_from_tf(tf2, inputs):
    """It unsubscribes ten seconds after the last lookup, and subscribes again on the next."""
    heard(inputs, (0.5, 50.0))
    inputs.goal_inputs.take_goal('tool', goal(0.25))
    assert Listener.count == 1
    tf2.now += 9.0
    inputs.lookup.stop_if_idle()
    assert Listener.count == 1
    inputs.goal_inputs.take_goal('tool', goal(0.25))
    tf2.now += 9.0
    inputs.lookup.stop_if_idle()
    assert Listener.count == 1
    tf2.now += 2.0
    inputs.lookup.stop_if_idle()
    assert Listener.count == 0
    inputs.goal_inputs.take_goal('tool', goal(0.3))
    assert Listener.count == 1
    Buffer.made[-1].put('base_link', 'camera', 0.5)
    inputs.goal_inputs.take_early_goals()
    assert x_of(inputs) == pytest.approx(0.5 - 0.3)
