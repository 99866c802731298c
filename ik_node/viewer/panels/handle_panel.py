"""The panel of settings for dragging goals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import radians
from typing import Any

from ik_node.model.rotation import matrix_to_quat, quat_to_matrix, quat_to_rotation_vector
from ik_node.viewer.panels.session_queue import by_hand
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Smaller motions count as zero [m or rad].
_STILL = 1e-9


@dataclass(frozen=True)
class HandleStyle:
    """
    Settings for dragging goals.

    Attributes
    ----------
    move, turn : bool
        Whether goals can be translated, and rotated.
    local : bool
        True if handles are parallel to the goal's axes, False if to the root frame's axes.
    step : float
        Grid size of positions [m]; 0 = no grid.
    angle : float
        Grid size of rotations [rad]; 0 = no grid.

    """

    move: bool = True
    turn: bool = True
    local: bool = False
    step: float = 0.0
    angle: float = 0.0

    @property
    def snaps(self) -> bool:
        """Return True if there is a grid."""
        return self.step > 0.0 or self.angle > 0.0

    def snapped(self, start: Array, pose: Array, axes: Array) -> Array:
        """
        Return a dragged pose rounded to the grid.

        Along the root frame's axes, the position is rounded to a multiple of the step; along other
        axes, the translation is. Coordinates that are not dragged stay unchanged.

        Parameters
        ----------
        start, pose : ndarray, shape (4, 4)
            Pose of the goal before the drag and now, root frame.
        axes : ndarray, shape (3, 3)
            Axes of the handle before the drag, root frame.

        """
        wanted = pose.copy()
        if self.step > 0.0:
            shift = axes.T @ (pose[:3, 3] - start[:3, 3])
            first: Array = np.zeros(3)
            if np.array_equal(axes, np.eye(3)):
                first = start[:3, 3]
            to = self.step * np.round((first + shift) / self.step) - first
            wanted[:3, 3] = start[:3, 3] + axes @ np.where(np.abs(shift) > _STILL, to, shift)
        if self.angle > 0.0:
            turn = pose[:3, :3] @ start[:3, :3].T
            vector = quat_to_rotation_vector(matrix_to_quat(turn))
            full = float(np.sqrt(vector @ vector))
            if full > _STILL:
                half = 0.5 * self.angle * round(full / self.angle)
                quat = np.array((*np.sin(half) * vector / full, np.cos(half)))
                wanted[:3, :3] = quat_to_matrix(quat) @ start[:3, :3]
        return wanted


BOTH, MOVE, TURN = 'move and turn', 'move', 'turn'
WORLD, LOCAL = 'of the world', "the goal's own"
# Default grid [m] and [deg].
STEP, ANGLE = 0.01, 15.0


class HandlePanel:
    """
    A panel with switches for the handles of goals.

    Parameters
    ----------
    gui : viser.GuiApi
    changed : callable
        Called when a setting changes.

    """

    def __init__(self, gui: Any, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._what = gui.add_dropdown(
            'handles', (BOTH, MOVE, TURN), hint='keys: W moves, E turns, again: both'
        )
        self._axes = gui.add_dropdown(
            'along axes',
            (WORLD, LOCAL),
            hint='key: Q; a goal that leaves axes free is dragged along those in which it counts',
        )
        self._links = gui.add_checkbox(
            'drag links', True, hint='those with a goal; dragging others turns the view'
        )
        self._return = gui.add_checkbox(
            'return on release', False, hint='a goal goes where its link is when you let it go'
        )
        self._snap = gui.add_checkbox('snap to grid', False, hint='key: G')
        self._step = gui.add_number(
            'step [m]', STEP, min=1e-6, step=1e-6, visible=False, hint='of positions'
        )
        self._angle = gui.add_number(
            'step [deg]', ANGLE, min=0.01, max=180.0, step=0.01, visible=False, hint='of turns'
        )
        for handle in (self._what, self._axes, self._links, self._step, self._angle):
            by_hand(handle, lambda _: changed())
        by_hand(self._snap, lambda _: self._show_steps())

    @property
    def style(self) -> HandleStyle:
        """Return the chosen settings."""
        snap = bool(self._snap.value)
        return HandleStyle(
            move=self._what.value != TURN,
            turn=self._what.value != MOVE,
            local=self._axes.value == LOCAL,
            step=float(self._step.value) if snap else 0.0,
            angle=radians(self._angle.value) if snap else 0.0,
        )

    @property
    def links(self) -> bool:
        """Return True if links with a goal can be dragged directly."""
        return bool(self._links.value)

    @property
    def returns(self) -> bool:
        """Return True if a released goal moves to the pose that its link has reached."""
        return bool(self._return.value) and bool(self._return.visible)

    def allow_return(self, allowed: bool) -> None:
        """Show or hide the switch for goals that return."""
        self._return.visible = allowed

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
