"""The arrays that a solver reads from its graph of frames, and the joint values in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import RLock
from typing import Protocol

from ik_node.errors import OptionError, ShapeError
from ik_node.model.attributes import Revision
from ik_node.model.frame import Frame
from ik_node.model.given import ARRAY, numbers
from ik_node.model.joint import Joint
from ik_node.solver.options import checked_options, SolverOptions
from ik_node.solver.pose import refuse_q, Values
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Avoidance, Problem
from ik_node.solver.problem.structure import share_revision, Structure
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Most attempts to read a graph that another thread changes during the reading.
ATTEMPTS = 5


class RobotLike(Protocol):
    """The part of `Robot` that a solver uses."""

    @property
    def roots(self) -> list[Frame]:
        """Return the roots of the robot's graph."""

    @property
    def joint_order(self) -> list[Joint]:
        """Return the robot's joints in the order of the description."""


class GraphReader:
    """
    The arrays that a `Solver` has read from its graph, updated when objects or options change.

    The caller must hold `lock`, except for `current` and `revision`.

    `source`: one frame of a connected system is enough to find all of it.

    Attributes: `lock`: lock of every call that reads the objects or
    uses the arrays read from them; `structure`: the graph as it was read last; `packed`: the
    options, and the same options packed for the kernels; `plain`: True if the solve of a chain is
    a single call of the kernel: there are no joint targets, couplings, time budget or largest
    step, and the method is the compiled one; `reads`: number of times the graph has been read;
    `q_when_read` (nq,): joint values when the graph was read last [rad or m].
    """

    def __init__(
        self, source: RobotLike | Frame | Iterable[Frame], options: SolverOptions
    ) -> None:
        # An iterator would be exhausted when the graph is read a second time.
        self.source = list(source) if isinstance(source, Iterator) else source
        self._options = checked_options(options)
        self.lock = RLock()
        self.structure = Structure((), ())
        self.plain = False
        self.reads, self.q_when_read = 0, np.zeros(0)
        self._revision = Revision()
        self._graph_seen = self._edits_seen = self._values_seen = -1
        self.packed: tuple[SolverOptions, Array] = (options, options.packed())

    @property
    def options(self) -> SolverOptions:
        """Return the options of the next solve."""
        return self._options

    @options.setter
    def options(self, options: SolverOptions) -> None:
        self._options = checked_options(options)
        self._revision.count_options()

    def forget(self) -> None:
        """Read the graph again, and make prepared solves do so at their next call."""
        self._graph_seen = -1
        self._reread()
        self._revision.count_graph_edit()

    def current(self) -> Structure:
        """Return the present graph; it is read again if it has changed."""
        if self._revision.lent:
            self._revision.look()
        if self._revision.graph != self._graph_seen:
            with self.lock:
                self._reread()
        return self.structure

    def _reread(self) -> None:
        order: list[Joint] = []
        source = self.source
        if isinstance(source, Frame):
            frames = [source]
        elif isinstance(source, (str, bytes, Path)):
            raise OptionError('source', source, 'a Robot; load_robot(source) returns one')
        elif isinstance(source, Iterable):
            frames = list(source)
        else:
            try:
                frames, order = source.roots, source.joint_order
            except AttributeError:
                allowed = 'a Robot, a frame, or several frames'
                raise OptionError('source', source, allowed) from None
        self._graph_seen = self._edits_seen = -1
        for attempt in range(ATTEMPTS):
            self._revision = share_revision(frames)
            # The count is taken before the reading, so that changes by another thread during the
            # reading are read the next time.
            seen = self._revision.graph
            try:
                self._take_graph(frames, order)
            except Exception:
                # The graph may be inconsistent while another thread is changing it.
                if attempt + 1 == ATTEMPTS or self._revision.graph == seen:
                    raise
            else:
                self._graph_seen = seen
                return

    def _take_graph(self, frames: Sequence[Frame], order: Sequence[Joint]) -> None:
        """Read the graph; if that raises, this object is unchanged."""
        settings, constraints = self._revision.settings, self._revision.constraints
        self.structure = Structure(frames, order, self.structure)
        self._settings_seen, self._constraints_seen = settings, constraints
        self._edits_seen = -1
        self._values_seen = -1
        self._q = np.zeros(len(self.structure.tree.names))
        self._shape = self._q.shape
        self.reads, self.q_when_read = self.reads + 1, self.values()

    @property
    def revision(self) -> Revision:
        """Return the counters of changes to the graph and to the options."""
        self.current()
        return self._revision

    def problem(self, keys: tuple[str, ...]) -> Problem:
        """Return the problem of all closures and of the goals or links with these names."""
        read = self.structure
        if not read.examined:
            read.redundancies(self.values(), self._options)
        problem, options = read.problem(keys, self._options), self._options
        collisions = getattr(self.source, 'collisions', None)
        if collisions is None or not collisions.avoided(options.avoid_collisions):
            problem.avoidance = None
        elif problem.avoidance is None or not problem.avoidance.is_current:
            problem.avoidance = Avoidance(problem, collisions, options, read.table)
        return problem

    def refresh(self) -> Structure:
        """Return the graph, with its tables updated from joints and options."""
        if self._revision.lent:
            self._revision.look()
        edits = self._revision.edits
        if edits == self._edits_seen:
            return self.structure
        read = self.current()
        # As in `_reread`, the counts are taken before the reading.
        settings, constraints = self._revision.settings, self._revision.constraints
        if settings != self._settings_seen:
            read.refresh_settings()
            self._settings_seen = settings
        constraints_changed = constraints != self._constraints_seen
        if constraints_changed:
            read.refresh_constraints()
            self._constraints_seen = constraints
        if _thresholds(self.packed[0]) != _thresholds(self._options):
            read.forget_redundancies()
        if constraints_changed or self.packed[0] is not self._options:
            self.packed = (self._options, self._options.packed())
            for problem in read.problems.values():
                problem.refresh(self._options)
        self.plain = self._is_plain(read.table)
        self._edits_seen = edits
        return read

    def _is_plain(self, table: JointTable) -> bool:
        options = self._options
        more = table.balls_with_preferences or table.has_targets or table.followers
        limited = options.time_budget > 0.0 or options.limits_steps
        return options.in_kernel and not (more or limited or options.start_outside == 'clamp')

    # The methods below use the graph as it was read, even if another thread has changed it since.

    def values(self) -> Array:
        """Return a copy of the joint values, shape (nq,) [rad or m]."""
        if self._revision.lent:
            self._revision.look()
        values = self._revision.values
        if values != self._values_seen:
            for index, (joint, dof) in enumerate(self.structure.tree.owner):
                self._q[index] = joint._dof_values[dof]
            self._values_seen = values
        return self._q.copy()

    def copied(self, values: Values) -> Array:
        """
        Return a copy of q as a float array; numbers that are not finite are allowed.

        `values` (nq,): [rad or m]; by name, the other values are those of the joints. Raises
        ShapeError if it has the wrong shape, or its elements are not numbers. Raises
        UnknownFrameError if a joint does not exist.
        """
        if values.__class__ is not ARRAY and isinstance(values, Mapping):
            return self._named(values)
        array = numbers('q', values, self._shape)
        if array.shape != self._shape:
            raise ShapeError('q', f'shape {self._shape}', f'shape {array.shape}')
        return array

    def _named(self, values: Mapping[str, ArrayLike]) -> Array:
        table, array = self.structure.table, self.values()
        for name, value in values.items():
            places, what = table.places([name]), f'q of {name!r}'
            given = numbers(what, value)
            if given.ndim > 1 or given.size != len(places):
                raise ShapeError(what, f'{len(places)} numbers', f'shape {given.shape}')
            array[places] = given
        return array

    def checked(self, values: Values) -> Array:
        """
        Return a copy of q as a float array.

        Raises ShapeError, UnknownFrameError as in `copied`, and if a number is not finite or too
        large.
        """
        array = self.copied(values)
        refuse_q(self.structure.tree.names, array)
        return array


def _thresholds(options: SolverOptions) -> tuple[float, float]:
    """Return the tolerances of closures without their own [m], [rad]."""
    return options.translation_converge_threshold, options.rotation_converge_threshold
