"""A humanoid's ankle whose two motors pitch and roll the foot through cranks and rods."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 3.0  # of one cycle [s]
PITCH = 0.55  # to either side [rad]
ROLL = 0.28  # to either side [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the foot's rotation relative to its start at a time [s]; its origin stays in place.

    The goal constrains the rotations about x and y. The toes draw an ellipse.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    # The foot rolls about its own x axis, so the rotation is R_y(pitch) R_x(roll).
    x, y, z, w = quat_from_euler(size * ROLL * cos(phase), size * PITCH * sin(phase), 0.0).tolist()
    return {'foot': ((0.0, 0.0, 0.0), (x, y, z, w))}


ITEM = GalleryItem(
    name='ankle',
    description='ankle.urdf',
    goals={'foot': 'foot_link'},
    motion=motion,
    dof={'foot': 'EX EY'},
    about="a humanoid's ankle: two motors pitch and roll the foot through cranks and rods",
)
