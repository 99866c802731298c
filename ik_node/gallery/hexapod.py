"""A hexapod (Stewart platform) whose platform circles, nods and turns."""

from __future__ import annotations

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import Sway

SWAY = Sway(period=4.0, radius=0.012, lift=0.004, tilt=0.06, turn=0.08, turns=0.5)


def motion(time: float) -> dict[str, Pose]:
    """Return the platform's pose relative to its start at a time [s]."""
    return {'platform': SWAY.pose(time)}


ITEM = GalleryItem(
    name='hexapod',
    description='hexapod.urdf',
    goals={'platform': 'platform_link'},
    motion=motion,
    about='six legs carry a platform: it circles, nods and turns',
)
