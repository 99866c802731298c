"""The panel of goals and loops."""

from __future__ import annotations

from typing import Any

from ik_node.errors import plain
from ik_node.robot import Robot
from ik_node.viewer.panels.session_queue import by_hand, SessionQueue
from ik_node.viewer.sessions.goal_memory import axes_of

# Common sets of constrained axes.
CHOICES = ('X Y Z EX EY EZ', 'X Y Z', 'EX EY EZ', 'X Y Z EX EY', 'X Y', 'Z', 'X', 'Y')
# Choices for the position of a new goal on a link.
THERE, FRAME = 'where you click', "at the link's frame"
HINT = (
    '<div style="padding:2px 10px"><b>Click a link</b> of the robot to make a goal there, then '
    'drag its ball or its handle.</div>'
)


class GoalPanel:
    """
    A panel with one folder per goal and one switch per loop.

    Parameters
    ----------
    gui : viser.GuiApi
    queue : SessionQueue

    Attributes
    ----------
    by_click : bool
        Whether a click on a link adds a goal.
    new_dof : str
        Constrained axes of a new goal.
    where_clicked : bool
        True if a new goal is at the clicked point, False if it is at the link's frame.

    """

    def __init__(self, gui: Any, queue: SessionQueue) -> None:
        self._gui = gui
        self._queue = queue
        self._folders: list[Any] = []
        self._enabled: dict[tuple[str, str], Any] = {}
        click = gui.add_checkbox('click adds goal', True)
        self._click = click
        self._new = gui.add_dropdown('it asks for', CHOICES, initial_value='X Y Z')
        self._hint = gui.add_html('')
        self._where = gui.add_dropdown('it sits', (THERE, FRAME))

    @property
    def by_click(self) -> bool:
        """Return True if a click on a link adds a goal."""
        return bool(self._click.value)

    @property
    def new_dof(self) -> str:
        """Return the constrained axes of a new goal."""
        return str(self._new.value)

    @property
    def where_clicked(self) -> bool:
        """Return True if new goals are at the clicked point, False if at the link's frame."""
        return bool(self._where.value == THERE)

    def rebuild(self, robot: Robot) -> None:
        """Add a folder for every goal and a switch for every loop."""
        for folder in self._folders:
            folder.remove()
        self._folders, self._enabled = [], {}
        self._hint.content = '' if robot.goals else HINT
        for name in robot.goals:
            self._add_goal(robot, name)
        if robot.closures:
            folder = self._gui.add_folder('loops', expand_by_default=len(robot.closures) <= 8)
            self._folders.append(folder)
            with folder:
                for name in robot.closures:
                    self._add_closure(robot, name)

    def refresh(self, robot: Robot) -> None:
        """Show which goals and loops are enabled."""
        for (kind, name), handle in self._enabled.items():
            found = (robot.goals if kind == 'goal' else robot.closures).get(name)
            if found is not None:
                handle.value = found.enabled

    def _add_goal(self, robot: Robot, name: str) -> None:
        goal, queue = robot.goals[name], self._queue
        link = goal.child.name if goal.child else ''
        folder = self._gui.add_folder(plain(name))
        self._folders.append(folder)
        with folder:
            takes_part = self._gui.add_checkbox(
                'takes part', goal.enabled, hint=f'goal {plain(name)} of the link {plain(link)}'
            )
            if goal.kind == 'frame':
                dof = axes_of(goal)
                choices = CHOICES if dof in CHOICES else (dof, *CHOICES)
                axes = self._gui.add_dropdown('asks for', choices, initial_value=dof)
                by_hand(
                    axes,
                    lambda value: queue.do(lambda s: s.change_goal(name, dof=value), undo=True),
                )
            remove = self._gui.add_button('Delete', color='gray')
        self._enabled['goal', name] = takes_part
        by_hand(
            takes_part,
            lambda value: queue.do(lambda s: s.change_goal(name, enabled=value), undo=True),
        )
        by_hand(remove, lambda _: queue.do(lambda s: s.remove_goal(name), undo=True))

    def _add_closure(self, robot: Robot, name: str) -> None:
        queue = self._queue
        handle = self._gui.add_checkbox(
            plain(name), robot.closures[name].enabled, hint='closed or not'
        )
        self._enabled['closure', name] = handle
        by_hand(handle, lambda value: queue.do(lambda s: s.set_closure(name, value), undo=True))
