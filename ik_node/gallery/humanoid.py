"""A humanoid with loops at knees and ankles that bends, turns and reaches like a taller person."""

from __future__ import annotations

from math import cos, pi, sin

from ik_node.gallery.gallery_item import GalleryItem, Pose, ramp
from ik_node.model.rotation import matrix_to_quat, quat_from_euler, quat_to_matrix
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PERIOD = 5.0  # of one cycle [s]
SQUAT = 0.11  # down, at most [m]
ASIDE = 0.04  # to either side [m]
STEP = 0.05  # largest height of a foot [m]
# The person's limbs are longer than the robot's by this factor, so that the goals conflict.
LONGER = 1.15

# From humanoid.urdf, at zero [m]: waist from the pelvis and head from the waist; of the left side,
# shoulder from the waist, elbow from the shoulder, wrist from the elbow, knee from the pelvis, toe
# from the ankle.
WAIST, HEAD = (0.0, 0.0, 0.12), (0.02, 0.0, 0.48)
SHOULDER, ELBOW, WRIST = (0.0, 0.19, 0.27), (0.0, 0.03, -0.23), (0.14, 0.0, -0.15)
KNEE, TOE = (0.06, 0.085, -0.39), (0.14, 0.0, -0.05)

# The goals' links. The goals of `WHOLE` constrain the orientation, too.
SIDES = ('left', 'right')
PARTS = {
    'shoulder': 'shoulder_link',
    'elbow': 'elbow_link',
    'wrist': 'hand_link',
    'knee': 'shank_link',
    'foot': 'foot_link',
    'toe': 'toe_link',
}
GOALS = {'pelvis': 'pelvis_link', 'head': 'head_link'} | {
    f'{side}_{part}': f'{side}_{link}' for part, link in PARTS.items() for side in SIDES
}
WHOLE = ('pelvis', 'head', 'left_wrist', 'right_wrist', 'left_foot', 'right_foot')
STRONG = ('pelvis', 'left_foot', 'right_foot')
WEIGHTS = {goal: 3.0 if goal in STRONG else 1.0 for goal in GOALS} | {
    f'{side}_{part}': 0.5 for side in SIDES for part in ('shoulder', 'elbow', 'knee', 'toe')
}


def motion(time: float) -> dict[str, Pose]:
    """Return the poses of the fourteen key points relative to their starts at a time [s]."""
    phase, size = 2.0 * pi * time / PERIOD, ramp(time)
    pelvis = _turn(0.0, size * 0.1 * sin(phase), size * 0.22 * sin(phase))
    chest = pelvis @ _turn(
        size * 0.12 * sin(phase), size * (0.18 - 0.18 * cos(phase)), size * 0.35 * sin(phase)
    )
    gaze = chest @ _turn(0.0, size * 0.25 * sin(2.0 * phase), size * 0.4 * sin(phase))
    sunk = size * np.array((0.0, ASIDE * sin(phase), -SQUAT * (0.5 - 0.5 * cos(phase))))
    waist = sunk + _moved(pelvis, WAIST)
    poses = {'pelvis': (sunk, pelvis), 'head': (waist + _moved(chest, HEAD), gaze)}
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        aside = np.array((1.0, sign, 1.0))
        reach = size * (0.5 - 0.5 * cos(phase + 0.4 * sign))
        upper = chest @ _turn(0.35 * sign * reach, -1.1 * reach, 0.45 * sign * reach)
        fore = upper @ _turn(0.25 * sign * reach, -0.5 * reach, 0.4 * sign * reach)
        hand = fore @ _turn(0.0, size * 0.4 * sin(2.0 * phase), size * 0.3 * sin(phase))
        shoulder = waist + _moved(chest, aside * SHOULDER)
        elbow = shoulder + LONGER * _moved(upper, aside * ELBOW)
        wrist = elbow + LONGER * _moved(fore, aside * WRIST)
        # One foot after the other rises and turns.
        lifted = size * max(0.0, -sign * sin(phase)) ** 2
        foot = _turn(0.15 * sign * lifted, 0.2 * lifted, 0.2 * sign * lifted)
        ankle = np.array((0.0, 0.0, STEP * lifted))
        knee = 0.5 * (sunk + _moved(pelvis, aside * KNEE) + ankle)
        knee[0] -= 0.8 * sunk[2]
        places = (shoulder, elbow, wrist, knee, ankle, ankle + _moved(foot, TOE))
        turns = (chest, upper, hand, pelvis, foot, foot)
        for part, place, rotation in zip(PARTS, places, turns, strict=True):
            poses[f'{side}_{part}'] = place, rotation
    return {goal: (poses[goal][0], matrix_to_quat(poses[goal][1])) for goal in GOALS}


def _turn(x: float, y: float, z: float) -> Array:
    """Return the matrix of Rz(z) Ry(y) Rx(x), angles [rad]."""
    return quat_to_matrix(quat_from_euler(x, y, z))


def _moved(rotation: Array, arm: tuple[float, float, float] | Array) -> Array:
    """Return how far a rotation moves the end of an arm [m]."""
    moved: Array = (rotation - np.eye(3)) @ np.asarray(arm)
    return moved


HUMANOID = GalleryItem(
    name='humanoid',
    goals=GOALS,
    motion=motion,
    dof={goal: 'X Y Z' for goal in GOALS if goal not in WHOLE},
    weights=WEIGHTS,
    options={'compromise': True},
    about='31 motors, loops at knees and ankles, fourteen goals that conflict',
    reachable=False,
)
