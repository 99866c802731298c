"""~/goal_markers: goals to be dragged in RViz, where interactive_markers is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import PoseStamped
from ik_node.model.dof import DOF, parse_dofs
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import Pose, pose_from_matrix, pose_from_message
from ik_node.ros.messages.refusals import RefusedInputError
from ik_node.ros.parameters.goal_settings import GoalSettings
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Header
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
)

_HALF = float(np.sqrt(0.5))
# Turns (xyzw) that lay x, the axis of a control, onto x, y and z.
_AXIS_TURNS = ((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, _HALF, _HALF), (0.0, -_HALF, 0.0, _HALF))


def goal_marker(goal: GoalSettings, frame: str, pose: Pose, size: float) -> InteractiveMarker:
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
        turn.x, turn.y, turn.z, turn.w = _AXIS_TURNS[dof % 3]
        kind = type(control)
        control.interaction_mode = kind.ROTATE_AXIS if dof.is_rotation else kind.MOVE_AXIS
        control.orientation_mode = kind.FIXED if goal.axes == 'world' else kind.INHERIT
        marker.controls.append(control)
    return marker


def marker_pose(goal: GoalSettings, goal_pose: Pose | None, reached: NDArray[np.float64]) -> Pose:
    """
    Return where the marker of a goal is.

    Parameters
    ----------
    goal : GoalSettings
        What it asks for.
    goal_pose : (position, quat_xyzw), or None
        The pose of the goal; None = it has none yet, and is where its link is.
    reached : ndarray, shape (4, 4)
        Pose of the goal's frame on its link.

    """
    there = pose_from_matrix(reached)
    if goal_pose is None:
        return there
    turns = any(dof >= DOF.EX for dof in parse_dofs(goal.dof))
    if goal.axes == 'link' and not turns:
        # Its axes are the link's, which no pose of a goal says.
        return goal_pose[0], there[1]
    return goal_pose


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
    position, orientation = message.position, message.orientation
    (
        (position.x, position.y, position.z),
        (orientation.x, orientation.y, orientation.z, orientation.w),
    ) = pose
    return message


TOPICS = '~/goal_markers'
# Size of a marker in lengths of a joint's axis.
_SIZE = 3.0


class GoalMarkers:
    """
    One interactive marker for every goal that takes part, on the axes that it asks for.

    Parameters
    ----------
    node : rclpy.node.Node
    take_goal : callable
        (name of the goal, geometry_msgs.msg.PoseStamped) -> None; what ~/goals/<name> calls.

    """

    def __init__(self, node: Node, take_goal: Callable[[str, PoseStamped], None]) -> None:
        self._node = node
        self._take_goal = take_goal
        self._server: Any = None
        self._kinds: dict[str, object] = {}
        self._poses: dict[str, Pose] = {}

    def update(
        self, model: LoadedModel, q: NDArray[np.float64], goals: Mapping[str, Pose | None]
    ) -> None:
        """
        Have a marker for each of these goals, and no others.

        Parameters
        ----------
        model : LoadedModel
            The one that ticks.
        q : ndarray, shape (nq,)
            The present configuration [rad or m].
        goals : mapping of str to (position, quat_xyzw), or None
            Goals of the model; None = it has no pose yet, and is where its link is.

        """
        if not self._has_server():
            return
        changed = False
        for name in [name for name in self._kinds if name not in goals]:
            del self._kinds[name], self._poses[name]
            changed = self._server.erase(name)
        frame, size = model.root_frame, _SIZE * model.helper.joint_scale
        for goal in model.request.goals:
            name = goal.name
            if name not in goals:
                continue
            pose = marker_pose(goal, goals[name], model.reached(name, q))
            kind = (goal.structure, frame, size)
            if self._kinds.get(name) != kind:
                marker = goal_marker(goal, frame, pose, size)
                self._server.insert(marker, feedback_callback=self._on_feedback)
            elif self._poses[name] != pose:
                self._server.setPose(name, pose_message(pose), Header(frame_id=frame))
            else:
                continue
            self._kinds[name], self._poses[name], changed = kind, pose, True
        if changed:
            self._server.applyChanges()

    def close(self) -> None:
        """Take all markers away, and the topics; to be called before the node is destroyed."""
        if self._server is not None:
            self._server.shutdown()
            self._server = None
            self._kinds.clear()
            self._poses.clear()

    def _has_server(self) -> bool:
        if self._server is None:
            try:
                from interactive_markers import InteractiveMarkerServer
            except ImportError:
                self._node.get_logger().warning(
                    'no goals to drag: markers.interactive is set, but the package '
                    'interactive_markers is not installed',
                    once=True,
                )
                return False
            self._server = InteractiveMarkerServer(self._node, TOPICS)
        return True

    def _on_feedback(self, feedback: Any) -> None:
        message, name = dragged_to(feedback), feedback.marker_name
        if message is None or name not in self._kinds:
            return
        self._take_goal(name, message)
        try:
            # The viewer has it there already; if the goal is refused, it is sent back.
            self._poses[name] = pose_from_message(name, message.pose)
        except RefusedInputError:
            del self._poses[name]
            self._kinds[name] = None
