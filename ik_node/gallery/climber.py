"""A climber that moves its body between two rails; both feet hold."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.ramp import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 5.0  # of one round [s]
SWAY = 0.17  # of the body, to the sides and along [m]
LIFT = 0.15  # up and down, twice a round [m]
TILT = 0.3  # largest lean to a side [rad]
TURN = 0.35  # largest turn about the vertical [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the body's pose relative to its start at a time [s].

    It begins where the body stands.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    x, y, z, w = quat_from_euler(
        size * TILT * sin(phase), size * TILT * cos(phase), size * TURN * sin(phase)
    ).tolist()
    position = (size * SWAY * cos(phase), size * SWAY * sin(phase), size * LIFT * sin(2.0 * phase))
    return {'body': (position, (x, y, z, w))}


ITEM = GalleryItem(
    name='climber',
    description='climber.urdf',
    goals={'body': 'body_link'},
    motion=motion,
    about='two legs of seven hinges hold two rails: the body moves between them',
)
