"""Motion of a swaying body: on a circle, up and down, leaning and turning."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

from ik_node.gallery.gallery_item import Pose
from ik_node.model.rotation import quat_from_euler

RAMP = 1.0  # time until full amplitude [s]


def ramp(time: float) -> float:
    """
    Return the amplitude of a motion at a time [s], as a share of its full amplitude.

    It rises from 0 to 1 with zero speed at both ends, so that the first goal is the robot's start.
    """
    share = min(max(time / RAMP, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


def ramped(time: float) -> float:
    """
    Return the integral of `ramp` from 0 to a time [s].

    A motion with this phase starts smoothly and is uniform after the ramp.
    """
    share = min(max(time / RAMP, 0.0), 1.0)
    return RAMP * share**3 * (1.0 - 0.5 * share) + max(time - RAMP, 0.0)


@dataclass(frozen=True)
class Sway:
    """
    The motion of a body on legs.

    Attributes
    ----------
    period : float
        Period of one circle [s].
    radius : float
        Radius of the horizontal circle [m].
    lift : float
        Amplitude up and down, twice per circle [m].
    tilt : float
        Largest lean to a side [rad].
    turn : float
        Largest turn about the vertical [rad].
    turns : float
        Number of turns back and forth per circle.

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

        The circle grows from its centre, so that the motion begins at the body's start.
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
