"""Robots on legs, whose feet close loops with the ground."""

from __future__ import annotations

from math import cos, sin

from ik_node.gallery.gallery_item import cycle, GalleryItem, moving, PoseAt, sway

WALKER = GalleryItem(
    name='walker',
    motion=moving(body=sway(4.0, radius=0.03, lift=0.02, tilt=0.12, yaw=0.15, turns=0.5)),
    about='a body that sways on four feet; they are pinned to the ground',
)

SIX_LEGGED_ROVER = GalleryItem(
    name='six_legged_rover',
    motion=moving(body=sway(6.0, radius=0.25, lift=0.15, tilt=0.12, yaw=0.3)),
    about='36 hinges, six feet welded to the ground: the body follows a goal',
)


def hand(side: float) -> PoseAt:
    """Return the motion of one hand, left (1) or right (-1): a vertical circle before the body."""
    return cycle(
        4.0,
        lambda p: (0.0, side * 0.06 * sin(p), 0.06 * cos(p)),
        lambda p: (side * 0.5 * sin(p), 0.25 * cos(p), side * 0.25 * sin(p)),
    )


# Its hands move in opposite phase, independently of the body.
CLIMBER = GalleryItem(
    name='climber',
    motion=moving(
        body=sway(5.0, radius=0.11, lift=0.1, tilt=0.34, yaw=0.32),
        left_hand=hand(1.0),
        right_hand=hand(-1.0),
    ),
    about='two legs hold two rails, two arms work: a goal each for the body and both hands',
)

BIPED = GalleryItem(
    name='biped',
    motion=moving(pelvis=sway(4.0, radius=0.05, lift=0.03, tilt=0.1, yaw=0.25)),
    about='two legs of six hinges, soles flat on the ground: the pelvis follows a goal',
)

QUADRUPED_ARM = GalleryItem(
    name='quadruped_arm',
    motion=moving(
        body=sway(5.0, radius=0.06, lift=0.04, tilt=0.15, yaw=0.2),
        # On a vertical circle in front of the body.
        gripper=cycle(
            4.0,
            lambda p: (0.0, 0.12 * sin(p), 0.12 * cos(p)),
            lambda p: (0.5 * sin(p), 0.2 * cos(p), 0.2 * sin(p)),
        ),
    ),
    about='four legs stand, an arm reaches: body and gripper have a goal each, both at once',
)
