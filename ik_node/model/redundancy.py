"""Closures with redundant rows that agree only up to rounding, and the rounding of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from statistics import median


@dataclass(frozen=True)
class Redundancy:
    """
    The closures of one independent chain, some of whose rows are redundant up to rounding.

    See theory.md, section 10.
    """

    rank: int  # Number of independent rows
    # Largest deviation between a redundant row and the rows that imply it, [rad] or characteristic
    # lengths per unit of motion: a singular value up to this counts as zero
    slack: float
    # Closure -> its largest residuals [m], [rad] at configurations where the loops are closed as
    # well as their rounded geometry allows
    misfit: Mapping[str, tuple[float, float]]
    # Closure -> the residuals [m], [rad] that it may have in addition to its tolerance; 0 for a
    # closure with a tolerance of its own, which is all that counts
    allowance: Mapping[str, tuple[float, float]]


# Fewest decimals of a rounded number. People write shorter ones, which are exact.
FEWEST_DECIMALS = 3


def digits_of(text: str) -> tuple[int, int]:
    """Return how many decimals and digits a number has, as written; (0, 0) without decimals."""
    try:
        _, digits, exponent = Decimal(text).as_tuple()
    except InvalidOperation:
        return 0, 0  # The reader of the format says what is wrong.
    rounded = isinstance(exponent, int) and exponent < 0 and '_' not in text
    return (-int(exponent), len(digits)) if rounded else (0, 0)


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
    digits = [each for each in map(digits_of, numbers) if each[0]]
    rounded = [each for each in digits if each[0] >= fewest and max(each) >= FEWEST_DECIMALS]
    if not rounded:
        return 0.0
    usual, size = (median(each) for each in zip(*rounded, strict=True))
    square = sum(
        (0.5 * 10.0 ** -(decimals if significant >= size else max(decimals, usual))) ** 2
        for decimals, significant in digits
        if decimals >= fewest or significant >= max(size, FEWEST_DECIMALS)
    )
    return float((square / count) ** 0.5)
