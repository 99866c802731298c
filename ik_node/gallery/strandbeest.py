"""Four of Theo Jansen's legs, driven by one crank."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramped

PERIOD = 6.0  # of one turn of the crank [s]


def motion(time: float) -> dict[str, Pose]:
    """Return the crank's pose relative to its start at a time [s]; it turns continuously."""
    half = pi * ramped(time) / PERIOD
    return {'crank': ((0.0, 0.0, 0.0), (0.0, sin(half), 0.0, cos(half)))}


ITEM = GalleryItem(
    name='strandbeest',
    description='strandbeest.urdf',
    goals={'crank': 'crank_link'},
    motion=motion,
    dof={'crank': 'EY'},
    about="four of Theo Jansen's legs, twelve loops, that walk while one crank turns",
)
