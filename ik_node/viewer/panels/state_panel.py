"""The arm's state on screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ik_node.robot import Robot
from ik_node.viewer.panels.session_queue import by_hand
from ik_node.viewer.panels.state_html import state_html
from ik_node.viewer.sessions.session import Array

# Width and distance from the corner [px].
WIDTH, AWAY = 300, 12
NOTHING = 'no goal'


class StatePanel:
    """
    A window with the pose of a goal's link and all joint values.

    Parameters
    ----------
    gui : viser.GuiApi
    changed : callable
        Called when another goal is chosen.

    """

    def __init__(self, gui: Any, changed: Callable[[], None]) -> None:
        self._panel = gui.add_panel()
        self._panel.float(x=AWAY, y=-AWAY, width=WIDTH)
        with self._panel.add_tab('State'):
            self._goal = gui.add_dropdown('link of goal', (NOTHING,))
            self._text = gui.add_html('')
        by_hand(self._goal, lambda _: changed())
        self._turns: list[bool] = []

    def show(self, visible: bool) -> None:
        """Show it, or not."""
        self._panel.visible = visible

    def rebuild(self, robot: Robot) -> None:
        """Offer the goals of another robot, or other goals."""
        self._turns = [dof.is_rotation for joint in robot.joint_order for dof in joint.dof]
        chosen, names = self._goal.value, (*robot.goals,) or (NOTHING,)
        self._goal.options = names
        self._goal.value = chosen if chosen in names else names[0]

    def refresh(self, robot: Robot, q: Array) -> None:
        """Show where all is."""
        if not self._panel.visible:
            return
        goal = robot.goals.get(self._goal.value)
        link = None if goal is None else goal.child
        joints = zip(robot.joint_names, q.tolist(), self._turns, strict=True)
        self._text.content = state_html(
            '' if link is None else link.name,
            None if link is None else link.matrix_world,
            list(joints),
        )
