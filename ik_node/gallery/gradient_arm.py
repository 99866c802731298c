"""An arm that goes down the slope of its distance to a point."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.ramp import ramp

PERIOD = 5.0  # of one round [s]
RADIUS = 0.15  # of the round, sideways and up [m]
PULL = 0.08  # inwards, once a round [m]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the tip's position relative to its start at a time [s]; only x, y and z are asked for.

    The round opens from where the tip is.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    position = (
        -size * PULL * sin(0.5 * phase) ** 2,
        size * RADIUS * sin(phase),
        size * RADIUS * cos(phase),
    )
    return {'tip': (position, (0.0, 0.0, 0.0, 1.0))}


ITEM = GalleryItem(
    name='gradient_arm',
    description='gradient_arm.urdf',
    goals={'tip': 'tip_link'},
    motion=motion,
    dof={'tip': 'X Y Z'},
    about='gradient descent: each joint feels which way the distance to a point falls',
    # A point is met to a tenth of a millimetre; to the last digit the method creeps.
    options={'method': 'gradient_descent', 'translation_converge_threshold': 1e-4},
)
