"""An arm whose tip moves on a circle with a free orientation."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

PERIOD = 5.0  # of one circle [s]
RADIUS = 0.6  # of the vertical circle across the arm [m]
PUSH = 0.9  # out and in, twice per circle [m]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the tip's pose relative to its start at a time [s]; its orientation is free.

    The circle grows from its centre.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    position = (
        -size * PUSH * sin(phase) ** 2,
        size * RADIUS * sin(phase),
        size * RADIUS * cos(phase),
    )
    return {'tip': (position, (0.0, 0.0, 0.0, 1.0))}


ITEM = GalleryItem(
    name='partial_goal_arm',
    description='partial_goal_arm.urdf',
    goals={'tip': 'tip_link'},
    motion=motion,
    dof={'tip': 'X Y Z'},
    about='six hinges and a goal of three axes: the tip follows, and its orientation is free',
)
