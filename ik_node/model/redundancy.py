"""Closures whose rows imply each other, and agree only up to the rounding of a description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# What was found at some configurations is less than there is at others.
MARGIN = 4.0


@dataclass(frozen=True)
class Redundancy:
    """
    The closures of one independent chain, some of whose rows are redundant up to rounding.

    Attributes
    ----------
    rank : int
        How many of their rows are independent of each other.
    slack : float
        By how much a row that others imply differed from them at most, [rad] or characteristic
        lengths per unit of motion.
    misfit : dict of str to (float, float)
        By how much every closure was open at most, [m] and [rad], where the loops were closed as
        well as they can be.

    """

    rank: int
    slack: float
    misfit: Mapping[str, tuple[float, float]]

    @property
    def closures(self) -> tuple[str, ...]:
        """Names of all closures of the chain."""
        return tuple(self.misfit)

    @property
    def largest(self) -> float:
        """Return the largest misfit [m] or [rad]."""
        return max(max(pair) for pair in self.misfit.values())

    def allowance(self, name: str) -> tuple[float, float]:
        """Return up to what a closure may be open beside its tolerance, [m] and [rad]."""
        position, orientation = self.misfit[name]
        return MARGIN * position, MARGIN * orientation
