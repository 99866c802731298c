"""Publisher of ~/markers and ~/goal_markers at the rate of `markers.rate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any

from geometry_msgs.msg import PoseStamped
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.markers.goal_markers import GoalMarkers
from ik_node.ros.markers.marker_book import MarkerBook
from ik_node.ros.messages.convert import Pose
from ik_node.ros.parameters.settings import MarkerSettings
from ik_node.ros.process.named_entities import add_publisher
from ik_node.scene import LAYERS, Shape
import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from visualization_msgs.msg import Marker, MarkerArray


class MarkerOutput:
    """
    The publisher of ~/markers, which draws only if there are subscribers.

    A state is drawn layer by layer, one message each, so that one tick need not draw all of it.
    """

    def __init__(self, node: Node) -> None:
        self._publisher = add_publisher(node, MarkerArray, '~/markers')
        self._books = {layer: MarkerBook() for layer in LAYERS}
        # The last model and settings, and the stamp of what is drawn.
        self._of: tuple[LoadedModel, MarkerSettings] | None = None
        self._stamp: Any = None
        self._layers: Iterator[tuple[str, list[Shape]]] = iter(())
        self._next: tuple[str, list[Shape]] | None = None
        self._subscribers = 0

    @property
    def is_drawing(self) -> bool:
        """Return True while layers of the present state are not drawn yet."""
        return self._next is not None

    @property
    def is_seen(self) -> bool:
        """Return True if the topic has subscribers, or had some at the last drawing."""
        return bool(self._publisher.get_subscription_count() or self._subscribers)

    def begin(
        self,
        model: LoadedModel,
        q: NDArray[np.float64],
        goals: Mapping[str, Pose],
        settings: MarkerSettings,
        stamp: Any,
    ) -> None:
        """Start to draw another configuration and its goals, if there are subscribers."""
        before, self._subscribers = self._subscribers, self._publisher.get_subscription_count()
        if not self._subscribers:
            return
        last, self._of, self._stamp = self._of, (model, settings), stamp
        new_model = last is None or last[0] is not model
        if last is None or new_model or last[1] != settings:
            settings.apply(model.helper)
        if new_model or self._subscribers > before:
            everything = Marker(action=Marker.DELETEALL)
            everything.header.frame_id, everything.header.stamp = model.root_frame, stamp
            self._publisher.publish(MarkerArray(markers=[everything]))
            for book in self._books.values():
                book.clear_deletions()
        for layer, book in self._books.items():
            if layer not in model.helper.layers and not book.is_empty:
                self._publisher.publish(book.message((), model.root_frame, stamp))
        self._layers = model.helper.layer_shapes(q, goals)
        self._next = next(self._layers, None)

    def draw(self) -> None:
        """Publish the next layer, and compute the one after it."""
        if self._of is None or self._next is None:
            return
        layer, shapes = self._next
        book = self._books[layer]
        if shapes or not book.is_empty:
            frame = self._of[0].root_frame
            self._publisher.publish(book.message(shapes, frame, self._stamp))
        if book.complete:
            self._next = next(self._layers, None)


class SceneOutput:
    """The drawing of the last published configuration, at the rate of `markers.rate`."""

    def __init__(self, node: Node, take_goal: Callable[[str, PoseStamped], None]) -> None:
        self._markers = MarkerOutput(node)
        self._goal_markers = GoalMarkers(node, take_goal)
        self._model: LoadedModel | None = None
        self._q: NDArray[np.float64] | None = None
        self._due = 0.0

    def is_seen(self, settings: MarkerSettings) -> bool:
        """Return True if ticks must draw, because somebody sees markers or can drag goals."""
        return settings.interactive or self._goal_markers.is_open or self._markers.is_seen

    def tick(
        self,
        model: LoadedModel,
        q: NDArray[np.float64] | None,
        goal_poses: Callable[[], Mapping[str, Pose | None]],
        settings: MarkerSettings,
        stamp: Any,
        until: float,
    ) -> None:
        """
        Draw if it is time, and as far as the tick allows.

        `q` (nq,): configuration published by this tick [rad or m]; None if it published none.
        `goal_poses` returns the active goals and their poses, None for a goal without a pose.
        `until`: time at which the rest is left for the next tick [s], as of `time.perf_counter`.
        """
        if model is not self._model:
            self._model, self._q, self._due = model, None, 0.0
        if q is not None:
            self._q = q
        if not self._markers.is_drawing:
            now = perf_counter()
            if now < self._due or self._q is None:
                return
            # A late tick does not shorten the time until the next drawing.
            self._due = max(self._due + settings.period, now)
            goals = goal_poses()
            poses = {name: pose for name, pose in goals.items() if pose is not None}
            self._markers.begin(model, self._q, poses, settings, stamp)
            if settings.interactive:
                self._goal_markers.update(model, self._q, goals)
            else:
                self._goal_markers.close()
        while self._markers.is_drawing:
            self._markers.draw()
            if perf_counter() >= until:
                return

    def close(self) -> None:
        """Remove the goal markers; the node calls this before it is destroyed."""
        self._goal_markers.close()
