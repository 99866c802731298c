"""A biped that sways over its flat feet."""

from __future__ import annotations

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import Sway

SWAY = Sway(period=4.0, radius=0.05, lift=0.03, tilt=0.1, turn=0.25)


def motion(time: float) -> dict[str, Pose]:
    """Return the pelvis's pose relative to its start at a time [s]."""
    return {'pelvis': SWAY.pose(time)}


ITEM = GalleryItem(
    name='biped',
    description='biped.urdf',
    goals={'pelvis': 'pelvis_link'},
    motion=motion,
    about='two legs of six hinges, soles flat on the ground: the pelvis follows a goal',
)
