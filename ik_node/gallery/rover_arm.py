"""A rover's arm of five hinges with a goal of six axes."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 6.0  # of one circle [s]
RADIUS = 0.25  # of the circle [m]
TILT = 0.3  # largest lean to a side [rad]; the arm can lean forwards and backwards only
TURN = 0.5  # of the tool about its axis, to either side [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the tool's pose relative to its start at a time [s].

    The arm can reach few of these poses. The circle grows from its centre.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    x, y, z, w = quat_from_euler(
        size * TILT * sin(phase), size * TILT * cos(phase), size * TURN * sin(phase)
    ).tolist()
    position = (size * RADIUS * cos(phase), size * RADIUS * sin(phase), 0.0)
    return {'tool': (position, (x, y, z, w))}


ITEM = GalleryItem(
    name='rover_arm',
    description='rover_arm.urdf',
    goals={'tool': 'tool_link'},
    motion=motion,
    about='five hinges and a goal of six axes: the arm stays as near to its goal as possible',
    # Restarts do not give better results.
    options={'restarts': 0},
    reachable=False,
)
