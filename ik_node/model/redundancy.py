"""The record of closures with redundant rows that agree only up to rounding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Safety factor on the measured deviations: they were sampled at some configurations and may be
# larger at others.
MARGIN = 4.0


@dataclass(frozen=True)
class Redundancy:
    """
    The closures of one independent chain, some of whose rows are redundant up to rounding.

    See theory.md, section 10.

    Attributes
    ----------
    rank : int
        Number of independent rows.
    slack : float
        Largest measured deviation between a redundant row and the rows that imply it, [rad] or
        characteristic lengths per unit of motion.
    misfit : dict of str to (float, float)
        Closure -> its largest residuals [m], [rad] at configurations where the loops are closed
        as well as their rounded geometry allows.

    """

    rank: int
    slack: float
    misfit: Mapping[str, tuple[float, float]]

    @property
    def closures(self) -> tuple[str, ...]:
        """Return the names of all closures of the chain."""
        return tuple(self.misfit)

    @property
    def largest(self) -> float:
        """Return the largest number in `misfit` [m or rad]."""
        return max(max(pair) for pair in self.misfit.values())

    def allowance(self, name: str) -> tuple[float, float]:
        """Return the residuals [m], [rad] that a closure may have in addition to its tolerance."""
        position, orientation = self.misfit[name]
        return MARGIN * position, MARGIN * orientation
