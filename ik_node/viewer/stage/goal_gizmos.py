"""Handles for every goal, to be dragged."""

from __future__ import annotations

from typing import Any

from ik_node.model.goal import Goal
from ik_node.robot import Robot
from ik_node.viewer.panels.handle_panel import HandleStyle
from ik_node.viewer.stage.goal_handle import GoalHandle, OnDrag
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Configurations that are tried, and how far a joint goes in them at most [rad or m].
TRIES, FAR = 12, 1.0
# What leaves the plane by less than this share of the way is in it.
FLAT = 1e-9


def plane_of(robot: Robot, goal: Goal) -> Array | None:
    """
    Return the plane in which a goal's link moves.

    Loops are taken as open: what is planar then is so when they are closed.

    Parameters
    ----------
    robot : Robot
        Whose goal it is.
    goal : Goal
        Of kind frame, in the root frame.

    Returns
    -------
    ndarray, shape (3, 2), or None
        Two unit vectors, root frame; None = it moves in space, or along a line.

    """
    if goal.child is None or goal.parent is not None or goal.kind != 'frame':
        return None
    rng = np.random.default_rng(0)
    lower, upper = np.maximum(robot.lower, -FAR), np.minimum(robot.upper, FAR)
    offset = np.append(goal.offset_position, 1.0)
    link, places = goal.child.name, []
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
    Keep the page's handles where the goals are, but for those that are held.

    Parameters
    ----------
    scene : viser.SceneApi
    on_drag : callable

    """

    def __init__(self, scene: Any, on_drag: OnDrag) -> None:
        self._scene = scene
        self._on_drag = on_drag
        self._handles: dict[str, GoalHandle] = {}
        self._by_link: dict[str, GoalHandle] = {}

    def clear(self) -> None:
        """Take all of them away."""
        for handle in self._handles.values():
            handle.remove()
        self._handles.clear()
        self._by_link.clear()

    def draw(self, robot: Robot, size: float, style: HandleStyle, *, visible: bool) -> None:
        """Show handles of a size [m] for every goal that takes part."""
        for name in [name for name in self._handles if name not in robot.goals]:
            self._handles.pop(name).remove()
        for name, goal in robot.goals.items():
            if name not in self._handles:
                plane = plane_of(robot, goal)
                self._handles[name] = GoalHandle(self._scene, name, size, plane, self._on_drag)
            self._handles[name].draw(goal, style, visible=visible)
        self._by_link = {
            goal.child.name: self._handles[name]
            for name, goal in reversed([*robot.goals.items()])
            if goal.child is not None and goal.enabled and style.move
        }

    @property
    def links(self) -> set[str]:
        """Return the links that can be dragged as they are, for the sake of a goal."""
        return set(self._by_link)

    def pull(self, link: str, event: Any) -> None:
        """Have the first goal of a link follow the pointer."""
        if link in self._by_link:
            self._by_link[link].pull(event)

    def settle(self, now: float) -> bool:
        """Return whether some are to be drawn anew, as they have come to rest; time in [s]."""
        rested = [handle.settle(now) for handle in list(self._handles.values())]
        return any(rested)

    def release(self, client: int) -> None:
        """Take it that a browser has gone: what it held is held no more."""
        for handle in list(self._handles.values()):
            handle.release(client)
