"""A palletizer that carries a box from side to side without turning it."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

PERIOD = 5.0  # from one side to the other and back [s]
SWING = 0.7  # of the arm about the vertical, to either side [rad]
LIFT = 0.1  # up between the sides, and down at them [m]
PULL = 0.16  # inwards, twice per cycle [m]

# From palletizer.urdf: distance of the tool from the tower's axis at the start [m].
REACH = 0.81


def motion(time: float) -> dict[str, Pose]:
    """
    Return the tool's pose relative to its start at a time [s].

    The arm swings from side to side, and the wrist compensates, so that the box does not turn.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    swing = size * SWING * sin(phase)
    reach = REACH - size * PULL * sin(phase) ** 2
    lift = size * LIFT * cos(2.0 * phase)
    position = (reach * cos(swing) - REACH, reach * sin(swing), lift)
    return {'tool': (position, (0.0, 0.0, 0.0, 1.0))}


ITEM = GalleryItem(
    name='palletizer',
    description='palletizer.urdf',
    goals={'tool': 'tool_link'},
    motion=motion,
    dof={'tool': 'X Y Z EZ'},
    about='three parallelograms drive an arm from below and keep its tool level; four motors',
)
