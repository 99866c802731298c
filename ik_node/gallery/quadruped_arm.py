"""A quadruped that sways on its feet while its arm draws a circle."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.ramp import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 5.0  # of one round of the body [s]
SWAY = 0.06  # of the body, to the sides and along [m]
LIFT = 0.04  # up and down, twice a round [m]
TILT = 0.15  # largest lean to a side [rad]
TURN = 0.2  # largest turn about the vertical [rad]

ROUND = 4.0  # of one circle of the gripper [s]
RADIUS = 0.12  # of the circle, upright in front of the body [m]
NOD = 0.2  # largest turn of the gripper, up and down and to the sides [rad]
ROLL = 0.5  # of the gripper about itself, to either side [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the body's and the gripper's poses relative to their start at a time [s].

    Both begin where they are; neither knows of the other.
    """
    size = ramp(time)
    return {'body': _body(2.0 * pi * time / PERIOD, size), 'gripper': _gripper(time, size)}


def _body(phase: float, size: float) -> Pose:
    x, y, z, w = quat_from_euler(
        size * TILT * sin(phase), size * TILT * cos(phase), size * TURN * sin(phase)
    ).tolist()
    position = (size * SWAY * cos(phase), size * SWAY * sin(phase), size * LIFT * sin(2.0 * phase))
    return position, (x, y, z, w)


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
