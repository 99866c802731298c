"""An arm of a hundred hinges whose tip moves like the head of a snake."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 6.0  # of one cycle [s]
SIDE, LIFT, PULL = 2.5, 1.2, 1.0  # amplitudes: sideways, up and down, inwards [m]
NOD = 0.6  # largest nod and lean [rad]
TURN = 0.8  # towards the side to which it moves [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the tip's pose relative to its start at a time [s].

    The motion begins at rest and grows to its full size.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(0.5 * time)
    x, y, z, w = quat_from_euler(
        size * TURN * sin(phase), size * NOD * sin(2.0 * phase), size * NOD * cos(phase)
    ).tolist()
    position = (
        -size * PULL * sin(phase) ** 2,
        size * SIDE * sin(phase),
        size * LIFT * sin(2.0 * phase),
    )
    return {'tip': (position, (x, y, z, w))}


ITEM = GalleryItem(
    name='chain100',
    description='chain100.urdf',
    goals={'tip': 'tip_link'},
    motion=motion,
    about='a hundred hinges and a goal of six axes: all hinges bend a little',
)
