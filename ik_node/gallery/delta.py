"""A delta robot whose platform circles and dips."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

PERIOD = 3.0  # of one circle [s]
RADIUS = 0.07  # of the circle [m]
DIP = 0.025  # up and down, three times per circle [m]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the platform's pose relative to its start at a time [s]; it never turns.

    The circle grows from its centre, so that the first goal is the start of the platform.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    position = (
        size * RADIUS * cos(phase),
        size * RADIUS * sin(phase),
        size * DIP * sin(3.0 * phase),
    )
    return {'platform': (position, (0.0, 0.0, 0.0, 1.0))}


ITEM = GalleryItem(
    name='delta',
    description='delta.urdf',
    goals={'platform': 'platform_link'},
    motion=motion,
    dof={'platform': 'X Y Z'},
    about='three motors move a platform that cannot turn, through six rods',
)
