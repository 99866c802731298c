"""A biped that sways over its feet, which stand flat."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.ramp import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 4.0  # of one round [s]
SWAY = 0.05  # of the pelvis, to the sides and along [m]
LIFT = 0.03  # up and down, twice a round [m]
TILT = 0.1  # largest lean to a side [rad]
TURN = 0.25  # largest turn about the vertical [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the pelvis's pose relative to its start at a time [s].

    It begins where the pelvis stands.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    x, y, z, w = quat_from_euler(
        size * TILT * sin(phase), size * TILT * cos(phase), size * TURN * sin(phase)
    ).tolist()
    position = (size * SWAY * cos(phase), size * SWAY * sin(phase), size * LIFT * sin(2.0 * phase))
    return {'pelvis': (position, (x, y, z, w))}


ITEM = GalleryItem(
    name='biped',
    description='biped.urdf',
    goals={'pelvis': 'pelvis_link'},
    motion=motion,
    about='two legs of six hinges, soles flat on the ground: the pelvis sways as it is asked',
)
