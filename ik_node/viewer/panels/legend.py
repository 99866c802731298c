"""The legend of the colours in the 3D view."""

from __future__ import annotations

from collections.abc import Collection

from ik_node.scene.look import AT_LIMIT, COLOURS, LOAD, OPEN, PASSIVE, UNMET
from ik_node.scene.shapes import Rgba

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
)


def legend_html(layers: Collection[str]) -> str:
    """Return HTML that explains the colours of the visible layers."""
    entries = ''.join(
        f'<span style="white-space:nowrap"><span style="display:inline-block;width:0.7em;'
        f'height:0.7em;border-radius:50%;margin-right:0.35em;background:{_css(rgba)}"></span>'
        f'{text}</span> '
        for layer, rgba, text in ENTRIES
        if layer in layers
    )
    style = 'display:flex;flex-wrap:wrap;gap:2px 12px;padding:2px 10px 6px;font-size:0.8em'
    return f'<div style="{style}">{entries}</div>'


def _css(rgba: Rgba) -> str:
    red, green, blue = (round(255 * part) for part in rgba[:3])
    return f'#{red:02x}{green:02x}{blue:02x}'
