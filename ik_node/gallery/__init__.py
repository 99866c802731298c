"""The gallery: robots of this package with their goals and motions, free of ROS."""

from __future__ import annotations

import importlib

from ik_node.errors import UnknownFrameError
from ik_node.gallery.gallery_item import GalleryItem

NAMES: tuple[str, ...] = (
    'hexapod',
    'delta',
    'fivebar',
    'gripper',
    'walker',
    'palletizer',
    'scissor_lift',
    'strandbeest',
    'peaucellier',
    'two_arms_one_box',
    'knee_leg',
    'ankle',
    'excavator',
    'rocker_bogie',
    'hexapod_gyrate',
    'hexapod_rotate',
    'hexapod_tilt',
    'partial_goal_arm',
    'arm6',
    'rover_arm',
    'dh_arm',
    'ccd_arm',
    'gradient_arm',
    'chain100',
    'six_legged_rover',
    'climber',
    'biped',
    'humanoid',
    'quadruped_arm',
)


def gallery_item(name: str) -> GalleryItem:
    """
    Return a robot of the gallery with its goals and its motion.

    Raises
    ------
    UnknownFrameError
        If there is no robot with that name.

    """
    if name not in NAMES:
        raise UnknownFrameError(name, NAMES, kind='gallery item')
    item = importlib.import_module(f'ik_node.gallery.{name}').ITEM
    if not isinstance(item, GalleryItem):
        raise TypeError(f'ik_node.gallery.{name}.ITEM is a {type(item).__name__}')
    return item
