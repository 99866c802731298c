"""A planar five-bar whose tool draws a figure of eight."""

from __future__ import annotations

from math import acos, atan2, cos, hypot, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

PERIOD = 4.0  # of one eight [s]
WIDTH = 0.05  # to either side [m]
HEIGHT = 0.03  # up and down [m]

# From fivebar.urdf [m]: half the distance between the motors, the bars, and the tool's start.
MOTOR, UPPER, FORE = 0.08, 0.18, 0.24
HOME = (0.0, UPPER * sin(2.0 * pi / 3.0) + (FORE**2 - (MOTOR + 0.5 * UPPER) ** 2) ** 0.5)


def motion(time: float) -> dict[str, Pose]:
    """
    Return the tool's pose relative to its start at a time [s].

    The goal constrains x and y only; the tool turns with the left forearm.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    x, y = size * WIDTH * sin(phase), size * HEIGHT * sin(2.0 * phase)
    half = 0.5 * (_forearm(HOME[0] + x, HOME[1] + y) - _forearm(*HOME))
    return {'tool': ((x, y, 0.0), (0.0, 0.0, sin(half), cos(half)))}


def _forearm(x: float, y: float) -> float:
    """Return the angle of the left forearm with its end at x, y and its elbow outwards."""
    reach = hypot(x + MOTOR, y)
    bend = acos((reach**2 + FORE**2 - UPPER**2) / (2.0 * reach * FORE))
    return atan2(y, x + MOTOR) - bend


ITEM = GalleryItem(
    name='fivebar',
    description='fivebar.urdf',
    goals={'tool': 'tool_link'},
    motion=motion,
    dof={'tool': 'X Y'},
    about='two motors, one loop: the tool draws a figure of eight',
)
