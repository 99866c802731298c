"""Interactive markers that drag goals in RViz, if interactive_markers is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import PoseStamped
from ik_node.model.dof import DOF, parse_dofs
from ik_node.model.rotation import pose_from_matrix
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.messages.convert import Pose, pose_from_message, RefusedInputError
from ik_node.ros.parameters.settings import GoalSettings
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
# Rotations (xyzw) that turn x, the axis of a control, to x, y and z.
_AXIS_TURNS = ((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, _HALF, _HALF), (0.0, -_HALF, 0.0, _HALF))


def goal_marker(goal: GoalSettings, frame: str, pose: Pose, size: float) -> InteractiveMarker:
    """
    Return the marker of a goal, with an arrow or a ring for each constrained axis.

    `goal`: the goal; its axes are those of the root frame, or turn with the marker. `pose`: pose
    of the marker [m]. `size`: size of the whole marker [m].
    """
    marker = InteractiveMarker(name=goal.name, description=goal.name, scale=size)
    marker.header.frame_id = frame
    marker.pose = pose_message(pose)
    for dof in parse_dofs(goal.dof):
        control = InteractiveMarkerControl(name=dof.name, always_visible=True)
        rotation = control.orientation
        rotation.x, rotation.y, rotation.z, rotation.w = _AXIS_TURNS[dof % 3]
        kind = type(control)
        control.interaction_mode = kind.ROTATE_AXIS if dof.is_rotation else kind.MOVE_AXIS
        control.orientation_mode = kind.FIXED if goal.axes == 'world' else kind.INHERIT
        marker.controls.append(control)
    return marker


def marker_pose(goal: GoalSettings, goal_pose: Pose | None, reached: NDArray[np.float64]) -> Pose:
    """
    Return the pose of a goal's marker.

    It is the pose of the goal. If the goal constrains only translations along the axes of the
    link, the orientation is that of its frame on the link. `goal`: the goal, with its constrained
    axes. `goal_pose`: pose of the goal; None = it has none yet, and the marker is at its link.
    `reached` (4, 4): pose of the goal's frame on its link.
    """
    there = pose_from_matrix(reached)
    if goal_pose is None:
        return there
    rotates = any(dof >= DOF.EX for dof in parse_dofs(goal.dof))
    if goal.axes == 'link' and not rotates:
        # The axes are those of the link, so the orientation of the goal has no meaning.
        return goal_pose[0], there[1]
    return goal_pose


def dragged_to(feedback: Any) -> PoseStamped | None:
    """
    Return the pose to which a user has dragged a goal, as a message for ~/goals/<name>.

    The stamp is 0, which means now, because the viewer's clock may differ from the node's. Other
    feedback than a new pose gives None.
    """
    if feedback.event_type != InteractiveMarkerFeedback.POSE_UPDATE:
        return None
    message = PoseStamped(pose=feedback.pose)
    message.header.frame_id = feedback.header.frame_id
    return message


def pose_message(pose: Pose) -> PoseMessage:
    """Return a pose as geometry_msgs/Pose."""
    message = PoseMessage()
    position, orientation = message.position, message.orientation
    (
        (position.x, position.y, position.z),
        (orientation.x, orientation.y, orientation.z, orientation.w),
    ) = pose
    return message


TOPICS = '~/goal_markers'
# Size of a marker as a multiple of a joint axis' length.
_SIZE = 3.0


class GoalMarkers:
    """
    The interactive markers, one for each active goal, with its constrained axes.

    `take_goal`: callback of ~/goals/<name>: (goal name, geometry_msgs.msg.PoseStamped) -> None.
    """

    def __init__(self, node: Node, take_goal: Callable[[str, PoseStamped], None]) -> None:
        self._node = node
        self._take_goal = take_goal
        self._server: Any = None
        self._kinds: dict[str, object] = {}
        self._poses: dict[str, Pose] = {}

    @property
    def is_open(self) -> bool:
        """Return True while there are markers, or may be."""
        return self._server is not None

    def update(
        self, model: LoadedModel, q: NDArray[np.float64], goals: Mapping[str, Pose | None]
    ) -> None:
        """
        Create, move and remove markers so that each of these goals has one.

        `goals`: goals of the model; None for a goal without a pose, whose marker is at its link.
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
        """Remove all markers and their topics; the node calls this before it is destroyed."""
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
                    'goals cannot be dragged: markers.interactive is set, but the package '
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
            # The viewer already shows this pose. If the goal is refused, its marker is sent again.
            self._poses[name] = pose_from_message(name, message.pose)
        except RefusedInputError:
            del self._poses[name]
            self._kinds[name] = None
