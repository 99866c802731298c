"""The hexapod on a tilting base, with a platform that stays in place."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

PERIOD = 4.0  # of one tilt to all sides [s]
TILT = 0.3  # of the base, as far as in the demo of closed-chain-ik [rad]

# From hexapod_wide.urdf: height of the platform above the base at the start [m].
HEIGHT = 0.088326


def motion(time: float) -> dict[str, Pose]:
    """
    Return the platform's pose relative to its start at a time [s], in the base frame.

    The base tilts about its middle to all sides in turn. In the base frame, a fixed platform has
    the inverse motion.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    tilt = size * TILT
    x, y = cos(phase), sin(phase)  # the axis of the tilt
    half = -0.5 * tilt
    position = (-HEIGHT * sin(tilt) * y, HEIGHT * sin(tilt) * x, HEIGHT * (cos(tilt) - 1.0))
    return {'platform': (position, (sin(half) * x, sin(half) * y, 0.0, cos(half)))}


def base_motion(time: float) -> Pose:
    """Return the pose of the tilting base at a time [s], in the frame of the resting platform."""
    phase, half = 2.0 * pi * time / PERIOD, 0.5 * ramp(time) * TILT
    axis = cos(phase), sin(phase)
    return (0.0, 0.0, 0.0), (sin(half) * axis[0], sin(half) * axis[1], 0.0, cos(half))


ITEM = GalleryItem(
    name='hexapod_tilt',
    description='hexapod_wide.urdf',
    goals={'platform': 'platform_link'},
    motion=motion,
    base_motion=base_motion,
    about='the hexapod: the base tilts under the platform, which stays level and in place',
)
