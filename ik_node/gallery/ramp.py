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
