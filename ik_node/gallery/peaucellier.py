"""The Peaucellier-Lipkin linkage, whose pen draws an exact straight line."""

from __future__ import annotations

from math import acos, atan2, cos, hypot, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

PERIOD = 4.0  # to one end of the line, to the other and back [s]
STROKE = 0.2  # to either side of the middle [m]

# From peaucellier.urdf [m]: the long bars, the sides of the rhombus, the position of the line.
BAR, SIDE, LINE = 0.37, 0.2, 0.51


def motion(time: float) -> dict[str, Pose]:
    """
    Return the pen's pose relative to its start at a time [s].

    The goal constrains y only; the linkage keeps x constant, and the pen turns with its side.
    """
    y = ramp(time) * STROKE * sin(2.0 * pi * time / PERIOD)
    half = 0.5 * (_side(y) - _side(0.0))
    return {'pen': ((0.0, y, 0.0), (0.0, 0.0, sin(half), cos(half)))}


def _side(y: float) -> float:
    """Return the angle of the rhombus' lower far side with the pen at y on its line."""
    reach = hypot(LINE, y)
    bar = atan2(y, LINE) - acos((reach**2 + BAR**2 - SIDE**2) / (2.0 * reach * BAR))
    return atan2(y - BAR * sin(bar), LINE - BAR * cos(bar))


ITEM = GalleryItem(
    name='peaucellier',
    description='peaucellier.urdf',
    goals={'pen': 'pen_link'},
    motion=motion,
    dof={'pen': 'Y'},
    about='seven bars, three loops: hinges alone draw an exact straight line',
)
