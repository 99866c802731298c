"""An excavator that digs on one side and empties its bucket on the other."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 8.0  # from the hole to the heap and back [s]
SWING = 0.7  # of the house about the vertical, to either side [rad]
LIFT = 0.8  # height of the teeth above the ground at the heap [m]
PULL = 0.7  # inwards while digging, outwards at the heap, from the mean distance [m]
CURL = 0.5  # of the bucket, to either side [rad]

# From excavator.urdf: distance of the teeth from the swing axis at the start [m].
REACH = 2.61


def motion(time: float) -> dict[str, Pose]:
    """
    Return the pose of the bucket's teeth relative to its start at a time [s].

    The goal constrains x, y, z and the rotations about x and y; the swing follows from x and y.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    swing = size * SWING * sin(phase)
    reach = REACH + size * PULL * cos(phase)
    lift = size * 0.5 * LIFT * (1.0 - sin(phase))
    x, y, z, w = quat_from_euler(0.0, -size * CURL * cos(phase), swing).tolist()
    position = (reach * cos(swing) - REACH, reach * sin(swing), lift)
    return {'teeth': (position, (x, y, z, w))}


ITEM = GalleryItem(
    name='excavator',
    description='excavator.urdf',
    goals={'teeth': 'tip_link'},
    motion=motion,
    dof={'teeth': 'X Y Z EX EY'},
    about='cylinders move boom, arm and, through a four-bar, the bucket; the house swings',
)
