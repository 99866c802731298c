"""The panel of settings for the 3D view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any, NamedTuple

from ik_node.scene import LAYERS
from ik_node.viewer.panels.session_queue import by_hand, each_hand

ABOUT = {
    'frames': 'frames of the links',
    'axes': 'joint axes',
    'limits': 'joint limits',
    'closures': 'loops, open in red',
    'goals': 'goals, their axes',
    'labels': 'names of joints',
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

    Attributes
    ----------
    look : callable
        Look at the whole robot.
    flatten : callable
        With True, look onto the plane of the goal's link in 2-D; with False, in 3-D.
    dark : callable
        With True, use dark colours; with False, light ones.

    """

    look: Callable[[int], None]
    flatten: Callable[[int, bool], None]
    dark: Callable[[int, bool], None]


class ViewPanel:
    """
    A panel with switches for the layers of the scene.

    Parameters
    ----------
    gui : viser.GuiApi
    changed : callable
        Called when a setting changes.
    eyes : Eyes
        What each browser can choose for itself.

    """

    def __init__(self, gui: Any, changed: Callable[[], None], eyes: Eyes) -> None:
        view = gui.add_button_group(
            'view', (THREE, TWO), hint='2-D: onto the plane of a planar robot, else from above'
        )
        page = gui.add_button_group('page', (LIGHT, DARK), hint='in this browser')
        each_hand(view, lambda browser, value: eyes.flatten(browser, value == TWO))
        each_hand(page, lambda browser, value: eyes.dark(browser, value == DARK))
        self._bodies = gui.add_dropdown(
            'links', BODIES, initial_value='meshes', hint='as described, or as rods'
        )
        self._missing = gui.add_html('')
        self._layers = {
            layer: gui.add_checkbox(ABOUT[layer], layer in AT_FIRST)
            for layer in LAYERS
            if layer in ABOUT
        }
        self._gizmos = gui.add_dropdown(
            'handles', HANDLES, hint='a click on the ball of a goal selects it'
        )
        self._state = gui.add_checkbox('joints and pose as text', True)
        self._size = gui.add_slider('size of marks', 0.2, 3.0, 0.1, 1.0)
        self._shadows = gui.add_checkbox(
            'shadows', True, hint='off: faster in browsers without a graphics card'
        )
        switches = (self._shadows, self._bodies, *self._layers.values(), self._gizmos, self._state)
        for handle in (*switches, self._size):
            by_hand(handle, lambda _: changed())

    def show_missing(self, meshes: Sequence[str]) -> None:
        """List the meshes that could not be drawn."""
        names = ''.join(f'<li>{escape(name)}</li>' for name in meshes[:MOST])
        more = f'<li>and {len(meshes) - MOST} more</li>' if len(meshes) > MOST else ''
        text = f'not drawn as described:<ul style="margin:0">{names}{more}</ul>'
        style = 'padding:0 10px;font-size:0.85em;overflow-wrap:anywhere'
        self._missing.content = f'<div style="{style}">{text}</div>' if meshes else ''

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
    def state(self) -> bool:
        """Return True if joints and a link's pose are shown as text."""
        return bool(self._state.value)

    @property
    def shadows(self) -> bool:
        """Return True if the robot casts shadows."""
        return bool(self._shadows.value)

    @property
    def size(self) -> float:
        """Return the scale factor of all marks."""
        return float(self._size.value)
