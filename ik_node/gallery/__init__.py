"""The gallery: robots of this package with their goals and motions, free of ROS."""

from __future__ import annotations

from importlib import import_module

from ik_node.errors import UnknownFrameError
from ik_node.gallery.gallery_item import GalleryItem

# The robots of each module, in which the item of `hexapod` is HEXAPOD.
_MODULES = {
    'platforms': ('hexapod', 'hexapod_gyrate', 'hexapod_rotate', 'hexapod_tilt'),
    'linkages': (
        *('delta', 'fivebar', 'gripper', 'palletizer', 'scissor_lift', 'strandbeest'),
        *('peaucellier', 'two_arms_one_box', 'knee_leg', 'ankle', 'excavator'),
    ),
    'walkers': ('walker', 'six_legged_rover', 'climber', 'biped', 'quadruped_arm'),
    'rocker_bogie': ('rocker_bogie',),
    'humanoid': ('humanoid',),
    'arms': (
        *('partial_goal_arm', 'arm6', 'arm_at_shelf', 'rover_arm', 'dh_arm', 'ccd_arm'),
        *('gradient_arm', 'chain100'),
    ),
}
NAMES: tuple[str, ...] = tuple(name for names in _MODULES.values() for name in names)


def gallery_item(name: str) -> GalleryItem:
    """Return a robot of the gallery, with its goals and its motion; raise UnknownFrameError."""
    for module, names in _MODULES.items():
        if name in names:
            item: GalleryItem = getattr(import_module(f'{__name__}.{module}'), name.upper())
            return item
    raise UnknownFrameError(name, NAMES, kind='gallery item')
