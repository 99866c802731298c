"""Counters that tell a solver when what it has read from objects is out of date."""

from __future__ import annotations


class Revision:
    """
    Counts changes to any frame of the process; a solver compares, it never resets.

    Threads may count at once (a robot is read while another one moves): `+= 1` on these counters
    is not interrupted, for CPython passes from one thread to another at calls and loops only.

    Attributes
    ----------
    settings : int
        Changes of limits, locks, targets, rest poses and couplings.
    values : int
        Changes of joint values.
    asks : int
        Changes of what goals and closures ask: weight, tolerance, priority, distance, and whether
        they take part. Where they are posed does not count: that changes with every solve.
    graph : int
        Changes of what hangs where: children, closures, axes, couplings, and poses of links and
        joints in their parents. Where a goal or closure is posed does not count, nor do values.

    """

    settings = 0
    values = 0
    asks = 0
    graph = 0
