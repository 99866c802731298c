"""How goals are dragged, to be chosen."""

from __future__ import annotations

from collections.abc import Callable
from math import radians
from typing import Any

from ik_node.viewer.panels.handle_style import HandleStyle
from ik_node.viewer.panels.session_queue import by_hand

BOTH, MOVE, TURN = 'move and turn', 'move', 'turn'
WORLD, LOCAL = 'of the world', "the goal's own"
# At first [m] and [degrees].
STEP, ANGLE = 0.01, 15.0


class HandlePanel:
    """
    Switches for the handles of goals.

    Parameters
    ----------
    gui : viser.GuiApi
    changed : callable
        Called when anything here is.

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
        """Return what is chosen."""
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
        """Whether links with a goal can be dragged as they are."""
        return bool(self._links.value)

    def choose(self, what: str) -> None:
        """Have goals moved only, or turned only; where that is so already, both."""
        self._what.value = BOTH if self._what.value == what else what
        self._changed()

    def swap_axes(self) -> None:
        """Change between the axes of the world and the goal's own."""
        self._axes.value = WORLD if self._axes.value == LOCAL else LOCAL
        self._changed()

    def swap_snap(self) -> None:
        """Have a grid, or none."""
        self._snap.value = not self._snap.value
        self._show_steps()

    def _show_steps(self) -> None:
        self._step.visible = self._angle.visible = bool(self._snap.value)
        self._changed()
