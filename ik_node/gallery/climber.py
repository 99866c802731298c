"""A climber that moves its body between two rails; both feet hold."""

from __future__ import annotations

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import Sway

SWAY = Sway(period=5.0, radius=0.17, lift=0.15, tilt=0.3, turn=0.35)


def motion(time: float) -> dict[str, Pose]:
    """Return the body's pose relative to its start at a time [s]."""
    return {'body': SWAY.pose(time)}


ITEM = GalleryItem(
    name='climber',
    description='climber.urdf',
    goals={'body': 'body_link'},
    motion=motion,
    about='two legs of seven hinges hold two rails: the body moves between them',
)
