"""A body that sways: round in a circle, up and down, leaning and turning."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

from ik_node.gallery.gallery_item import Pose
from ik_node.model.rotation import quat_from_euler

RAMP = 1.0  # time to reach full size [s]


def ramp(time: float) -> float:
    """
    Return the share of its full size that a motion has at a time [s].

    It rises from 0 to 1 with no speed at either end, so that the first goal is where the robot
    stands.
    """
    share = min(max(time / RAMP, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


def ramped(time: float) -> float:
    """
    Return how far something has come [s] that would have gone on evenly but for the ramp.

    Its speed is `ramp`, so that it neither jumps nor jerks at the start and is even afterwards.
    """
    share = min(max(time / RAMP, 0.0), 1.0)
    return RAMP * share**3 * (1.0 - 0.5 * share) + max(time - RAMP, 0.0)


@dataclass(frozen=True)
class Sway:
    """
    The motion of a body that stands on legs.

    Attributes
    ----------
    period : float
        Of one round [s].
    radius : float
        Of the level circle [m].
    lift : float
        Up and down, twice a round [m].
    tilt : float
        Largest lean to a side [rad].
    turn : float
        Largest turn about the vertical [rad].
    turns : float
        How often a round it turns to and fro.

    """

    period: float
    radius: float
    lift: float
    tilt: float
    turn: float
    turns: float = 1.0

    def pose(self, time: float) -> Pose:
        """
        Return the pose relative to the start at a time [s].

        The circle opens from its centre, so that it begins where the body stands.
        """
        phase, size = 2.0 * pi * time / self.period, ramp(time)
        x, y, z, w = quat_from_euler(
            size * self.tilt * sin(phase),
            size * self.tilt * cos(phase),
            size * self.turn * sin(self.turns * phase),
        ).tolist()
        position = (
            size * self.radius * cos(phase),
            size * self.radius * sin(phase),
            size * self.lift * sin(2.0 * phase),
        )
        return position, (x, y, z, w)
