"""Goals as interactive markers, as messages."""

from ik_node.model.rotation import pose_matrix, quat_to_matrix
from ik_node.ros.markers.scene_output import dragged_to, goal_marker, marker_pose
from ik_node.ros.parameters.settings import Settings
import numpy as np
import pytest
from visualization_msgs.msg import InteractiveMarkerControl, InteractiveMarkerFeedback

POSE = ((0.1, 0.2, 0.3), (0.0, 0.0, 0.6, 0.8))
REACHED = pose_matrix((1.0, 2.0, 3.0), (0.8, 0.0, 0.0, 0.6))
MOVE, TURN = InteractiveMarkerControl.MOVE_AXIS, InteractiveMarkerControl.ROTATE_AXIS


def goal(dof='X Y Z EX EY EZ', axes='world'):
    values = {'goal_names': ('hand',), 'goals.hand.dof': dof, 'goals.hand.axes': axes}
    return Settings.from_values(values).goals[0]


def controls(marker):
    found = []
    for control in marker.controls:
        quat = control.orientation
        axis = quat_to_matrix((quat.x, quat.y, quat.z, quat.w))[:, 0]
        found.append((control.interaction_mode, tuple(np.round(axis, 9).tolist())))
    return found


def test_a_whole_pose_has_six_controls():
    marker = goal_marker(goal(), 'base', POSE, 0.25)
    axes = [tuple(row) for row in np.eye(3).tolist()]
    assert controls(marker) == [(kind, axis) for kind in (MOVE, TURN) for axis in axes]
    assert (marker.name, marker.header.frame_id, marker.scale) == ('hand', 'base', 0.25)
    assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (0, 0)
    assert marker.pose.position.y == 0.2
    assert marker.pose.orientation.w == 0.8


@pytest.mark.parametrize(
    ('dof', 'expected'),
    [
        ('X Y', [(MOVE, (1, 0, 0)), (MOVE, (0, 1, 0))]),
        ('EZ', [(TURN, (0, 0, 1))]),
        ('Z EY', [(MOVE, (0, 0, 1)), (TURN, (0, 1, 0))]),
    ],
)
def test_free_axes_have_no_control(dof, expected):
    assert controls(goal_marker(goal(dof), 'base', POSE, 0.25)) == expected


@pytest.mark.parametrize('axes', ['world', 'goal', 'link'])
def test_controls_turn_with_the_marker_unless_axes_are_world(axes):
    modes = {
        control.orientation_mode
        for control in goal_marker(goal(axes=axes), '', POSE, 1.0).controls
    }
    kind = InteractiveMarkerControl
    assert modes == {kind.FIXED if axes == 'world' else kind.INHERIT}


def test_a_goal_without_pose_is_where_its_link_is():
    position, quat = marker_pose(goal(), None, REACHED)
    assert np.allclose(pose_matrix(position, quat), REACHED)


def test_marker_has_the_pose_of_its_goal():
    """Its orientation is the link's if the axes are the link's and no rotation is constrained."""
    for dof in ['X Y', 'X Y Z EX', 'EZ']:
        for axes in ['world', 'goal', 'link']:
            position, quat = marker_pose(goal(dof, axes), POSE, REACHED)
            assert position == POSE[0]
            if axes == 'link' and dof == 'X Y':
                assert quat == pytest.approx((0.8, 0.0, 0.0, 0.6))
            else:
                assert quat == POSE[1]


def test_only_pose_feedback_becomes_a_goal():
    feedback = InteractiveMarkerFeedback(event_type=InteractiveMarkerFeedback.POSE_UPDATE)
    feedback.header.frame_id, feedback.header.stamp.sec = 'table', 1234
    feedback.pose.position.x = 0.5
    message = dragged_to(feedback)
    assert (message.header.frame_id, message.header.stamp.sec) == ('table', 0)
    assert message.pose.position.x == 0.5
    for name in ('KEEP_ALIVE', 'MENU_SELECT', 'BUTTON_CLICK', 'MOUSE_DOWN', 'MOUSE_UP'):
        feedback.event_type = getattr(InteractiveMarkerFeedback, name)
        assert dragged_to(feedback) is None
