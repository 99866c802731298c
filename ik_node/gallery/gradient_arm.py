"""An arm that goes down the slope of its distance to a point."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PERIOD = 5.0  # of one round [s]
RADIUS = 0.18  # of the round, sideways and up [m]
PULL = 0.12  # inwards, once a round [m]


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


def comfort(q: Array) -> float:
    """Return what a posture costs: least where elbow and wrist bend alike, as a finger does."""
    _, _, elbow, wrist = q
    return 0.1 * float(elbow - wrist) ** 2


ITEM = GalleryItem(
    name='gradient_arm',
    description='gradient_arm.urdf',
    goals={'tip': 'tip_link'},
    motion=motion,
    dof={'tip': 'X Y Z'},
    about='gradient descent: joints feel which way the distance falls, and bend in comfort',
    # A point is met to a tenth of a millimetre; to the last digit the method creeps.
    comfort=comfort,
    options={'method': 'gradient_descent', 'translation_converge_threshold': 1e-4},
)
