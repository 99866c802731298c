"""The hexapod with its platform on a wide circle, without rotation."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

# Circle and height are those of the demo of closed-chain-ik, which is faster.
PERIOD = 2.5  # of one circle [s]
RADIUS = 0.02  # of the circle [m]
LIFT = 0.1025 - 0.088326  # of the circle, above the platform's start [m]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the platform's pose relative to its start at a time [s].

    The circle grows from the platform's start.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    position = (size * RADIUS * cos(phase), size * RADIUS * sin(phase), size * LIFT)
    return {'platform': (position, (0.0, 0.0, 0.0, 1.0))}


ITEM = GalleryItem(
    name='hexapod_gyrate',
    description='hexapod_wide.urdf',
    goals={'platform': 'platform_link'},
    motion=motion,
    about='the hexapod: its platform moves on a circle without turning',
)
