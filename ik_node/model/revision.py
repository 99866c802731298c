"""The change counters by which a solver notices that it must read its objects again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol


class Watched(Protocol):
    """An array that somebody may be writing to."""

    def look(self) -> None:
        """Count a change if its numbers have changed."""


class Revision:
    """
    Counters of the changes to the frames of a graph; solvers compare them and never reset them.

    A new frame has its own counters. When a solver reads a graph, all frames of the graph get one
    shared object (`ik_node.solver.problem.structure.share_revision`), so that one comparison
    shows whether any of them has changed. A frame that leaves the graph goes on using the shared
    object until another graph with this frame is read.

    A change is counted after it has been made, and a solver takes the count before it reads.
    Therefore it reads again whatever another thread changes while it is reading.

    Several threads may count at once, because CPython does not switch threads within the `+= 1`
    of these counters; it switches at calls and loops only.

    Parameters
    ----------
    before : iterable of Revision
        The objects that this one replaces; each counter starts above all of theirs.
    frame_count : int
        Number of frames that share this object.

    Attributes
    ----------
    frame_count : int
        As given. A graph with another number of frames has lost some that still count here.
    edits : int
        Changes of settings, constraints, graph and a solver's options together.
    settings : int
        Changes of limits, locks, targets, rest poses and couplings.
    values : int
        Changes of joint values.
    constraints : int
        Changes of closures and goals: weight, tolerance, priority, distance, enabled or not, and
        the poses of closures. The pose of a goal does not count, because every solve reads it.
    graph : int
        Changes of the graph: children, closures, axes, couplings, offsets, and the poses of links
        and joints in their parents.
    lent : dict of int to Watched
        Arrays of the frames to which somebody has a reference; call `look` before you compare
        counters while there is one.

    """

    __slots__ = ('constraints', 'edits', 'frame_count', 'graph', 'lent', 'settings', 'values')

    constraints: int
    edits: int
    graph: int
    settings: int
    values: int

    def __init__(self, before: Iterable[Revision] = (), frame_count: int = 1) -> None:
        self.frame_count = frame_count
        counted = list(before)
        self.lent: dict[int, Watched] = {}
        for each in counted:
            self.lent.update(each.lent)
        for name in ('constraints', 'edits', 'graph', 'settings', 'values'):
            setattr(self, name, 1 + max((getattr(each, name) for each in counted), default=-1))

    def __reduce__(self) -> tuple[Any, ...]:
        # Nobody has a reference to an array of a copy, and solvers of a copy read it anew.
        return Revision, ((), self.frame_count)

    def look(self) -> int:
        """Count what has been written to arrays of the frames; return `edits`."""
        for each in list(self.lent.values()):
            each.look()
        return self.edits

    def count_options(self) -> None:
        """Count a change of a solver's options."""
        self.edits += 1

    def count_setting(self) -> None:
        """Count a change of limits, locks, targets, rest poses or couplings."""
        self.settings += 1
        self.edits += 1

    def count_constraint(self) -> None:
        """Count a change of a closure or goal."""
        self.constraints += 1
        self.edits += 1

    def count_graph_edit(self) -> None:
        """Count a change of the graph."""
        self.graph += 1
        self.edits += 1
