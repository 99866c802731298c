"""/tf of a floating base and of wide joints, with a stand-in for tf2_ros and without."""

import math
import sys
from types import SimpleNamespace as Data

from builtin_interfaces.msg import Time
from ik_node.robot import load_robot
from ik_node.ros.loading import LoadedModel
from ik_node.ros.messages import FrameNames
from ik_node.ros.outputs import TransformOutput
import pytest

ARM = """<robot name="arm"><link name="base"/><link name="tip"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="tip"/></joint></robot>"""
WIDE = """<robot name="wide"><link name="base"/><link name="arm"/><link name="ball"/>
  <link name="plate"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/></joint>
  <joint name="loose" type="floating"><parent link="arm"/><child link="ball"/>
    <origin xyz="0.5 0 0"/></joint>
  <joint name="slide" type="planar"><parent link="base"/><child link="plate"/>
    <axis xyz="1 0 0"/></joint></robot>"""
STAMP = Time(sec=7)


class Broadcaster:
    """Keeps what is sent, as a list to be extended."""

    def __init__(self, sent):
        self.sendTransform = sent.extend


class Log:
    """A node that keeps its warnings, each once."""

    def __init__(self):
        self.said = []

    def get_logger(self):
        return self

    def warning(self, text, once):
        if not (once and text in self.said):
            self.said.append(text)


def model(root, text=ARM):
    robot = load_robot(text, root=root)
    made = Data(robot=robot, request=Data(settings=Data(root=root)), frames=FrameNames(robot))
    made.has_transforms = LoadedModel.has_transforms.func(made)
    return made


@pytest.fixture
def tf2(monkeypatch):
    sent = []
    tf2_ros = Data(TransformBroadcaster=lambda node: Broadcaster(sent))
    monkeypatch.setitem(sys.modules, 'tf2_ros', tf2_ros)
    return sent


def test_floating_base_is_broadcast(tf2):
    """Each base has one transform from the world to its link, with the stamp of the tick."""
    floating = model('floating')
    q = floating.robot.q
    q[:3] = (1.0, 2.0, 3.0)
    TransformOutput(Log()).publish(floating, q, STAMP)
    (message,) = tf2
    assert (message.header.frame_id, message.child_frame_id) == ('world', 'base')
    assert message.header.stamp == STAMP
    move, turn = message.transform.translation, message.transform.rotation
    assert (move.x, move.y, move.z) == (1.0, 2.0, 3.0)
    assert (turn.x, turn.y, turn.z, turn.w) == (0.0, 0.0, 0.0, 1.0)


def test_multi_dof_joints_are_broadcast(tf2):
    """Each is sent from its parent link to its child; joints with one DoF are not."""
    wide = model('fixed', WIDE)
    q = wide.robot.q
    for name, value in (('turn', 1.0), ('loose.Z', 0.2), ('loose.EZ', 0.3)):
        q[wide.robot.joint_names.index(name)] = value
    q[wide.robot.joint_names.index('slide.Y')] = 0.7
    TransformOutput(Log()).publish(wide, q, STAMP)
    sent = {(each.header.frame_id, each.child_frame_id): each.transform for each in tf2}
    assert {*sent} == {('arm', 'ball'), ('base', 'plate')}
    loose = sent['arm', 'ball']
    move, turn = loose.translation, loose.rotation
    assert (move.x, move.y, move.z) == pytest.approx((0.5, 0.0, 0.2))
    assert (turn.x, turn.y, turn.z, turn.w) == pytest.approx(
        (0, 0, math.sin(0.15), math.cos(0.15))
    )
    slide = sent['base', 'plate'].translation
    # The plane is normal to x.
    assert (slide.x, slide.y, slide.z) == pytest.approx((0.0, 0.7, 0.0))


def test_missing_tf2_is_logged_once(monkeypatch):
    monkeypatch.setitem(sys.modules, 'tf2_ros', None)
    floating, node = model('floating'), Log()
    output = TransformOutput(node)
    for _ in range(3):
        output.publish(floating, floating.robot.q, STAMP)
    assert len(node.said) == 1
    assert 'tf2_ros is not installed' in node.said[0]
