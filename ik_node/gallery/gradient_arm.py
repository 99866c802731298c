"""An arm that follows a point with gradient descent."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PERIOD = 5.0  # of one circle [s]
RADIUS = 0.18  # of the circle, sideways and up [m]
PULL = 0.12  # inwards, once per circle [m]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the tip's pose relative to its start at a time [s]; the goal constrains x, y and z.

    The circle grows from the start of the tip.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    position = (
        -size * PULL * sin(0.5 * phase) ** 2,
        size * RADIUS * sin(phase),
        size * RADIUS * cos(phase),
    )
    return {'tip': (position, (0.0, 0.0, 0.0, 1.0))}


def comfort(q: Array) -> float:
    """Return the cost of a posture, which is least if elbow and wrist bend equally."""
    _, _, elbow, wrist = q
    return 0.1 * float(elbow - wrist) ** 2


ITEM = GalleryItem(
    name='gradient_arm',
    description='gradient_arm.urdf',
    goals={'tip': 'tip_link'},
    motion=motion,
    dof={'tip': 'X Y Z'},
    about='gradient descent: an arm follows a point, with a cost for its posture',
    # The threshold is 0.1 mm, because the method converges slowly.
    comfort=comfort,
    options={'method': 'gradient_descent', 'translation_converge_threshold': 1e-4},
)
