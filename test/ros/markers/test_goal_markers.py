"""Goals are dragged through interactive_markers, of which there is a stand-in."""

import sys
from types import SimpleNamespace as Data

from ik_node.model.rotation import pose_matrix, quat_to_matrix
from ik_node.ros.markers import goal_marker, GoalMarkers
from ik_node.ros.parameters.settings import Settings
import numpy as np
import pytest
from visualization_msgs.msg import InteractiveMarkerControl, InteractiveMarkerFeedback

START = ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0))
THERE = ((0.5, 0.2, 1.0), (0.0, 0.0, 0.6, 0.8))
MOVE, TURN = InteractiveMarkerControl.MOVE_AXIS, InteractiveMarkerControl.ROTATE_AXIS
UPDATE = InteractiveMarkerFeedback.POSE_UPDATE


def goal(dof='X Y Z EX EY EZ', axes='world'):
    """Return the settings of a goal."""
    values = {'goal_names': ('hand',), 'goals.hand.dof': dof, 'goals.hand.axes': axes}
    return Settings.from_values(values).goals[0]


@pytest.mark.parametrize(
    ('dof', 'expected'),
    [
        ('X Y Z EX EY EZ', [(kind, axis) for kind in (MOVE, TURN) for axis in 'xyz']),
        ('X Y', [(MOVE, 'x'), (MOVE, 'y')]),
        ('Z EY', [(MOVE, 'z'), (TURN, 'y')]),
    ],
)
def test_each_constrained_axis_has_a_control(dof, expected):
    """An arrow or a ring; axes of the root frame stay fixed, others turn with the marker."""
    for axes in ('world', 'goal', 'link'):
        marker = goal_marker(goal(dof, axes), 'base', THERE, 0.25)
        found = []
        for control in marker.controls:
            quat = control.orientation
            axis = quat_to_matrix((quat.x, quat.y, quat.z, quat.w))[:, 0]
            found.append((control.interaction_mode, 'xyz'[int(np.argmax(axis))]))
            assert axis.max() == pytest.approx(1.0)
            kind = InteractiveMarkerControl
            fixed = kind.FIXED if axes == 'world' else kind.INHERIT
            assert control.orientation_mode == fixed
        assert found == expected
    assert (marker.name, marker.header.frame_id, marker.scale) == ('hand', 'base', 0.25)
    assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (0, 0)
    assert (marker.pose.position.y, marker.pose.orientation.w) == (0.2, 0.8)


class Server:
    """What clients would see: markers with poses and callbacks, after changes are applied."""

    def __init__(self, node, topics):
        self.topics, self.shown, self.waiting = topics, {}, []
        self.applied, self.ended = 0, False
        node.servers.append(self)

    def insert(self, marker, *, feedback_callback):
        self.waiting.append(lambda: self.shown.update({marker.name: (marker, feedback_callback)}))

    def setPose(self, name, pose, header):  # noqa: N802
        self.waiting.append(
            lambda: (
                self.shown[name][0].__setattr__('pose', pose)
                or self.shown[name][0].__setattr__('header', header)
            )
        )
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

    def drag(self, name, x, event=UPDATE, w=1.0):
        """Do what a client does."""
        marker, callback = self.shown[name]
        feedback = InteractiveMarkerFeedback(marker_name=name, event_type=event)
        feedback.header = marker.header
        feedback.pose.position.x, feedback.pose.orientation.w = x, w
        callback(feedback)


class Goals:
    """Goal markers with a stand-in for everything around them."""

    def __init__(self):
        self.servers, self.said, self.taken = [], [], []
        self.markers = GoalMarkers(self, lambda *words: self.taken.append(words))
        self.poses, self.dof, self.scale = {'hand': None, 'foot': THERE}, 'X Y Z', 0.1

    @property
    def server(self):
        return self.servers[-1]

    # The node and its logger.
    def get_logger(self):
        return self

    def warning(self, text, once):
        if not (once and text in self.said):
            self.said.append(text)

    def update(self):
        """Update once; return names and positions of what clients see."""
        values = {'goal_names': ('hand', 'foot'), 'goals.hand.dof': self.dof}
        model = Data(
            request=Data(goals=Settings.from_values(values).goals),
            root_frame='base',
            helper=Data(joint_scale=self.scale),
            reached=lambda name, q: pose_matrix(*START),
        )
        self.markers.update(model, np.zeros(1), self.poses)
        shown = self.server.shown if self.servers else {}
        return {
            name: (marker.pose.position.x, marker.pose.position.z, marker.header.frame_id)
            for name, (marker, _) in shown.items()
        }


@pytest.fixture
def goals(monkeypatch):
    monkeypatch.setitem(sys.modules, 'interactive_markers', Data(InteractiveMarkerServer=Server))
    return Goals()


def test_each_goal_has_one_marker_that_follows_it(goals):
    """In the root frame, on the node's own topics; a removed goal removes its marker."""
    assert goals.update() == {'hand': (0.0, 1.0, 'base'), 'foot': (0.5, 1.0, 'base')}
    assert goals.server.topics == '~/goal_markers'
    assert goals.server.shown['hand'][0].scale == pytest.approx(0.3)
    goals.update()
    assert goals.server.applied == 1, 'unchanged goals send nothing'
    goals.poses = {'hand': THERE}
    assert goals.update() == {'hand': (0.5, 1.0, 'base')}
    _, callback = goals.server.shown['hand']
    goals.poses = {}
    assert goals.update() == {}
    # A client that does not know the removal yet moves nothing.
    callback(InteractiveMarkerFeedback(marker_name='hand', event_type=UPDATE))
    assert goals.taken == []
    goals.poses = {'foot': THERE}
    assert goals.update() == {'foot': (0.5, 1.0, 'base')}


def test_dragging_sends_the_goal(goals):
    """It is accepted as on ~/goals/<name>, and the marker is not moved back."""
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
    """It returns to its goal, also from an invalid pose."""
    goals.update()
    goals.server.drag('foot', 0.25, w=w)
    assert goals.update()['foot'] == (0.5, 1.0, 'base')
    assert goals.server.applied == 2


def test_missing_interactive_markers_is_logged_once(monkeypatch):
    monkeypatch.setitem(sys.modules, 'interactive_markers', None)
    goals = Goals()
    for _ in range(3):
        assert goals.update() == {}
    (line,) = goals.said
    assert 'interactive_markers is not installed' in line
    goals.markers.close()
