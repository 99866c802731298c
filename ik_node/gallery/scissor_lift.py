"""A scissor lift of four stages with one slide that moves up and down."""

from __future__ import annotations

from math import pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

PERIOD = 6.0  # of one motion up and down [s]
LIFT = 0.36  # to either side of the start [m]


def motion(time: float) -> dict[str, Pose]:
    """Return the platform's pose relative to its start at a time [s]; the goal constrains z."""
    height = ramp(time) * LIFT * sin(2.0 * pi * time / PERIOD)
    return {'platform': ((0.0, 0.0, height), (0.0, 0.0, 0.0, 1.0))}


ITEM = GalleryItem(
    name='scissor_lift',
    description='scissor_lift.urdf',
    goals={'platform': 'platform_link'},
    motion=motion,
    dof={'platform': 'Z'},
    about='four crossed stages, nine hinges that follow, one slide that lifts them all',
)
