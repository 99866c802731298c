"""A graph of frames as a solver has read it, and the values of its joints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from threading import RLock
from typing import Any, Protocol

from ik_node.errors import ShapeError
from ik_node.kernels.layout import JOINT_REST_ON, JOINT_TARGET_WEIGHT
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.redundancy import Redundancy
from ik_node.model.revision import Revision
from ik_node.model.tree import Tree
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import numbers, refuse_q
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.structure import share_revision, Structure
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# How often a graph is read that another thread changes meanwhile.
ATTEMPTS = 5

_WISHES = (JOINT_TARGET_WEIGHT, JOINT_REST_ON), slice(None)


class RobotLike(Protocol):
    """What a solver needs of a robot."""

    @property
    def roots(self) -> list[Frame]:
        """Return the roots of its graph."""

    @property
    def joint_order(self) -> list[Joint]:
        """Its joints in the description's order."""


class GraphReader:
    """
    What a `Solver` keeps of its graph, brought up to date when objects or options have changed.

    Parameters
    ----------
    source : Robot, Frame or iterable of Frame
        Any frame of a system is enough to find the whole of it.
    options : SolverOptions, optional

    Attributes
    ----------
    options : SolverOptions
        May be replaced at any time.

    """

    def __init__(
        self, source: RobotLike | Frame | Iterable[Frame], options: SolverOptions | None = None
    ) -> None:
        # An iterator would be empty when the graph is read a second time.
        self._source = list(source) if isinstance(source, Iterator) else source
        self._options = SolverOptions() if options is None else options
        self._begin()
        self._current()

    def _begin(self) -> None:
        """Have read nothing yet."""
        # Held by whoever reads the objects or works on the arrays made of them.
        self.lock = RLock()
        self._structure = Structure((), ())
        self._revision = Revision()
        self._graph_seen = self._edits_seen = -1
        self._packed: tuple[SolverOptions, Array] = (self._options, self._options.packed())

    def __getstate__(self) -> dict[str, Any]:
        return {'source': self._source, 'options': self._options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # The graph may be a copy that is not finished yet: it is read when it is needed.
        self._source, self._options = state['source'], state['options']
        self._begin()

    @property
    def options(self) -> SolverOptions:
        """Return the options of the next solve."""
        return self._options

    @options.setter
    def options(self, options: SolverOptions) -> None:
        self._options = options
        self._revision.count_options()

    # -- structure

    def update_structure(self) -> None:
        """
        Read the graph anew; arrays of chains that have not changed are kept.

        Every call does so where the graph has changed, so that only what is not noticed, such as
        a link's mass, needs this one. The answer of the last solve is forgotten: the next one
        starts from the joints alone.

        Raises
        ------
        TopologyError
            If the graph cannot be solved; so will every solve, until it can.

        """
        with self.lock:
            self._graph_seen = -1
            self._reread()
            self._revision.count_graph_edit()  # prepared solves have arrays of the graph before

    def _current(self) -> Structure:
        """Return the graph as it is now."""
        if self._revision.graph != self._graph_seen:
            with self.lock:
                self._reread()
        return self._structure

    def _reread(self) -> None:
        order: list[Joint] = []
        source = self._source
        if isinstance(source, Frame):
            frames = [source]
        elif isinstance(source, Iterable):
            frames = list(source)
        else:
            frames, order = source.roots, source.joint_order
        self._graph_seen = self._edits_seen = -1
        for attempt in range(ATTEMPTS):
            self._revision = share_revision(frames)
            # Counted first: what another thread changes while it is read is read the next time.
            seen = self._revision.graph
            try:
                self._take_graph(frames, order)
            except Exception:
                # In the middle of a change by another thread it need not make sense.
                if attempt + 1 == ATTEMPTS or self._revision.graph == seen:
                    raise
            else:
                self._graph_seen = seen
                return

    def _take_graph(self, frames: Sequence[Frame], order: Sequence[Joint]) -> None:
        """Read the graph; nothing has changed where that fails."""
        settings, asks = self._revision.settings, self._revision.asks
        self._structure = Structure(frames, order, self._structure)
        self._settings_seen, self._asks_seen = settings, asks
        self._edits_seen = -1
        self._values_seen = -1
        self._q = np.zeros(len(self._structure.tree.names))
        self._shape = self._q.shape

    @property
    def revision(self) -> Revision:
        """Return what counts the changes of the graph and of the options."""
        self._current()
        return self._revision

    @property
    def joint_names(self) -> list[str]:
        """Name of every value of q."""
        return list(self._current().tree.names)

    @property
    def tree(self) -> Tree:
        """Return the graph as elementary motions."""
        return self._current().tree

    @property
    def roots(self) -> list[Frame]:
        """Return the roots of all trees of the graph."""
        return self._current().roots

    @property
    def chains(self) -> list[tuple[str, ...]]:
        """Names of the values that every independent chain of `solve` moves."""
        with self.lock:
            problem = self._problem(self._refresh().wanted)
        return [tuple(name for _, name in chain.names.values) for chain in problem.chains]

    @property
    def non_chain_joints(self) -> list[str]:
        """Names of the values that no closure or goal moves."""
        moved = {name for chain in self.chains for name in chain}
        return [name for name in self.joint_names if name not in moved]

    @property
    def has_wishes(self) -> bool:
        """Whether a solve goes on when all goals are met, to targets of joints or a rest pose."""
        with self.lock:
            return bool(self._refresh().table.rows[_WISHES].any())

    @property
    def redundancies(self) -> tuple[Redundancy, ...]:
        """Return which closures have rows that are redundant up to rounding."""
        with self.lock:
            return self._refresh().redundancies(self._values(), self._options)

    def _problem(self, keys: tuple[str, ...]) -> Problem:
        read = self._structure
        if not read.examined:
            read.redundancies(self._values(), self._options)
        return read.problem(keys, self._options)

    def _refresh(self) -> Structure:
        """Return the graph with tables that are up to date with joints and options."""
        edits = self._revision.edits
        if edits == self._edits_seen:
            return self._structure
        read = self._current()
        # Counted first: what another thread changes while it is read is read the next time.
        settings, asks = self._revision.settings, self._revision.asks
        if settings != self._settings_seen:
            read.refresh_settings()
            self._settings_seen = settings
        asks_changed = asks != self._asks_seen
        if asks_changed:
            read.refresh_asked()
            self._asks_seen = asks
        if asks_changed or self._packed[0] is not self._options:
            self._packed = (self._options, self._options.packed())
            for problem in read.problems.values():
                problem.refresh(self._options)
        self._edits_seen = edits
        return read

    # -- values

    @property
    def q(self) -> Array:
        """All joint values [rad or m], read from the joints; a copy."""
        with self.lock:
            self._current()
            return self._values()

    @q.setter
    def q(self, values: ArrayLike) -> None:
        with self.lock:
            self._current()
            self._structure.write(self._checked(values))

    # Within a call the graph stays the one that was read: another thread may change it meanwhile.

    def _values(self) -> Array:
        values = self._revision.values
        if values != self._values_seen:
            for at, (joint, dof) in enumerate(self._structure.tree.owner):
                self._q[at] = joint.dof_values[dof]
            self._values_seen = values
        return self._q.copy()

    def follow_masters(self) -> list[str]:
        """
        Set the values of coupled joints from those of their masters, within limits.

        Returns
        -------
        list of str
            What the couplings do to limits.

        """
        with self.lock:
            read = self._refresh()
            read.write(read.table.settled(self._values()))
            return read.table.notes

    def limits(self) -> tuple[Array, Array]:
        """
        Return the limits of all values, shape (nq,) each [rad or m]; infinite = none.

        They are those of the joints; of a coupled joint that its curve takes beyond them by a
        rounding, those that it has instead.
        """
        with self.lock:
            read = self._refresh()
        owner = read.tree.owner
        lower = np.array([joint.min_dof_limit[dof] for joint, dof in owner])
        upper = np.array([joint.max_dof_limit[dof] for joint, dof in owner])
        for at, (low, high) in read.table.widened.items():
            lower[at], upper[at] = low, high
        return lower, upper

    def own_q(self, values: ArrayLike) -> Array:
        """
        Return q as a float array of its own, finite or not.

        Raises
        ------
        ShapeError
            If it has the wrong shape, or is no numbers.

        """
        with self.lock:
            self._current()
            return self._own(values)

    def _own(self, values: ArrayLike) -> Array:
        array = numbers('q', values, self._shape)
        if array.shape != self._shape:
            raise ShapeError('q', f'shape {self._shape}', f'shape {array.shape}')
        return array

    def checked_q(self, values: ArrayLike) -> Array:
        """
        Return q as a float array of its own.

        Raises
        ------
        ShapeError
            If it has the wrong shape, or a number is not finite or too large.

        """
        with self.lock:
            self._current()
            return self._checked(values)

    def _checked(self, values: ArrayLike) -> Array:
        array = self._own(values)
        refuse_q(self._structure.tree.names, array)
        return array
