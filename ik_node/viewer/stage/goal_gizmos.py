"""Handles for dragging the goals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ik_node.model.goal import Goal
from ik_node.robot import Robot
from ik_node.viewer.panels.handle_panel import HandleStyle
from ik_node.viewer.stage.goal_handle import GoalHandle, OnDrag
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
# Number of random configurations, and largest joint values in them [rad or m].
TRIES, FAR = 12, 1.0
# Deviations from the plane below this share of the motion count as zero.
FLAT = 1e-9


def plane_of(robot: Robot, goal: Goal) -> Array | None:
    """
    Return the plane in which the link of a goal moves.

    Loops are ignored: a motion that is planar with open loops is planar with closed loops.

    Parameters
    ----------
    robot : Robot
        The robot with the goal.
    goal : Goal
        A goal of kind frame, in the root frame.

    Returns
    -------
    ndarray, shape (3, 2), or None
        Two unit vectors, root frame; None = the motion is spatial, or along a line.

    """
    if goal.child is None or goal.parent is not None or goal.kind != 'frame':
        return None
    return plane_of_point(robot, goal.child.name, goal.offset_position)


def plane_of_point(robot: Robot, link: str, point: ArrayLike) -> Array | None:
    """
    Return the plane in which a point of a link moves, as `plane_of`.

    Parameters
    ----------
    robot : Robot
        The robot.
    link : str
        Name of the link.
    point : array_like, shape (3,)
        The point in the frame of the link [m].

    """
    rng = np.random.default_rng(0)
    lower, upper = np.maximum(robot.lower, -FAR), np.minimum(robot.upper, FAR)
    offset = np.append(point, 1.0)
    places = []
    for _ in range(TRIES):
        q = lower + rng.random(len(lower)) * np.maximum(0.0, upper - lower)
        places.append((robot.forward(q, link) @ offset)[:3])
    *_, sizes, directions = np.linalg.svd(places - np.mean(places, axis=0))
    if sizes[1] <= FLAT * max(sizes[0], 1e-300) or sizes[2] > FLAT * sizes[0]:
        return None
    plane: Array = directions[:2].T
    return plane


class GoalGizmos:
    """
    The handles of all goals, which follow the goals unless they are dragged.

    Parameters
    ----------
    scene : viser.SceneApi
    on_drag : callable
    on_select : callable
        Called with the name of a goal whose ball is clicked or dragged.

    """

    def __init__(
        self, scene: Any, on_drag: OnDrag, on_select: Callable[[str], None] = lambda _: None
    ) -> None:
        self._scene = scene
        self._on_drag = on_drag
        self._on_select = on_select
        self._handles: dict[str, GoalHandle] = {}
        self._by_link: dict[str, GoalHandle] = {}

    def clear(self) -> None:
        """Remove all handles."""
        for handle in self._handles.values():
            handle.remove()
        self._handles.clear()
        self._by_link.clear()

    def draw(
        self, robot: Robot, size: float, style: HandleStyle, shown: str, selected: str = ''
    ) -> None:
        """
        Show a ball for every enabled goal, and the gizmos of the selected one or of all.

        Parameters
        ----------
        robot : Robot
            The robot with its goals.
        size : float
            Length of the arrows of a gizmo [m].
        style : HandleStyle
            Settings for dragging goals.
        shown : str
            'selected', 'all' or 'none'.
        selected : str
            Name of the selected goal.

        """
        for name in [name for name in self._handles if name not in robot.goals]:
            self._handles.pop(name).remove()
        for name, goal in robot.goals.items():
            if name not in self._handles:
                plane = plane_of(robot, goal)
                self._handles[name] = GoalHandle(
                    self._scene, name, size, plane, self._on_drag, self._on_select
                )
            self._handles[name].draw(
                goal, style, visible=shown != 'none', whole=shown == 'all' or name == selected
            )
        self._by_link = {
            goal.child.name: self._handles[name]
            for name, goal in reversed([*robot.goals.items()])
            if goal.child is not None and goal.enabled and style.move
        }

    @property
    def links(self) -> set[str]:
        """Return the links with a goal, which can be dragged directly."""
        return set(self._by_link)

    def pull(self, link: str, event: Any) -> None:
        """Move the first goal of a link with the pointer."""
        if link in self._by_link:
            self._by_link[link].pull(event)

    def settle(self, now: float) -> bool:
        """Release handles without recent events; return True if one must be redrawn."""
        rested = [handle.settle(now) for handle in list(self._handles.values())]
        return any(rested)

    def release(self, client: int) -> None:
        """Release the handles that a disconnected browser was dragging."""
        for handle in list(self._handles.values()):
            handle.release(client)
