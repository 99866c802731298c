# flake8: noqa: E402, I100
"""Frames of /tf, with a stand-in for tf2_ros and without."""

import sys
from types import SimpleNamespace as Data
from typing import ClassVar

import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseStamped, TransformStamped
from ik_node.ros.goals import transform_lookup
from ik_node.ros.goals.transform_lookup import TransformLookup
from ik_node.ros.inputs import Inputs
from ik_node.ros.node_counts import NodeCounts
from ik_node.ros.rare_callbacks import RareCallbacks
import numpy as np
import rclpy


class TransformError(Exception):
    """What tf2 raises when it does not know."""


class Buffer:
    """Knows the frames that a test has put in; the poses of `source` in `target`."""

    made: ClassVar[list] = []

    def __init__(self):
        self.known = {}
        Buffer.made.append(self)

    def put(self, target, source, x):
        """Have `source` stand at x in `target`, turned half about z."""
        known = TransformStamped()
        known.transform.translation.x = x
        known.transform.rotation.z, known.transform.rotation.w = 1.0, 0.0
        self.known[target, source] = known

    def lookup_transform(self, target, source, time):
        """Return the latest."""
        assert time.nanoseconds == 0
        if (target, source) not in self.known:
            raise TransformError(f'{source} does not exist')
        return self.known[target, source]

    def clear(self):
        """Forget."""
        self.known.clear()


@pytest.fixture
def tf2(monkeypatch):
    """Provide a stand-in for tf2_ros, and a clock; return both."""
    Buffer.made = []
    module = Data(
        Buffer=Buffer,
        TransformListener=lambda buffer, node: (buffer, node),
        TransformException=TransformError,
    )
    monkeypatch.setitem(sys.modules, 'tf2_ros', module)
    clock = Data(now=100.0)
    monkeypatch.setattr(transform_lookup.time, 'monotonic', lambda: clock.now)
    return clock


def test_the_pose_of_a_frame(tf2):
    """Translation and rotation; it listens from the first question on, once."""
    lookup = TransformLookup(object())
    assert not Buffer.made
    with pytest.raises(LookupError, match="no transform from 'base': camera does not exist"):
        lookup.pose('base', 'camera')
    Buffer.made[0].put('base', 'camera', 0.5)
    expected = np.diag([-1.0, -1.0, 1.0, 1.0])
    expected[0, 3] = 0.5
    np.testing.assert_allclose(lookup.pose('base', 'camera'), expected, atol=1e-15)
    assert len(Buffer.made) == 1


def test_without_tf2(monkeypatch):
    """It says what is missing, and that is no reason to wait."""
    monkeypatch.setitem(sys.modules, 'tf2_ros', None)
    lookup = TransformLookup(object())
    with pytest.raises(LookupError, match='tf2_ros is not installed'):
        lookup.pose('base', 'camera')
    lookup.rewind()
    assert not lookup.is_new


def test_a_clock_that_jumps_back(tf2):
    """What was heard is of a time to come: it is forgotten, and asked for anew."""
    lookup = TransformLookup(object())
    with pytest.raises(LookupError):
        lookup.pose('base', 'camera')
    Buffer.made[0].put('base', 'camera', 0.5)
    tf2.now += 60.0
    assert not lookup.is_new
    lookup.rewind()
    assert lookup.is_new
    with pytest.raises(LookupError):
        lookup.pose('base', 'camera')


@pytest.fixture
def inputs(tf2, moving):
    """Provide the inputs of a node with a five-bar and a goal, and its rclpy node's log."""
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('inputs', context=context)
    inputs = Inputs(
        node, NodeCounts(), lambda text: None, RareCallbacks(node.default_callback_group)
    )
    inputs.set_goals(['tool'], '')
    inputs.set_tracker(moving('fivebar').tracker)
    yield inputs
    node.destroy_node()
    rclpy.try_shutdown(context=context)


def goal(x, frame='camera'):
    """Return a pose in a frame."""
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x = x
    message.pose.orientation.w = 1.0
    return message


def test_a_goal_sent_once_waits_for_its_frame(tf2, inputs):
    """The first question only begins to listen: the goal is taken when the frame is heard."""
    inputs.take_goal('tool', goal(0.25))
    inputs.take_early_goals()
    assert not inputs.goals.poses()
    assert not inputs.refusals.total
    Buffer.made[0].put('base_link', 'camera', 0.5)
    inputs.take_early_goals()
    assert inputs.goals.poses()['tool'][0] == pytest.approx((0.25, 0.0, 0.0))
    inputs.goals.clear()
    inputs.take_early_goals()
    assert not inputs.goals.poses()


def test_a_goal_whose_frame_never_comes_is_refused(tf2, inputs):
    """After two seconds, once; those after it at once."""
    inputs.take_goal('tool', goal(0.25))
    tf2.now += 2.5
    inputs.take_early_goals()
    inputs.take_early_goals()
    assert inputs.refusals.total == 1
    assert 'camera does not exist' in inputs.refusals.last
    inputs.take_goal('tool', goal(0.25))
    assert inputs.refusals.total == 2


def test_the_last_goal_wins_over_one_that_waits(tf2, inputs):
    """Whatever is heard later; so does a reset."""
    inputs.take_goal('tool', goal(0.25))
    inputs.take_goal('tool', goal(0.1, ''))
    Buffer.made[0].put('base_link', 'camera', 0.5)
    inputs.take_early_goals()
    assert inputs.goals.poses()['tool'][0] == pytest.approx((0.1, 0.0, 0.0))
    Buffer.made[0].clear()
    inputs.take_goal('tool', goal(0.25))
    inputs.forget()
    Buffer.made[0].put('base_link', 'camera', 0.5)
    inputs.take_early_goals()
    assert not inputs.goals.poses()
