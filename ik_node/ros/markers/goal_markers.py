"""~/goal_markers: goals to be dragged in RViz, where interactive_markers is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from geometry_msgs.msg import PoseStamped
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.markers.goal_handles import dragged_to, handle, handle_pose, pose_message
from ik_node.ros.messages.convert import Pose, pose_from_message
from ik_node.ros.messages.refused_input import RefusedInputError
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from std_msgs.msg import Header

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
            pose = handle_pose(goal, goals[name], model.reached(name, q))
            kind = (goal.structure, frame, size)
            if self._kinds.get(name) != kind:
                marker = handle(goal, frame, pose, size)
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
