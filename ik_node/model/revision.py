"""Counters that tell a solver when what it has read from joints is out of date."""

from __future__ import annotations


class Revision:
    """
    Counts changes to any joint of the process; a solver compares, it never resets.

    Attributes
    ----------
    settings : int
        Changes of limits, locks, targets, rest poses and couplings.
    values : int
        Changes of joint values.

    """

    settings = 0
    values = 0
