"""The panel for the map of a link's reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ik_node.analysis.reach.volume import ReachVolume
from ik_node.viewer.panels.session_queue import by_hand
import numpy as np
from numpy.typing import NDArray

SHOWN = ('surface', 'slice', 'both', 'none')
AXES = ('x', 'y', 'z')
# Range of the slider for the share of the orientations.
LEVELS = (0.02, 0.98)


class Wanted(NamedTuple):
    """
    What to draw of a map.

    Attributes
    ----------
    found : ReachVolume
        The map.
    level : float or None
        Share of the orientations within the surface; None = no surface.
    axis : str
        Axis perpendicular to the slice; '' = no slice.
    at : float
        Coordinate of the slice [m].

    """

    found: ReachVolume
    level: float | None
    axis: str
    at: float


class ReachPanel:
    """
    A folder with the choice of slice and surface, which is hidden without a map.

    Parameters
    ----------
    gui : viser.GuiApi
    changed : callable
        Called when a setting changes.

    """

    def __init__(self, gui: Any, changed: Callable[[], None]) -> None:
        self._gui, self._changed = gui, changed
        self._found: ReachVolume | None = None
        self._folder = gui.add_folder('reach', visible=False)
        self._inputs: list[Any] = []
        with self._folder:
            self._shown = gui.add_dropdown('show', SHOWN)
            self._axis = gui.add_dropdown('slice across', AXES, initial_value='y')
        by_hand(self._shown, lambda _: changed())
        by_hand(self._axis, lambda _: self._turn())

    def show(self, found: ReachVolume | None) -> None:
        """Take another map, or none."""
        self._found = found
        self._folder.visible = found is not None
        self._folder.label = 'reach' if found is None else f'reach of {found.link}'
        self._rebuild()

    @property
    def wanted(self) -> Wanted | None:
        """Return what to draw; None = nothing."""
        if self._found is None or not self._inputs:
            return None
        at, level = (float(each.value) for each in self._inputs)
        shown = str(self._shown.value)
        return Wanted(
            self._found,
            level if shown in ('surface', 'both') else None,
            str(self._axis.value) if shown in ('slice', 'both') else '',
            at,
        )

    @property
    def corners(self) -> NDArray[np.float64]:
        """Return the corners of the box around the reached cells, (8, 3) or none, (0, 3) [m]."""
        found = self._found
        cells = np.zeros((0, 3)) if found is None else np.argwhere(found.share > 0.0)
        if found is None or not len(cells):
            return np.zeros((0, 3))
        ends = np.stack((cells.min(axis=0) - 0.5, cells.max(axis=0) + 0.5))
        box = np.stack(np.meshgrid(*ends.T, indexing='ij'), axis=-1).reshape(-1, 3)
        corners: NDArray[np.float64] = found.origin + found.cell * box
        return corners

    def _turn(self) -> None:
        self._rebuild()
        self._changed()

    def _rebuild(self) -> None:
        """Replace the sliders, whose ranges depend on the map and the axis."""
        for each in self._inputs:
            each.remove()
        self._inputs = []
        found = self._found
        if found is None:
            return
        along = AXES.index(str(self._axis.value))
        sides = found.centres[along]
        reached = np.flatnonzero(found.share.any(axis=tuple({0, 1, 2} - {along})))
        first, last = (reached[0], reached[-1]) if len(reached) else (0, len(sides) - 1)
        middle = float(sides[(first + last) // 2])
        top = float(sides[last]) if last > first else float(sides[first]) + found.cell
        with self._folder:
            at = self._gui.add_slider(
                'slice at', float(sides[first]), top, found.cell, middle, hint='[m]'
            )
            level = self._gui.add_slider(
                'share',
                *LEVELS,
                0.01,
                0.5,
                visible=found.quats_xyzw is not None,
                hint='of the orientations, within the surface',
            )
        self._inputs = [at, level]
        for each in self._inputs:
            by_hand(each, lambda _: self._changed())
