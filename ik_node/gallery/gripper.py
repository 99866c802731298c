"""A gripper of two four-bar fingers with one motor that opens and closes."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

PERIOD = 3.0  # of one opening and closing [s]
SWING = 0.35  # of the crank, to either side of its start [rad]

# From gripper.urdf: length of the bars [m], and their inclination at the start [rad].
BAR, LEAN = 0.06, 0.5


def motion(time: float) -> dict[str, Pose]:
    """
    Return the left tip's pose relative to its start at a time [s].

    The goal constrains x only; the bars move the tip along an arc without turning it.
    """
    lean = LEAN + ramp(time) * SWING * sin(2.0 * pi * time / PERIOD)
    arc = (BAR * (sin(lean) - sin(LEAN)), 0.0, BAR * (cos(lean) - cos(LEAN)))
    return {'grip': (arc, (0.0, 0.0, 0.0, 1.0))}


ITEM = GalleryItem(
    name='gripper',
    description='gripper.urdf',
    goals={'grip': 'left_tip_link'},
    motion=motion,
    dof={'grip': 'X'},
    about='two fingers of four bars; gears make one follow the other, one motor opens both',
)
