"""The panels of settings for the 3D view, and for the map of a link's reach."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from ik_node.analysis.reach.volume import ReachVolume
from ik_node.scene import LAYERS
from ik_node.scene.look import AT_LIMIT, COLOURS, LOAD, NEAREST, OPEN, PASSIVE, UNMET
from ik_node.scene.shapes import Rgba
from ik_node.viewer.panels.session_queue import by_hand, each_hand
from ik_node.viewer.panels.text_html import box, explain, line, table
import numpy as np
from numpy.typing import NDArray

ABOUT = {
    'frames': 'link frames',
    'axes': 'joint axes',
    'limits': 'joint limits',
    'closures': 'loops (open: red)',
    'goals': 'goals',
    'labels': 'joint names',
    'collisions': 'collision bodies',
}
AT_FIRST = ('axes', 'limits', 'closures', 'goals')
# Largest number of missing meshes that are listed.
MOST = 8
HANDLES = ('selected', 'all', 'none')
BODIES = ('meshes', 'rods', 'both', 'none')
THREE, TWO = '3-D', '2-D'
LIGHT, DARK = 'light', 'dark'


class Eyes(NamedTuple):
    """
    What each browser can choose for itself, as functions of the browser's id.

    They look at the whole robot; look in 2-D onto the plane of the goal's link, or in 3-D; and use
    dark colours, or light ones.
    """

    look: Callable[[int], None]
    flatten: Callable[[int, bool], None]
    dark: Callable[[int, bool], None]


class ViewPanel:
    """Switches for the layers of the scene; `changed` is called when a setting changes."""

    def __init__(self, gui: Any, changed: Callable[[], None], eyes: Eyes) -> None:
        view = gui.add_button_group(
            'view', (THREE, TWO), hint='2-D: onto the plane of a planar robot, else from above'
        )
        page = gui.add_button_group('theme', (LIGHT, DARK), hint='in this browser')
        each_hand(view, lambda browser, value: eyes.flatten(browser, value == TWO))
        each_hand(page, lambda browser, value: eyes.dark(browser, value == DARK))
        self._bodies = gui.add_dropdown(
            'links', BODIES, initial_value='meshes', hint='as described, or as rods'
        )
        self._missing = gui.add_html('')
        self._legend = gui.add_html('')
        self._layers = {
            layer: gui.add_checkbox(ABOUT[layer], layer in AT_FIRST)
            for layer in LAYERS
            if layer in ABOUT
        }
        self._gizmos = gui.add_dropdown(
            'handles', HANDLES, hint='a click on the ball of a goal selects it'
        )
        self._size = gui.add_slider('marker size', 0.2, 3.0, 0.1, 1.0)
        self._shadows = gui.add_checkbox(
            'shadows', True, hint='off: faster in browsers without a graphics card'
        )
        explain(gui, view, page, self._bodies, self._gizmos, self._shadows)
        switches = (self._shadows, self._bodies, *self._layers.values(), self._gizmos)
        for handle in (*switches, self._size):
            by_hand(handle, lambda _: changed())

    def show_missing(self, meshes: Sequence[str]) -> None:
        """List the meshes that could not be drawn."""
        rows = [(name, (), '') for name in meshes]
        text = box(line('not drawn as described:'), table(rows, MOST))
        self._missing.content = text if rows else ''

    def show_legend(self, *, load: bool) -> None:
        """Explain the colours of the visible layers."""
        self._legend.content = legend_html([*self.layers, *['load'] * load])

    @property
    def layers(self) -> list[str]:
        """Return the layers to draw, which always include links; see `bodies` and `rods`."""
        return [layer for layer, handle in self._layers.items() if handle.value] + ['links']

    @property
    def bodies(self) -> bool:
        """Return True if links are drawn with the shapes of the description."""
        return self._bodies.value in ('meshes', 'both')

    @property
    def rods(self) -> str:
        """Return the links drawn as rods: 'all', 'none', or 'bare' for those without a mesh."""
        return {'meshes': 'bare', 'none': 'none'}.get(str(self._bodies.value), 'all')

    @property
    def gizmos(self) -> str:
        """Return which goals have handles: 'selected', 'all' or 'none'."""
        return str(self._gizmos.value)

    @property
    def shadows(self) -> bool:
        """Return True if the robot casts shadows."""
        return bool(self._shadows.value)

    @property
    def size(self) -> float:
        """Return the scale factor of all marks."""
        return float(self._size.value)


# Layer, colour, meaning.
ENTRIES: tuple[tuple[str, Rgba, str], ...] = (
    ('axes', COLOURS['axes'], 'motor'),
    ('axes', PASSIVE, 'passive joint'),
    ('limits', COLOURS['limits'], 'joint range'),
    ('limits', AT_LIMIT, 'at a limit'),
    ('closures', COLOURS['closures'], 'closed loop'),
    ('closures', OPEN, 'open loop'),
    ('goals', COLOURS['goals'], 'goal'),
    ('goals', UNMET, 'unmet goal'),
    ('load', LOAD, 'load'),
    ('collisions', COLOURS['collisions'], 'collision body'),
    ('collisions', NEAREST, 'nearest pair'),
)


def legend_html(layers: Collection[str]) -> str:
    """Return HTML that explains the colours of the visible layers."""
    entries = ''.join(
        f'<span style="white-space:nowrap"><span style="display:inline-block;width:0.7em;'
        'height:0.7em;border-radius:50%;margin-right:0.35em;background:#'
        f'{bytes(round(255 * part) for part in rgba[:3]).hex()}"></span>{text}</span> '
        for layer, rgba, text in ENTRIES
        if layer in layers
    )
    return box(f'<div style="display:flex;flex-wrap:wrap;gap:2px 12px">{entries}</div>')


SHOWN = ('surface', 'slice', 'both', 'none')
AXES = ('x', 'y', 'z')
# Range of the slider for the share of the orientations.
LEVELS = (0.02, 0.98)


class ReachView(NamedTuple):
    """
    What to draw of a map.

    `level` is the share of the orientations within the surface, None = no surface. `axis` is
    perpendicular to the slice at a coordinate [m]; '' = no slice.
    """

    volume: ReachVolume
    level: float | None
    axis: str
    coordinate: float


class ReachPanel:
    """A folder with the choice of slice and surface, which is hidden without a map."""

    def __init__(self, gui: Any, changed: Callable[[], None]) -> None:
        self._gui, self._changed = gui, changed
        self._volume: ReachVolume | None = None
        self._folder = gui.add_folder('reach', visible=False)
        self._inputs: list[Any] = []
        with self._folder:
            self._shown = gui.add_dropdown('show', SHOWN)
            self._axis = gui.add_dropdown('slice across', AXES, initial_value='y')
        by_hand(self._shown, lambda _: changed())
        by_hand(self._axis, lambda _: self._rebuild())
        by_hand(self._axis, lambda _: changed())

    def show(self, volume: ReachVolume | None) -> None:
        """Take another map, or none."""
        self._volume = volume
        self._folder.visible = volume is not None
        self._folder.label = 'reach' if volume is None else f'reach of {volume.link}'
        self._rebuild()

    @property
    def view(self) -> ReachView | None:
        """Return what to draw; None = nothing."""
        if self._volume is None or not self._inputs:
            return None
        index, level = (float(each.value) for each in self._inputs)
        shown = str(self._shown.value)
        return ReachView(
            self._volume,
            level if shown in ('surface', 'both') else None,
            str(self._axis.value) if shown in ('slice', 'both') else '',
            index,
        )

    @property
    def corners(self) -> NDArray[np.float64]:
        """Return the corners of the box around the reached cells, (8, 3) or none, (0, 3) [m]."""
        result = self._volume
        cells = np.zeros((0, 3)) if result is None else np.argwhere(result.share > 0.0)
        if result is None or not len(cells):
            return np.zeros((0, 3))
        ends = np.stack((cells.min(axis=0) - 0.5, cells.max(axis=0) + 0.5))
        box = np.stack(np.meshgrid(*ends.T, indexing='ij'), axis=-1).reshape(-1, 3)
        corners: NDArray[np.float64] = result.origin + result.cell * box
        return corners

    def _rebuild(self) -> None:
        """Replace the sliders, whose ranges depend on the map and the axis."""
        for each in self._inputs:
            each.remove()
        self._inputs = []
        result = self._volume
        if result is None:
            return
        along = AXES.index(str(self._axis.value))
        sides = result.centres[along]
        reached = np.flatnonzero(result.share.any(axis=tuple({0, 1, 2} - {along})))
        first, last = (reached[0], reached[-1]) if len(reached) else (0, len(sides) - 1)
        middle = float(sides[(first + last) // 2])
        top = float(sides[last]) if last > first else float(sides[first]) + result.cell
        with self._folder:
            index = self._gui.add_slider(
                'slice at', float(sides[first]), top, result.cell, middle, hint='[m]'
            )
            level = self._gui.add_slider(
                'share',
                *LEVELS,
                0.01,
                0.5,
                visible=result.quats_xyzw is not None,
                hint='of the orientations, within the surface',
            )
        self._inputs = [index, level]
        for each in self._inputs:
            by_hand(each, lambda _: self._changed())
