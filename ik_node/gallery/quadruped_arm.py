"""A quadruped that sways on its feet while its arm draws a circle."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp, Sway
from ik_node.model.rotation import quat_from_euler

SWAY = Sway(period=5.0, radius=0.06, lift=0.04, tilt=0.15, turn=0.2)  # of the body
ROUND = 4.0  # of one circle of the gripper [s]
RADIUS = 0.12  # of the vertical circle in front of the body [m]
NOD = 0.2  # largest turn of the gripper, up and down and to the sides [rad]
ROLL = 0.5  # of the gripper about its axis, to either side [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the body's and the gripper's poses relative to their start at a time [s].

    Both motions start at rest and are independent.
    """
    return {'body': SWAY.pose(time), 'gripper': _gripper(time, ramp(time))}


def _gripper(time: float, size: float) -> Pose:
    phase = 2.0 * pi * time / ROUND
    x, y, z, w = quat_from_euler(
        size * ROLL * sin(phase), size * NOD * cos(phase), size * NOD * sin(phase)
    ).tolist()
    return (0.0, size * RADIUS * sin(phase), size * RADIUS * cos(phase)), (x, y, z, w)


ITEM = GalleryItem(
    name='quadruped_arm',
    description='quadruped_arm.urdf',
    goals={'body': 'body_link', 'gripper': 'gripper_link'},
    motion=motion,
    about='four legs stand, an arm reaches: body and gripper have a goal each, both at once',
)
