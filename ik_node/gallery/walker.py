"""A walker that sways on four feet, which are pinned to the ground."""

from __future__ import annotations

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import Sway

SWAY = Sway(period=4.0, radius=0.03, lift=0.02, tilt=0.12, turn=0.15, turns=0.5)


def motion(time: float) -> dict[str, Pose]:
    """Return the body's pose relative to its start at a time [s]."""
    return {'body': SWAY.pose(time)}


ITEM = GalleryItem(
    name='walker',
    description='walker.urdf',
    goals={'body': 'body_link'},
    motion=motion,
    about='a body that sways on four feet; they are pinned to the ground',
)
