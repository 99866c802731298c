"""Closures with redundant rows that agree only up to rounding, and the rounding of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from statistics import median

# Safety factor on the measured deviations: they were sampled at some configurations and may be
# larger at others.
MARGIN = 4.0


@dataclass(frozen=True)
class Redundancy:
    """
    The closures of one independent chain, some of whose rows are redundant up to rounding.

    See theory.md, section 10.
    """

    rank: int  # Number of independent rows
    # Largest measured deviation between a redundant row and the rows that imply it, [rad] or
    # characteristic lengths per unit of motion
    slack: float
    # Closure -> its largest residuals [m], [rad] at configurations where the loops are closed as
    # well as their rounded geometry allows
    misfit: Mapping[str, tuple[float, float]]
    # Closure -> the residuals [m], [rad] that the digits of the description explain; 0 for a
    # closure with a tolerance of its own, which is all that counts
    explained: Mapping[str, tuple[float, float]]

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
        (position, orientation), limit = self.misfit[name], self.explained[name]
        return min(MARGIN * position, limit[0]), min(MARGIN * orientation, limit[1])


# Fewest decimals of a rounded number. People write shorter ones, which are exact.
FEWEST_DECIMALS = 3


def rounding_error(numbers: Iterable[str], count: int, fewest: int = FEWEST_DECIMALS) -> float:
    """
    Return the root mean square of the rounding errors that the digits of numbers allow.

    The numbers, as written in a file or by `repr`, make up `count` positions or rotations, over
    which the mean is taken. Numbers with less than `fewest` decimals are exact.

    Notes
    -----
    The error of a number is half a unit of its last digit. A number with fewer digits than most is
    one whose zeros at the end are left out.

    """
    digits = []
    for text in numbers:
        try:
            _, all_digits, exponent = Decimal(text).as_tuple()
        except InvalidOperation:
            continue  # the reader of the format says what is wrong
        if isinstance(exponent, int) and exponent < 0:
            digits.append((-exponent, len(all_digits)))
    rounded = [each for each in digits if each[0] >= fewest and max(each) >= FEWEST_DECIMALS]
    if not rounded:
        return 0.0
    usual = [median(each) for each in zip(*rounded, strict=True)]
    square = sum(
        (0.5 * 10.0 ** -(decimals if significant >= usual[1] else max(decimals, usual[0]))) ** 2
        for decimals, significant in digits
        if decimals >= fewest or significant >= max(usual[1], FEWEST_DECIMALS)
    )
    return float((square / count) ** 0.5)
