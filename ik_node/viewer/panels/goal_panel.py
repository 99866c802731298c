"""The panel of goals and loops, and of the handles that drag goals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import radians
from typing import Any

from ik_node.errors import plain
from ik_node.model.rotation import matrix_to_quat, quat_to_matrix, quat_to_rotation_vector
from ik_node.robot import Robot
from ik_node.viewer.panels.session_queue import by_hand, SessionQueue
from ik_node.viewer.panels.text_html import explain
from ik_node.viewer.sessions.goal_memory import axes_of
from ik_node.viewer.sessions.session import Array
import numpy as np

# Smaller motions count as zero [m or rad].
_STILL = 1e-9


@dataclass(frozen=True)
class HandleStyle:
    """
    Settings for dragging goals.

    Goals can be translated (`move`) and rotated (`turn`) along their own axes (`local`) or those
    of the root frame, on a grid of a `step` [m] and an `angle` [rad]; 0 = no grid.
    """

    move: bool = True
    turn: bool = True
    local: bool = False
    step: float = 0.0
    angle: float = 0.0

    def snapped(self, start: Array, axes: Array, pose: Array) -> Array:
        """
        Return a dragged pose (4, 4), root frame, rounded to the grid.

        `start` is the pose before the drag, and `axes` (3, 3) are those of the handle. Along the
        root frame's axes, the position is rounded to a multiple of the step; along other axes, the
        translation is. Coordinates that are not dragged stay unchanged.
        """
        target = pose.copy()
        if self.step > 0.0:
            shift = axes.T @ (pose[:3, 3] - start[:3, 3])
            first: Array = np.zeros(3)
            if np.array_equal(axes, np.eye(3)):
                first = start[:3, 3]
            to = self.step * np.round((first + shift) / self.step) - first
            target[:3, 3] = start[:3, 3] + axes @ np.where(np.abs(shift) > _STILL, to, shift)
        if self.angle > 0.0:
            rotation = pose[:3, :3] @ start[:3, :3].T
            vector = quat_to_rotation_vector(matrix_to_quat(rotation))
            full = float(np.sqrt(vector @ vector))
            if full > _STILL:
                half = 0.5 * self.angle * round(full / self.angle)
                quat = np.array((*np.sin(half) * vector / full, np.cos(half)))
                target[:3, :3] = quat_to_matrix(quat) @ start[:3, :3]
        return target


# Common sets of constrained axes.
CHOICES = ('X Y Z EX EY EZ', 'X Y Z', 'EX EY EZ', 'X Y Z EX EY', 'X Y', 'Z', 'X', 'Y')
# Choices for the position of a new goal on a link.
THERE, FRAME = 'clicked point', "link's frame"
BOTH, MOVE, TURN = 'move and turn', 'move', 'turn'
WORLD, LOCAL = 'world', 'goal'
# Default grid [m] and [deg].
STEP, ANGLE = 0.01, 15.0
HELP = '**Click a link** to make a goal there. **Drag** its ball, its handle or the link.'
KEYS = (
    'Keys: `W` move, `E` turn, `Q` axes, `G` grid, `F` view, `Del` delete the goal, `Ctrl+Z` undo.'
)


class GoalPanel:
    """A panel with a folder for each goal, a switch for each loop, and the handles' settings."""

    def __init__(self, gui: Any, queue: SessionQueue, changed: Callable[[], None]) -> None:
        self._gui = gui
        self._queue = queue
        self._changed = changed
        self._folders: list[Any] = []
        self._enabled: dict[tuple[str, str], Any] = {}
        gui.add_markdown(HELP)
        self._all = by_hand(
            gui.add_button(
                'All solutions', hint='a click on one of them takes it; once more: hides them'
            ),
            lambda _: queue.do(lambda s: s.find_solutions()),
        )
        self._new = gui.add_dropdown(
            'new goal holds',
            CHOICES,
            initial_value='X Y Z',
            hint='X Y Z: position, EX EY EZ: rotation about these axes; the others stay free',
        )
        self._where = gui.add_dropdown(
            'new goal at', (THERE, FRAME), hint='the point of the link that the goal moves'
        )
        explain(gui, self._all, self._new, self._where)
        # Below the goals.
        with gui.add_folder('handles', order=1e9, expand_by_default=False):
            self._what = gui.add_dropdown('drag to', (BOTH, MOVE, TURN))
            self._axes = gui.add_dropdown(
                'along axes of',
                (WORLD, LOCAL),
                hint='a goal that leaves axes free is dragged along those in which it counts',
            )
            self._return = gui.add_checkbox(
                'return on release', False, hint='a released goal goes where its link is'
            )
            self._snap = gui.add_checkbox('snap to grid', False)
            self._step = gui.add_number('step [m]', STEP, min=1e-6, step=1e-6, visible=False)
            self._angle = gui.add_number(
                'step [deg]', ANGLE, min=0.01, max=180.0, step=0.01, visible=False
            )
            explain(gui, self._axes, self._return)
            gui.add_markdown(KEYS)
        for handle in (self._what, self._axes, self._step, self._angle):
            by_hand(handle, lambda _: changed())
        by_hand(self._snap, lambda _: self._show_steps())

    @property
    def new_dof(self) -> str:
        """Return the constrained axes of a new goal."""
        return str(self._new.value)

    @property
    def where_clicked(self) -> bool:
        """Return True if new goals are at the clicked point, False if at the link's frame."""
        return bool(self._where.value == THERE)

    @property
    def style(self) -> HandleStyle:
        """Return the settings for dragging goals."""
        snap = bool(self._snap.value)
        return HandleStyle(
            move=self._what.value != TURN,
            turn=self._what.value != MOVE,
            local=self._axes.value == LOCAL,
            step=float(self._step.value) if snap else 0.0,
            angle=radians(self._angle.value) if snap else 0.0,
        )

    @property
    def returns(self) -> bool:
        """Return True if a released goal moves to the pose that its link has reached."""
        return bool(self._return.value) and bool(self._return.visible)

    def choose(self, what: str) -> None:
        """Choose translation only or rotation only; if it is already chosen, choose both."""
        self._what.value = BOTH if self._what.value == what else what
        self._changed()

    def swap_axes(self) -> None:
        """Switch between the axes of the world and those of the goal."""
        self._axes.value = WORLD if self._axes.value == LOCAL else LOCAL
        self._changed()

    def swap_snap(self) -> None:
        """Switch the grid on or off."""
        self._snap.value = not self._snap.value
        self._show_steps()

    def _show_steps(self) -> None:
        self._step.visible = self._angle.visible = bool(self._snap.value)
        self._changed()

    def rebuild(self, robot: Robot, *, returns: bool) -> None:
        """Add a folder for every goal and a switch for every loop."""
        self._return.visible = self._all.visible = returns
        for folder in self._folders:
            folder.remove()
        self._folders, self._enabled = [], {}
        for name in robot.goals:
            self._add_goal(robot, name)
        if robot.closures:
            folder = self._gui.add_folder('loops', expand_by_default=False)
            self._folders.append(folder)
            with folder:
                for name in robot.closures:
                    self._add_closure(robot, name)

    def refresh(self, robot: Robot) -> None:
        """Show which goals and loops are enabled."""
        for (kind, name), handle in self._enabled.items():
            result = (robot.goals if kind == 'goal' else robot.closures).get(name)
            if result is not None:
                handle.value = result.enabled

    def _add_goal(self, robot: Robot, name: str) -> None:
        goal, queue = robot.goals[name], self._queue
        link = goal.child.name if goal.child else ''
        folder = self._gui.add_folder(plain(name), expand_by_default=len(robot.goals) < 4)
        self._folders.append(folder)
        with folder:
            hint = f'goal {plain(name)} of the link {plain(link)}'
            self._enabled['goal', name] = by_hand(
                self._gui.add_checkbox('enabled', goal.enabled, hint=hint),
                lambda value: queue.do(lambda s: s.change_goal(name, enabled=value), undo=True),
            )
            if goal.kind == 'frame':
                dof = axes_of(goal)
                choices = CHOICES if dof in CHOICES else (dof, *CHOICES)
                by_hand(
                    self._gui.add_dropdown('holds', choices, initial_value=dof),
                    lambda value: queue.do(lambda s: s.change_goal(name, dof=value), undo=True),
                )
            remove = self._gui.add_button('Delete', color='gray')
            by_hand(remove, lambda _: queue.do(lambda s: s.remove_goal(name), undo=True))

    def _add_closure(self, robot: Robot, name: str) -> None:
        self._enabled['closure', name] = by_hand(
            self._gui.add_checkbox(plain(name), robot.closures[name].enabled),
            lambda value: self._queue.do(lambda s: s.set_closure(name, value), undo=True),
        )
