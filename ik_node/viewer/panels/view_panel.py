"""The panel of settings for the 3D view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from ik_node.scene import LAYERS
from ik_node.viewer.panels.session_queue import by_hand

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
BODIES = ('meshes', 'rods', 'both', 'none')


class ViewPanel:
    """
    A panel with switches for the layers of the scene.

    Parameters
    ----------
    gui : viser.GuiApi
    changed : callable
        Called when a setting changes.

    """

    def __init__(self, gui: Any, changed: Callable[[], None]) -> None:
        self._bodies = gui.add_dropdown(
            'links', BODIES, initial_value='meshes', hint='as described, or as rods'
        )
        self._missing = gui.add_html('')
        self._layers = {
            layer: gui.add_checkbox(ABOUT[layer], layer in AT_FIRST)
            for layer in LAYERS
            if layer in ABOUT
        }
        self._gizmos = gui.add_checkbox('handles of goals', True)
        self._state = gui.add_checkbox('joints and pose as text', True)
        self._size = gui.add_slider('size of marks', 0.2, 3.0, 0.1, 1.0)
        self._fine = gui.add_checkbox(
            'fine light', False, hint='with shadows; for browsers with a graphics card'
        )
        switches = (self._fine, self._bodies, *self._layers.values(), self._gizmos, self._state)
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
    def gizmos(self) -> bool:
        """Return True if goals have handles."""
        return bool(self._gizmos.value)

    @property
    def state(self) -> bool:
        """Return True if joints and a link's pose are shown as text."""
        return bool(self._state.value)

    @property
    def fine_light(self) -> bool:
        """Return True if the lights cast shadows."""
        return bool(self._fine.value)

    @property
    def size(self) -> float:
        """Return the scale factor of all marks."""
        return float(self._size.value)
