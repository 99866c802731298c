"""Two arms of seven hinges each that carry one box."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 5.0  # of one cycle [s]
SIDE, LIFT, PUSH = 0.1, 0.1, 0.05  # amplitudes: sideways, up and down, forwards [m]
TILT = 0.3  # largest lean to a side [rad]
TURN = 0.3  # largest turn about the vertical [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the box's pose relative to its start at a time [s].

    It begins at the box's start.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    x, y, z, w = quat_from_euler(
        size * TILT * sin(phase), size * TILT * sin(2.0 * phase), size * TURN * cos(phase)
    ).tolist()
    position = (size * PUSH * sin(2.0 * phase), size * SIDE * sin(phase), size * LIFT * cos(phase))
    return {'box': (position, (x, y, z, w))}


ITEM = GalleryItem(
    name='two_arms_one_box',
    description='two_arms_one_box.urdf',
    goals={'box': 'box_link'},
    motion=motion,
    about='two arms of seven hinges hold one box: the box has a goal, and both arms follow',
)
