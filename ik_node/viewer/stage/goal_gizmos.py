"""Handles for every goal, to be dragged."""

from __future__ import annotations

from typing import Any

from ik_node.robot import Robot
from ik_node.viewer.panels.handle_style import HandleStyle
from ik_node.viewer.stage.goal_handle import GoalHandle, OnDrag
from ik_node.viewer.stage.planar import plane_of


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
