"""An arm from a Denavit-Hartenberg table that follows a target."""

from __future__ import annotations

from math import pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose
from ik_node.gallery.sway import ramp
from ik_node.model.rotation import quat_from_euler

PERIOD = 5.0  # of one cycle [s]
SIDE, LIFT, PUSH = 0.16, 0.1, 0.08  # amplitudes: sideways, up and down, forwards [m]
NOD = 0.4  # largest nod and lean [rad]
TURN = 0.6  # to either side about the vertical [rad]


def motion(time: float) -> dict[str, Pose]:
    """
    Return the tool's pose relative to its start at a time [s].

    The target mostly moves in the first half of a cycle and mostly turns in the second half. It
    starts at the tool.
    """
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    moves, turns = size * _share(phase), size * _share(phase + pi)
    position = (
        moves * PUSH * sin(4.0 * phase),
        moves * SIDE * sin(2.0 * phase),
        moves * LIFT * sin(3.0 * phase),
    )
    x, y, z, w = quat_from_euler(
        turns * NOD * sin(3.0 * phase), turns * NOD * sin(2.0 * phase), turns * TURN * sin(phase)
    ).tolist()
    return {'tool': (position, (x, y, z, w))}


def _share(phase: float) -> float:
    """Return the share of a motion, which is largest in the first half of a cycle."""
    return 0.5 + 0.5 * sin(phase)


ITEM = GalleryItem(
    name='dh_arm',
    description='dh_arm.urdf',
    goals={'tool': 'tool_link'},
    motion=motion,
    about='the Jacobian transpose: an arm from a Denavit-Hartenberg table follows a target',
    # The method converges slowly, so the thresholds are 0.1 mm and 1 mrad.
    options={
        'method': 'jacobian_transpose',
        'translation_converge_threshold': 1e-4,
        'rotation_converge_threshold': 1e-3,
    },
)
