"""A leg with a stepping foot, whose knee is driven from the hip through a four-bar."""

from __future__ import annotations

from math import acos, atan2, cos, hypot, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp
from ik_node.model.rotation import quat_from_euler, quat_multiply

PERIOD = 2.5  # of one step [s]
STEP = 0.12  # forwards and backwards [m]
LIFT = 0.05  # up and down [m]
SWAY = 0.06  # to the sides, once in two steps [m]

# From knee_leg.urdf [m]: offset of the leg from the hip axis, length of thigh and shank, foot
# start.
ASIDE, BONE = 0.1, 0.35
HOME = (0.0, ASIDE, -0.56)


def motion(time: float) -> dict[str, Pose]:
    """
    Return the foot's pose relative to its start at a time [s].

    The goal constrains x, y and z; the foot turns with the shank.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    position = (size * STEP * sin(phase), size * SWAY * sin(0.5 * phase), size * LIFT * cos(phase))
    x, y, z = (home + step for home, step in zip(HOME, position, strict=True))
    roll, pitch = _shank(x, y, z)
    start = _shank(*HOME)
    turned = quat_multiply(
        quat_from_euler(roll - start[0], 0.0, 0.0), quat_from_euler(0.0, pitch - start[1], 0.0)
    )
    qx, qy, qz, qw = turned.tolist()
    return {'foot': (position, (qx, qy, qz, qw))}


def _shank(x: float, y: float, z: float) -> tuple[float, float]:
    """Return roll and pitch of the shank with the foot at x, y, z in the hip frame."""
    down = (y * y + z * z - ASIDE**2) ** 0.5
    roll = atan2(y, -z) - atan2(ASIDE, down)
    reach = hypot(x, down)
    bend = acos(reach / (2.0 * BONE))
    # The knee is in front of the line from hip to foot.
    return roll, bend - atan2(x, down)


ITEM = GalleryItem(
    name='knee_leg',
    description='knee_leg.urdf',
    goals={'foot': 'foot_link'},
    motion=motion,
    dof={'foot': 'X Y Z'},
    about='a leg whose knee is driven from the hip, through crank, rod and lever',
)
