"""Goals as interactive markers: what can be taken hold of, and what comes back of it."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import PoseStamped
from ik_node.model.dof import DOF, parse_dofs
from ik_node.ros.messages.convert import Pose, pose_from_matrix
from ik_node.ros.parameters.goal_settings import GoalSettings
import numpy as np
from numpy.typing import NDArray
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
)

_HALF = float(np.sqrt(0.5))
# Turns (xyzw) that lay x, the axis of a control, onto x, y and z.
_ONTO = ((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, _HALF, _HALF), (0.0, -_HALF, 0.0, _HALF))


def handle(goal: GoalSettings, frame: str, pose: Pose, size: float) -> InteractiveMarker:
    """
    Return the marker of a goal: an arrow or a ring for every axis that it asks for, no others.

    Parameters
    ----------
    goal : GoalSettings
        Its axes are the root frame's, or turn with the marker.
    frame : str
        That the pose counts in.
    pose : (position, quat_xyzw)
        [m]
    size : float
        Of the whole marker [m].

    """
    marker = InteractiveMarker(name=goal.name, description=goal.name, scale=size)
    marker.header.frame_id = frame
    marker.pose = pose_message(pose)
    for dof in parse_dofs(goal.dof):
        control = InteractiveMarkerControl(name=dof.name, always_visible=True)
        turn = control.orientation
        turn.x, turn.y, turn.z, turn.w = _ONTO[dof % 3]
        kind = type(control)
        control.interaction_mode = kind.ROTATE_AXIS if dof.is_rotation else kind.MOVE_AXIS
        control.orientation_mode = kind.FIXED if goal.axes == 'world' else kind.INHERIT
        marker.controls.append(control)
    return marker


def handle_pose(goal: GoalSettings, asked: Pose | None, reached: NDArray[np.float64]) -> Pose:
    """
    Return where the marker of a goal is.

    Parameters
    ----------
    goal : GoalSettings
        What it asks for.
    asked : (position, quat_xyzw), or None
        The pose of the goal; None = it has none yet, and is where its link is.
    reached : ndarray, shape (4, 4)
        Pose of the goal's frame on its link.

    """
    there = pose_from_matrix(reached)
    if asked is None:
        return there
    turns = any(dof >= DOF.EX for dof in parse_dofs(goal.dof))
    if goal.axes == 'link' and not turns:
        # Its axes are the link's, which no pose of a goal says.
        return asked[0], there[1]
    return asked


def dragged_to(feedback: Any) -> PoseStamped | None:
    """
    Return where a goal has been dragged to, as a message for ~/goals/<name>; None = nowhere.

    The stamp is left 0, which stands for now: it would be of the viewer's clock.

    Parameters
    ----------
    feedback : visualization_msgs.msg.InteractiveMarkerFeedback
        What a viewer has sent.

    """
    if feedback.event_type != InteractiveMarkerFeedback.POSE_UPDATE:
        return None
    message = PoseStamped(pose=feedback.pose)
    message.header.frame_id = feedback.header.frame_id
    return message


def pose_message(pose: Pose) -> PoseMessage:
    """Return a geometry_msgs/Pose."""
    message = PoseMessage()
    place, turn = message.position, message.orientation
    (place.x, place.y, place.z), (turn.x, turn.y, turn.z, turn.w) = pose
    return message
