"""Hexapods (Stewart platforms): a platform on six legs, or a base that tilts under it."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import cycle, GalleryItem, moving, Pose, ramp, sway

# From hexapod_wide.urdf: height of the platform above the base at the start [m].
HEIGHT = 0.088326

HEXAPOD = GalleryItem(
    name='hexapod',
    motion=moving(platform=sway(4.0, radius=0.012, lift=0.004, tilt=0.06, yaw=0.08, turns=0.5)),
    about='six legs carry a platform: it circles, nods and turns',
)

# Amplitudes of the next three are those of the demos of closed-chain-ik, which are faster.
HEXAPOD_GYRATE = GalleryItem(
    name='hexapod_gyrate',
    description='hexapod_wide.urdf',
    motion=moving(platform=cycle(2.5, lambda p: (0.02 * cos(p), 0.02 * sin(p), 0.1025 - HEIGHT))),
    about='the hexapod: its platform moves on a circle without turning',
)

HEXAPOD_ROTATE = GalleryItem(
    name='hexapod_rotate',
    description='hexapod_wide.urdf',
    motion=moving(
        platform=cycle(
            3.5,
            lambda p: (0.0, 0.0, 0.105 - HEIGHT + 0.0075 * cos(p)),
            lambda p: (0.0, 0.0, 0.75 * sin(p)),
        )
    ),
    about='the hexapod: its platform turns back and forth, rises and sinks',
)

PERIOD = 4.0  # of one tilt to all sides [s]
TILT = 0.3  # of the base [rad]


def level_platform(time: float) -> Pose:
    """
    Return the pose of the platform at a time [s] in the frame of the tilting base.

    The base tilts about its middle to all sides in turn. In its frame, a fixed platform has the
    inverse motion.
    """
    phase, tilt = 2.0 * pi * time / PERIOD, ramp(time) * TILT
    x, y = cos(phase), sin(phase)  # the axis of the tilt
    position = (-HEIGHT * sin(tilt) * y, HEIGHT * sin(tilt) * x, HEIGHT * (cos(tilt) - 1.0))
    return position, (-sin(0.5 * tilt) * x, -sin(0.5 * tilt) * y, 0.0, cos(0.5 * tilt))


def tilting_base(time: float) -> Pose:
    """Return the pose of the tilting base at a time [s], in the frame of the resting platform."""
    phase, half = 2.0 * pi * time / PERIOD, 0.5 * ramp(time) * TILT
    return (0.0, 0.0, 0.0), (sin(half) * cos(phase), sin(half) * sin(phase), 0.0, cos(half))


HEXAPOD_TILT = GalleryItem(
    name='hexapod_tilt',
    description='hexapod_wide.urdf',
    motion=moving(platform=level_platform),
    base_motion=tilting_base,
    about='the hexapod: the base tilts under the platform, which stays level and in place',
)
