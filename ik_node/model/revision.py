"""Counters that tell a solver when what it has read from objects is out of date."""

from __future__ import annotations

from collections.abc import Iterable


class Revision:
    """
    Counts changes to the frames of a graph; a solver compares, it never resets.

    Every frame has one of its own at first. Whoever reads a graph has all its frames share one
    (`ik_node.solver.structure.share_revision`), so that one comparison tells whether any of them
    has changed. A frame that leaves the graph goes on counting there until it is read elsewhere.

    A change is counted after it has been made, and a solver looks at the count before it reads:
    what another thread changes while it reads, it reads again the next time.

    Threads may count at once (a robot is read while another one moves): `+= 1` on these counters
    is not interrupted, for CPython passes from one thread to another at calls and loops only.

    Parameters
    ----------
    before : iterable of Revision
        Those that it replaces; it has counted more than any of them.

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
        links and joints in their parents.

    """

    __slots__ = ('asks', 'edits', 'graph', 'settings', 'values')

    asks: int
    edits: int
    graph: int
    settings: int
    values: int

    def __init__(self, before: Iterable[Revision] = ()) -> None:
        counted = list(before)
        for name in self.__slots__:
            setattr(self, name, 1 + max((getattr(each, name) for each in counted), default=-1))

    def count_options(self) -> None:
        """Count a change of a solver's options."""
        self.edits += 1

    def count_setting(self) -> None:
        """Count a change of settings."""
        self.settings += 1
        self.edits += 1

    def count_ask(self) -> None:
        """Count a change of what is asked."""
        self.asks += 1
        self.edits += 1

    def count_graph_edit(self) -> None:
        """Count a change of a graph."""
        self.graph += 1
        self.edits += 1
