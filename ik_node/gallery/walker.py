"""A walker that sways on its four feet; they are pinned to the ground."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.ramp import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 4.0  # of one round [s]
SWAY = 0.03  # of the body, to the sides and along [m]
LIFT = 0.02  # up and down, twice a round [m]
TILT = 0.12  # largest lean to a side [rad]
TURN = 0.15  # largest turn about the vertical [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the body's pose relative to its start at a time [s].

    It begins where the body stands.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    x, y, z, w = quat_from_euler(
        size * TILT * sin(phase), size * TILT * cos(phase), size * TURN * sin(0.5 * phase)
    ).tolist()
    position = (size * SWAY * cos(phase), size * SWAY * sin(phase), size * LIFT * sin(2.0 * phase))
    return {'body': (position, (x, y, z, w))}


ITEM = GalleryItem(
    name='walker',
    description='walker.urdf',
    goals={'body': 'body_link'},
    motion=motion,
    about='a body that sways on four feet; they are pinned to the ground',
)
