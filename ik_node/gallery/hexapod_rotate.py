"""The hexapod with its platform turning back and forth, rising and sinking."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

# Rotation and heights are those of the demo of closed-chain-ik, which is faster.
PERIOD = 3.5  # of one rotation back and forth [s]
TURN = 0.75  # to either side about the vertical [rad]
HEIGHT = 0.105 - 0.088326  # of the middle, above the platform's start [m]
LIFT = 0.0075  # up and down from there [m]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the platform's pose relative to its start at a time [s].

    It begins at the platform's start.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    half = 0.5 * size * TURN * sin(phase)
    position = (0.0, 0.0, size * (HEIGHT + LIFT * cos(phase)))
    return {'platform': (position, (0.0, 0.0, sin(half), cos(half)))}


ITEM = GalleryItem(
    name='hexapod_rotate',
    description='hexapod_wide.urdf',
    goals={'platform': 'platform_link'},
    motion=motion,
    about='the hexapod: its platform turns back and forth, rises and sinks',
)
