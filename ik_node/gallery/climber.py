"""A climber that moves its body between two rails, held by its feet, and works with its hands."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp, Sway
from ik_node.model.rotation import quat_from_euler

SWAY = Sway(period=5.0, radius=0.11, lift=0.1, tilt=0.34, turn=0.32)  # of the body
ROUND = 4.0  # of one circle of a hand [s]
RADIUS = 0.06  # of the vertical circle in front of the body [m]
TURN = 0.5  # of a hand about the forward axis, to either side [rad]
NOD = 0.25  # of a hand, up and down and to the sides [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the poses of body and hands relative to their start at a time [s].

    The hands move in opposite phase, independently of the body.
    """
    return {
        'body': SWAY.pose(time),
        'left_hand': _hand(time, 1.0),
        'right_hand': _hand(time, -1.0),
    }


def _hand(time: float, side: float) -> Pose:
    phase, size = 2.0 * pi * time / ROUND, ramp(time)
    x, y, z, w = quat_from_euler(
        side * size * TURN * sin(phase), size * NOD * cos(phase), side * size * NOD * sin(phase)
    ).tolist()
    position = (0.0, side * size * RADIUS * sin(phase), size * RADIUS * cos(phase))
    return position, (x, y, z, w)


ITEM = GalleryItem(
    name='climber',
    description='climber.urdf',
    goals={'body': 'body_link', 'left_hand': 'left_hand_link', 'right_hand': 'right_hand_link'},
    motion=motion,
    about='two legs hold two rails, two arms work: a goal each for the body and both hands',
)
