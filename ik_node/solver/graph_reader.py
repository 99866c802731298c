"""A graph of frames as a solver has read it, and the values of its joints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from ik_node.errors import ShapeError, TopologyError
from ik_node.kernels.layout import JOINT_REST_ON, JOINT_TARGET_WEIGHT
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.model.redundancy import Redundancy
from ik_node.model.revision import Revision
from ik_node.model.tree import Tree
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import refuse_q
from ik_node.solver.problem import Problem
from ik_node.solver.structure import Structure
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

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
    joint_names : list of str
        Name of every value of q.
    readings : int
        How often the graph has been read.

    """

    def __init__(
        self, source: RobotLike | Frame | Iterable[Frame], options: SolverOptions | None = None
    ) -> None:
        # An iterator would be empty when the graph is read a second time.
        self._source = list(source) if isinstance(source, Iterator) else source
        self.options = SolverOptions() if options is None else options
        self._structure = Structure((), ())
        self.readings = 0
        self.update_structure()

    # -- structure

    def update_structure(self) -> None:
        """
        Read the graph anew; arrays of chains that have not changed are kept.

        Raises
        ------
        TopologyError
            If the graph cannot be solved; the structure read before stays.

        """
        order: list[Joint] = []
        source = self._source
        if isinstance(source, Frame):
            frames = [source]
        elif isinstance(source, Iterable):
            frames = list(source)
        else:
            frames, order = source.roots, source.joint_order
        self._structure = Structure(frames, order, self._structure)
        self.readings += 1
        self.joint_names: list[str] = list(self.tree.names)
        self._settings_seen, self._asks_seen = Revision.settings, Revision.asks
        self._values_seen = -1
        self._q = np.zeros(len(self.joint_names))
        self._packed: tuple[SolverOptions, Array] = (self.options, self.options.packed())

    @property
    def tree(self) -> Tree:
        """Return the graph as elementary motions, as it was read."""
        return self._structure.tree

    @property
    def roots(self) -> list[Frame]:
        """Return the roots of all trees of the graph."""
        return self._structure.roots

    @property
    def chains(self) -> list[tuple[str, ...]]:
        """Names of the values that every independent chain of `solve` moves."""
        problem = self._problem(self._structure.wanted)
        return [tuple(name for _, name in chain.names.values) for chain in problem.chains]

    @property
    def non_chain_joints(self) -> list[str]:
        """Names of the values that no closure or goal moves."""
        moved = {name for chain in self.chains for name in chain}
        return [name for name in self.joint_names if name not in moved]

    @property
    def has_wishes(self) -> bool:
        """Whether a solve goes on when all goals are met, to targets of joints or a rest pose."""
        self._refresh()
        return bool(self._structure.table.rows[_WISHES].any())

    @property
    def redundancies(self) -> tuple[Redundancy, ...]:
        """Return which closures have rows that are redundant up to rounding."""
        self._refresh()
        return self._structure.redundancies(self.q, self.options)

    def _problem(self, keys: tuple[str, ...]) -> Problem:
        read = self._structure
        if not read.examined:
            read.redundancies(self.q, self.options)
        return read.problem(keys, self.options)

    def _refresh(self) -> None:
        """Bring tables up to date with joints and options, if anything changed."""
        read = self._structure
        # Counted first: what another thread changes while it is read is read the next time.
        settings, asks = Revision.settings, Revision.asks
        if settings != self._settings_seen:
            read.table.refresh()
            self._settings_seen = settings
        asks_changed = asks != self._asks_seen
        if asks_changed:
            read.refresh_asked()
            self._asks_seen = asks
        if asks_changed or self._packed[0] is not self.options:
            self._packed = (self.options, self.options.packed())
            for problem in read.problems.values():
                problem.refresh(self.options)

    # -- values

    @property
    def q(self) -> Array:
        """All joint values [rad or m], read from the joints; a copy."""
        values = Revision.values
        if values != self._values_seen:
            for at, (joint, dof) in enumerate(self.tree.owner):
                self._q[at] = joint.dof_values[dof]
            self._values_seen = values
        return self._q.copy()

    @q.setter
    def q(self, values: ArrayLike) -> None:
        array = self.checked_q(values)
        if not all(joint.dof_flags[dof] for joint, dof in self.tree.owner):
            changed = {j.name for j, dof in self.tree.owner if not j.dof_flags[dof]}
            raise TopologyError(
                f'the axes of {", ".join(sorted(changed))} have changed: call update_structure()'
            )
        for value, (joint, dof) in zip(array.tolist(), self.tree.owner, strict=True):
            if joint.dof_values[dof] != value:
                joint.set_dof_value(dof, value)
        for at, (low, high) in self._structure.table.widened.items():
            joint, dof = self.tree.owner[at]
            joint.dof_values[dof] = min(max(array[at], low), high)

    def follow_masters(self) -> list[str]:
        """
        Set the values of coupled joints from those of their masters, within limits.

        Returns
        -------
        list of str
            What the couplings do to limits.

        """
        table = self._structure.table
        self.q = table.settled(self.q)
        return table.notes

    def limits(self) -> tuple[Array, Array]:
        """
        Return the limits of all values, shape (nq,) each [rad or m]; infinite = none.

        They are those of the joints; of a coupled joint that its curve takes beyond them by a
        rounding, those that it has instead.
        """
        self._refresh()
        owner = self.tree.owner
        lower = np.array([joint.min_dof_limit[dof] for joint, dof in owner])
        upper = np.array([joint.max_dof_limit[dof] for joint, dof in owner])
        for at, (low, high) in self._structure.table.widened.items():
            lower[at], upper[at] = low, high
        return lower, upper

    def own_q(self, values: ArrayLike) -> Array:
        """
        Return q as a float array of its own, finite or not.

        Raises
        ------
        ShapeError
            If it has the wrong shape.

        """
        if isinstance(values, np.ndarray) and values.dtype == np.float64:
            array = values.copy()
        else:
            array = np.array(values, dtype=np.float64)
        if array.shape != self._q.shape:
            raise ShapeError('q', f'shape {self._q.shape}', f'shape {array.shape}')
        return array

    def checked_q(self, values: ArrayLike) -> Array:
        """
        Return q as a float array of its own.

        Raises
        ------
        ShapeError
            If it has the wrong shape, or a number is not finite or too large.

        """
        array = self.own_q(values)
        refuse_q(self.joint_names, array)
        return array
