"""A hexapod (Stewart platform) whose platform circles, nods and turns."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.ramp import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 4.0  # of one round [s]
RADIUS = 0.012  # of the circle [m]
LIFT = 0.004  # up and down, twice a round [m]
TILT = 0.06  # largest lean to a side [rad]
TURN = 0.08  # largest turn about the vertical [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the platform's pose relative to its start at a time [s].

    The circle opens from its centre, so that the first goal is where the platform stands.
    """
    phase = 2.0 * pi * time / PERIOD
    size = ramp(time)
    x, y, z, w = quat_from_euler(
        size * TILT * sin(phase), size * TILT * cos(phase), size * TURN * sin(0.5 * phase)
    ).tolist()
    position = (
        size * RADIUS * cos(phase),
        size * RADIUS * sin(phase),
        size * LIFT * sin(2.0 * phase),
    )
    return {'platform': (position, (x, y, z, w))}


ITEM = GalleryItem(
    name='hexapod',
    description='hexapod.urdf',
    goals={'platform': 'platform_link'},
    motion=motion,
    about='six legs carry a platform: it circles, nods and turns',
)
