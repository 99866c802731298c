"""Appearance of a scene: layers, sizes and colours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
import re
from types import MappingProxyType

from ik_node.errors import OptionError
from ik_node.scene.shapes import Rgba

LAYERS = ('frames', 'links', 'axes', 'limits', 'closures', 'goals', 'labels', 'visuals')
DEFAULT_LAYERS = frozenset(LAYERS) - {'labels', 'visuals'}
# Layers that `set_color` changes by default; colours of the other layers have a meaning.
PLAIN_LAYERS = ('frames', 'links', 'axes', 'limits', 'labels')

COLOURS: Mapping[str, Rgba] = MappingProxyType(
    {
        'frames': (0.45, 0.47, 0.50, 1.0),
        'links': (0.60, 0.64, 0.70, 1.0),
        'visuals': (0.72, 0.74, 0.78, 1.0),
        'axes': (0.93, 0.49, 0.13, 1.0),
        'limits': (0.98, 0.76, 0.15, 0.45),
        'closures': (0.13, 0.65, 0.32, 1.0),
        'goals': (0.16, 0.42, 0.90, 1.0),
        'labels': (0.10, 0.12, 0.15, 1.0),
    }
)
OPEN: Rgba = (0.90, 0.10, 0.12, 1.0)  # an open loop
UNMET: Rgba = (0.75, 0.15, 0.65, 1.0)  # the line from a goal to its link
AT_LIMIT: Rgba = (0.92, 0.25, 0.10, 0.6)
PASSIVE: Rgba = (0.36, 0.62, 0.80, 1.0)  # the axis of a joint that no motor moves
LOCKED: Rgba = (0.45, 0.47, 0.50, 1.0)
UNUSED: Rgba = (0.60, 0.62, 0.65, 0.5)  # a disabled closure or goal
LOAD: Rgba = (0.04, 0.55, 0.58, 1.0)  # the force of a load on a link
FREE: Rgba = (0.60, 0.62, 0.65, 0.4)  # a free axis of a goal
AXIS_COLOURS: tuple[Rgba, Rgba, Rgba] = (
    (0.85, 0.15, 0.15, 1.0),
    (0.15, 0.65, 0.20, 1.0),
    (0.15, 0.35, 0.90, 1.0),
)


@dataclass(frozen=True)
class Look:
    """
    The settings of a scene's appearance.

    Attributes
    ----------
    scale : float
        Length of a joint axis [m], to which other sizes are relative.
    layers : frozenset of str
        The drawn layers, some of `LAYERS`.
    rgba : mapping of str to tuple of float
        Colour of every layer.
    draw_through : float
        Opacity of hidden shapes.
    segments : int
        Number of sides of round shapes.

    """

    scale: float = 0.1
    layers: frozenset[str] = DEFAULT_LAYERS
    rgba: Mapping[str, Rgba] = field(default_factory=lambda: COLOURS)
    draw_through: float = 0.0
    segments: int = 24


def checked_layers(layers: str | Iterable[str]) -> frozenset[str]:
    """
    Return the layers in a text such as 'axes limits', or in a list.

    Raises
    ------
    OptionError
        If there is no such layer.

    """
    named = layers.replace(',', ' ').split() if isinstance(layers, str) else list(layers)
    if not set(named) <= set(LAYERS):
        raise OptionError('layers', layers, 'some of ' + ' '.join(LAYERS))
    return frozenset(named)


def coloured(
    rgba: Mapping[str, Rgba], color: str | int | Sequence[float], layers: Iterable[str]
) -> dict[str, Rgba]:
    """
    Return the colours with that of some layers replaced.

    Parameters
    ----------
    rgba : mapping of str to tuple of float
        The present colours.
    color : str, int or sequence of float
        '#rrggbb' or '#rrggbbaa', 0xrrggbb, or three or four numbers from 0 to 1. Without an
        opacity, each layer keeps its own.
    layers : iterable of str
        The layers.

    Raises
    ------
    OptionError
        If the colour is not valid.

    """
    parts = _parts(color)
    made = dict(rgba)
    for layer in layers:
        opacity = parts[3] if len(parts) == 4 else made[layer][3]
        made[layer] = (parts[0], parts[1], parts[2], opacity)
    return made


def _parts(color: str | int | Sequence[float]) -> tuple[float, ...]:
    """Return three or four numbers from 0 to 1."""
    parts: tuple[float, ...] = ()
    if isinstance(color, str):
        if re.fullmatch('#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?', color):
            parts = tuple(byte / 255.0 for byte in bytes.fromhex(color[1:]))
    elif isinstance(color, int):
        if 0 <= color <= 0xFFFFFF and not isinstance(color, bool):
            parts = tuple(byte / 255.0 for byte in color.to_bytes(3, 'big'))
    else:
        try:
            parts = tuple(float(part) for part in color)
        except (TypeError, ValueError):
            parts = ()
    if len(parts) not in (3, 4) or not all(0.0 <= part <= 1.0 for part in parts):
        raise OptionError(
            'color', color, "'#rrggbb', '#rrggbbaa', 0xrrggbb, or 3 or 4 numbers from 0 to 1"
        )
    return parts
