"""What can be looked at: ~/markers and ~/goal_markers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from geometry_msgs.msg import PoseStamped
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.markers.goal_markers import GoalMarkers
from ik_node.ros.markers.marker_output import MarkerOutput, Sight
from ik_node.ros.messages.convert import Pose
from ik_node.ros.parameters.marker_settings import MarkerSettings
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node


class SceneOutput:
    """
    Draws the configuration that was published last, at the rate of `markers.rate`.

    Parameters
    ----------
    node : rclpy.node.Node
    take_goal : callable
        As for `GoalMarkers`.

    """

    def __init__(self, node: Node, take_goal: Callable[[str, PoseStamped], None]) -> None:
        self._markers = MarkerOutput(node)
        self._handles = GoalMarkers(node, take_goal)
        self._model: LoadedModel | None = None
        self._q: NDArray[np.float64] | None = None
        self._due = 0.0

    def tick(
        self,
        model: LoadedModel,
        q: NDArray[np.float64] | None,
        asked: Callable[[], Mapping[str, Pose | None]],
        settings: MarkerSettings,
        stamp: Any,
        until: float,
    ) -> None:
        """
        Draw, if it is time.

        Parameters
        ----------
        model : LoadedModel
            The one that ticks.
        q : ndarray, shape (nq,), or None
            What this tick has published [rad or m]; None = nothing.
        asked : callable
            Returns the goals that take part and their poses, None for one that has none.
        settings : MarkerSettings
            Of this tick.
        stamp : builtin_interfaces.msg.Time
            Of the tick.
        until : float
            When to leave the rest for the next tick [s], a value of `time.perf_counter`.

        """
        if model is not self._model:
            self._model, self._q, self._due = model, None, 0.0
        if q is not None:
            self._q = q
        if not self._markers.is_drawing:
            now = perf_counter()
            if now < self._due or self._q is None:
                return
            # A tick that is late does not make the ones after it early.
            self._due = max(self._due + settings.period, now)
            self._begin(model, self._q, asked(), settings, stamp)
        while self._markers.is_drawing:
            self._markers.draw()
            if perf_counter() >= until:
                return

    def _begin(
        self,
        model: LoadedModel,
        q: NDArray[np.float64],
        goals: Mapping[str, Pose | None],
        settings: MarkerSettings,
        stamp: Any,
    ) -> None:
        poses = {name: pose for name, pose in goals.items() if pose is not None}
        self._markers.begin(Sight(model, q, poses, settings, stamp))
        if settings.interactive:
            self._handles.update(model, q, goals)
        else:
            self._handles.close()

    def close(self) -> None:
        """End; to be called before the node is destroyed."""
        self._handles.close()
