"""How a motion begins without a jerk."""

from __future__ import annotations

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
