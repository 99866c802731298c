"""The hexapod, its platform on a wide circle without turning."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

# Circle and height are those of the demo of closed-chain-ik, which goes round faster.
PERIOD = 2.5  # of one round [s]
RADIUS = 0.02  # of the circle [m]
LIFT = 0.1025 - 0.088326  # of the circle, above where the platform starts [m]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the platform's pose relative to its start at a time [s].

    The circle opens from where the platform stands.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    position = (size * RADIUS * cos(phase), size * RADIUS * sin(phase), size * LIFT)
    return {'platform': (position, (0.0, 0.0, 0.0, 1.0))}


ITEM = GalleryItem(
    name='hexapod_gyrate',
    description='hexapod_wide.urdf',
    goals={'platform': 'platform_link'},
    motion=motion,
    about='the hexapod again: its platform goes round a circle and never turns',
)
