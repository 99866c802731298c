"""A rover on six legs whose body sways over fixed feet."""

from __future__ import annotations

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import Sway

SWAY = Sway(period=6.0, radius=0.25, lift=0.15, tilt=0.12, turn=0.3)


def motion(time: float) -> dict[str, Pose]:
    """Return the body's pose relative to its start at a time [s]."""
    return {'body': SWAY.pose(time)}


ITEM = GalleryItem(
    name='six_legged_rover',
    description='six_legged_rover.urdf',
    goals={'body': 'body_link'},
    motion=motion,
    about='36 hinges, six feet welded to the ground: the body follows a goal',
)
