"""A planar arm that follows a pointer with cyclic coordinate descent."""

from __future__ import annotations

from math import pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp

PERIOD = 8.0  # of one figure [s]
WIDTH, HEIGHT = 0.22, 0.18  # of the figure, to either side [m]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the tip's position relative to its start at a time [s].

    The pointer draws a figure of eight, starting at its middle.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    position = (size * WIDTH * sin(phase), size * HEIGHT * sin(2.0 * phase), 0.0)
    return {'tip': (position, (0.0, 0.0, 0.0, 1.0))}


ITEM = GalleryItem(
    name='ccd_arm',
    description='ccd_arm.urdf',
    goals={'tip': 'tip_link'},
    motion=motion,
    # z is always met in the plane. With it, the best rotation of each joint has a closed form.
    dof={'tip': 'X Y Z'},
    about='cyclic coordinate descent: a planar arm follows a pointer, joint after joint',
    # Short rotations keep the outer joints from folding. The threshold is 0.1 mm, because the
    # method converges slowly.
    options={'method': 'ccd', 'ccd_step_limit': 0.001, 'translation_converge_threshold': 1e-4},
)
