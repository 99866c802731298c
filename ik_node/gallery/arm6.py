"""An industrial arm that draws a circle on a table with a leaning tool."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 4.0  # of one circle [s]
RADIUS = 0.17  # of the circle [m]
LIFT = 0.06  # up and down, twice per circle [m]
TILT = 0.4  # largest lean of the tool to a side [rad]
TURN = 0.5  # of the tool about its axis, to either side [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the tool's pose relative to its start at a time [s].

    The circle grows from its centre.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    x, y, z, w = quat_from_euler(
        size * TILT * sin(phase), size * TILT * cos(phase), size * TURN * sin(phase)
    ).tolist()
    position = (
        size * RADIUS * cos(phase),
        size * RADIUS * sin(phase),
        size * LIFT * sin(2.0 * phase),
    )
    return {'tool': (position, (x, y, z, w))}


ITEM = GalleryItem(
    name='arm6',
    description='arm6.urdf',
    goals={'tool': 'tool_link'},
    motion=motion,
    about='an industrial arm of six hinges: its tool draws a circle and leans',
)
