"""Goals are dragged through interactive_markers, of which there is a stand-in."""

import sys
from types import SimpleNamespace as Data

from ik_node.model.rotation import pose_matrix
from ik_node.ros.markers.scene_output import GoalMarkers
from ik_node.ros.parameters.settings import Settings
import numpy as np
import pytest
from visualization_msgs.msg import InteractiveMarkerFeedback

START = ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0))
THERE = ((0.5, 0.0, 1.0), (0.0, 0.0, 0.6, 0.8))
Q = np.zeros(1)


class Server:
    """What clients would see: markers with poses and callbacks, after changes are applied."""

    def __init__(self, node, topics):
        self.topics, self.shown, self.waiting = topics, {}, []
        self.applied, self.ended = 0, False
        node.servers.append(self)

    def insert(self, marker, *, feedback_callback):
        self.waiting.append(lambda: self.shown.update({marker.name: (marker, feedback_callback)}))

    def setPose(self, name, pose, header):  # noqa: N802
        def move():
            marker, _ = self.shown[name]
            marker.pose, marker.header = pose, header

        self.waiting.append(move)
        return True

    def erase(self, name):
        self.waiting.append(lambda: self.shown.pop(name))
        return True

    def applyChanges(self):  # noqa: N802
        self.applied += 1
        for change in self.waiting:
            change()
        self.waiting.clear()

    def shutdown(self):
        self.shown.clear()
        self.ended = True

    def drag(self, name, x, event=InteractiveMarkerFeedback.POSE_UPDATE, w=1.0):
        marker, callback = self.shown[name]
        feedback = InteractiveMarkerFeedback(marker_name=name, event_type=event)
        feedback.header = marker.header
        feedback.pose.position.x, feedback.pose.orientation.w = x, w
        callback(feedback)


class Node:
    """Keeps servers and warnings."""

    def __init__(self):
        self.servers, self.said = [], []

    def get_logger(self):
        return self

    def warning(self, text, once):
        if not (once and text in self.said):
            self.said.append(text)


class Goals:
    """Goal markers with a stand-in for everything around them."""

    def __init__(self):
        self.node, self.taken = Node(), []
        self.markers = GoalMarkers(self.node, lambda *words: self.taken.append(words))
        self.poses, self.dof, self.scale = {'hand': None, 'foot': THERE}, 'X Y Z', 0.1

    @property
    def server(self):
        return self.node.servers[-1]

    def update(self):
        values = {'goal_names': ('hand', 'foot'), 'goals.hand.dof': self.dof}
        model = Data(
            request=Data(goals=Settings.from_values(values).goals),
            root_frame='base',
            helper=Data(joint_scale=self.scale),
            reached=lambda name, q: pose_matrix(*START),
        )
        self.markers.update(model, Q, self.poses)
        if not self.node.servers:
            return None
        return {
            name: (marker.pose.position.x, marker.pose.position.z, marker.header.frame_id)
            for name, (marker, _) in self.server.shown.items()
        }


@pytest.fixture
def goals(monkeypatch):
    monkeypatch.setitem(sys.modules, 'interactive_markers', Data(InteractiveMarkerServer=Server))
    return Goals()


def test_each_goal_has_one_marker(goals):
    """It is at the goal or at its link, in the root frame, on the node's own topics."""
    assert goals.update() == {'hand': (0.0, 1.0, 'base'), 'foot': (0.5, 1.0, 'base')}
    assert goals.server.topics == '~/goal_markers'
    assert goals.server.shown['hand'][0].scale == pytest.approx(0.3)
    goals.update()
    assert goals.server.applied == 1, 'unchanged goals send nothing'


def test_markers_follow_their_goals(goals):
    """A goal moved by another client moves its marker; a removed goal removes it."""
    goals.update()
    goals.poses = {'hand': THERE}
    assert goals.update() == {'hand': (0.5, 1.0, 'base')}
    goals.poses = {}
    assert goals.update() == {}
    goals.poses = {'foot': THERE}
    assert goals.update() == {'foot': (0.5, 1.0, 'base')}


@pytest.mark.parametrize('change', [{'dof': 'X'}, {'scale': 0.2}])
def test_changed_axes_or_size_replace_the_marker(goals, change):
    goals.update()
    before = goals.server.shown['hand'][0]
    vars(goals).update(change)
    goals.update()
    after = goals.server.shown['hand'][0]
    assert after is not before
    assert len(after.controls) == len(goals.dof.split())
    assert after.scale == pytest.approx(3.0 * goals.scale)


def test_dragging_sends_the_goal(goals):
    goals.update()
    goals.server.drag('hand', 0.25)
    ((name, message),) = goals.taken
    assert (name, message.header.frame_id, message.pose.position.x) == ('hand', 'base', 0.25)
    goals.poses['hand'] = ((0.25, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    goals.update()
    assert goals.server.applied == 1
    goals.server.drag('hand', 0.5, InteractiveMarkerFeedback.MOUSE_UP)
    assert len(goals.taken) == 1


@pytest.mark.parametrize('w', [1.0, 0.0])
def test_marker_of_a_refused_goal_returns(goals, w):
    goals.update()
    goals.server.drag('foot', 0.25, w=w)
    assert goals.update()['foot'] == (0.5, 1.0, 'base')
    assert goals.server.applied == 2


def test_markers_can_be_closed_and_opened_again(goals):
    goals.markers.close()
    goals.update()
    first = goals.server
    goals.markers.close()
    goals.markers.close()
    assert first.ended
    assert set(goals.update()) == {'hand', 'foot'}
    assert goals.server is not first


def test_missing_interactive_markers_is_logged_once(monkeypatch):
    monkeypatch.setitem(sys.modules, 'interactive_markers', None)
    goals = Goals()
    for _ in range(3):
        assert goals.update() is None
    (line,) = goals.node.said
    assert 'interactive_markers is not installed' in line
    goals.markers.close()
