"""An arm whose tip goes round while it turns as it likes."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

PERIOD = 5.0  # of one round [s]
RADIUS = 0.6  # of the circle, upright across the arm [m]
PUSH = 0.9  # out and in, twice a round [m]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the tip's position relative to its start at a time [s]; how it turns is left open.

    The circle opens from its centre.
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
    about='six hinges, three axes asked for: the tip goes where it is sent and turns as it likes',
)
