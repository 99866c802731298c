"""Counters that tell a solver when what it has read from objects is out of date."""

from __future__ import annotations


class Revision:
    """
    Counts changes to any frame of the process; a solver compares, it never resets.

    A change is counted after it has been made, and a solver looks at the count before it reads:
    what another thread changes while it reads, it reads again the next time.

    Threads may count at once (a robot is read while another one moves): `+= 1` on these counters
    is not interrupted, for CPython passes from one thread to another at calls and loops only.

    Attributes
    ----------
    edits : int
        Changes of settings, asks, graph and a solver's options together.
    settings : int
        Changes of limits, locks, targets, rest poses and couplings.
    values : int
        Changes of joint values.
    asks : int
        Changes of what goals and closures ask: weight, tolerance, priority, distance, whether
        they take part, and the poses of closures. Where a goal is posed does not count: every
        solve reads it.
    graph : int
        Changes of what hangs where: children, closures, axes, couplings, offsets, and poses of
        links and joints in their parents. Which graph it was, `Frame.graph_edits` tells.

    """

    edits = 0
    settings = 0
    values = 0
    asks = 0
    graph = 0

    @classmethod
    def count_options(cls) -> None:
        """Count a change of a solver's options."""
        cls.edits += 1

    @classmethod
    def count_setting(cls) -> None:
        """Count a change of settings."""
        cls.settings += 1
        cls.edits += 1

    @classmethod
    def count_ask(cls) -> None:
        """Count a change of what is asked."""
        cls.asks += 1
        cls.edits += 1

    @classmethod
    def count_graph_edit(cls) -> None:
        """Count a change of a graph."""
        cls.graph += 1
        cls.edits += 1
