"""The arrays that a solver reads from its graph of frames, and the joint values in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, Protocol

from ik_node.errors import OptionError, ShapeError, TopologyError, UnknownFrameError
from ik_node.model.attributes import Revision
from ik_node.model.chains import goes_by_travels
from ik_node.model.constraint import Constraint, Goal
from ik_node.model.frame import find_roots, Frame
from ik_node.model.given import ARRAY, numbers
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.redundancy import Redundancy
from ik_node.model.request import pose_request, Request, requests_of
from ik_node.model.tree import build_tree, refuse_equal_names
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import refuse_q, Values
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Avoidance, Problem
from ik_node.solver.problem.redundancy import find_redundancy
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
    step, and the method is the compiled one; `last_q` (nq,): joint values after the last solve, or
    when the graph was read if that was later [rad or m].
    """

    def __init__(
        self, source: RobotLike | Frame | Iterable[Frame], options: SolverOptions
    ) -> None:
        # An iterator would be exhausted when the graph is read a second time.
        self.source: Any = list(source) if isinstance(source, Iterator) else source
        self.lock = RLock()
        self.structure = Structure((), ())
        self.plain = False
        self.last_q: Array = np.zeros(0)
        self._revision = Revision()
        self.options = options
        self._graph_seen = self._edits_seen = self._values_seen = -1
        self.packed: tuple[SolverOptions, Array] = (options, options.packed())

    @property
    def options(self) -> SolverOptions:
        """
        Return the options of the next solve.

        Examples
        --------
        >>> import ik_node as ik
        >>> solver = ik.Solver(ik.load_robot('arm6'))
        >>> solver.options = ik.SolverOptions(restarts=0)
        >>> solver.options.restarts
        0

        """
        return self._options

    @options.setter
    def options(self, options: SolverOptions) -> None:
        if not isinstance(options, SolverOptions):
            raise OptionError('options', options, 'SolverOptions(name=value, ...)')
        self._options = options
        self._revision.count_options()

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
            settings, constraints = self._revision.settings, self._revision.constraints
            try:
                self.structure = Structure(frames, order, self.structure)
                break
            except Exception:
                # The graph may be inconsistent while another thread is changing it.
                if attempt + 1 == ATTEMPTS or self._revision.graph == seen:
                    raise
        self._graph_seen, self._edits_seen, self._values_seen = seen, -1, -1
        self._settings_seen, self._constraints_seen = settings, constraints
        self._q = np.zeros(len(self.structure.tree.names))
        self._shape = self._q.shape
        self.last_q = self.values()

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
        thresholds = 'translation_converge_threshold', 'rotation_converge_threshold'
        if any(getattr(self.packed[0], n) != getattr(self._options, n) for n in thresholds):
            read.forget_redundancies()
        if constraints_changed or self.packed[0] is not self._options:
            self.packed = (self._options, self._options.packed())
            for problem in read.problems.values():
                problem.refresh(self._options)
        options, table = self._options, read.table
        more = table.balls_with_preferences or table.has_targets or table.followers
        limited = options.time_budget > 0.0 or options.limits_steps
        clamps = options.start_outside == 'clamp'
        self.plain = options.in_kernel and not (more or limited or clamps)
        self._edits_seen = edits
        return read

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

    def copied_q(self, values: Values) -> Array:
        """
        Return a copy of q as a float array; numbers that are not finite are allowed.

        By name, the other values are those of the joints.
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

    def start_q(self, values: Values | None) -> Array:
        """Return a copy of q as a float array of finite numbers; None = the joints' values."""
        if values is None:
            return self.values()
        array = self.copied_q(values)
        refuse_q(self.structure.tree.names, array)
        return array

    def checked_q(self, values: Values | None) -> Array:
        """Return `start_q` for the present graph; the caller need not hold the lock."""
        with self.lock:
            self.current()
            return self.start_q(values)


class Structure:
    """
    What a solver has read from a graph: trees, joints, links, closures, goals and their arrays.

    `frames`: one frame of a connected system is enough to find all of it. `order`: order of the
    joints in q; others follow in order of discovery. `before`: the structure before this one,
    whose unchanged chains are reused.

    Attributes: `roots`: roots of all trees of the graph; `tree`: the tree of elementary motions;
    `table`: limits, locks, preferences and couplings of all joints; `links`: links by name;
    `goals`: goals by name; `wanted`: names of the goals that take part in `Solver.solve`;
    `problems`: names of goals or links -> the problem made for them; `known`: names of the
    constraints of a chain -> the chain; `examined`: True if `redundancies` has searched for
    redundant closures. Raises TopologyError if two links, closures or goals have the same name, or
    as for `build_tree`. Raises OptionError as for `JointTable`.
    """

    def __init__(
        self, frames: Iterable[Frame], order: Sequence[Joint], before: Structure | None = None
    ) -> None:
        self.roots = find_roots(frames)
        self.tree = build_tree(self.roots, order)
        links = [each for each in self.tree.carrier if isinstance(each, Link)]
        refuse_equal_names('links', ((link.name, link) for link in links))
        self.links = {link.name: link for link in links}
        for frame in self.tree.carrier:
            if isinstance(frame, Constraint) and frame.enabled and not frame.is_closure:
                kind = type(frame).__name__.lower()
                raise TopologyError(
                    f'{kind} {frame.name!r} closes on no link: call its make_closure(link)'
                )
        refuse_equal_names('closures or goals', ((each.name, each) for each in self.tree.closers))
        requests = {request.name: request for request in requests_of(self.tree)}
        self.goals = {n: r for n, r in requests.items() if isinstance(r.source, Goal)}
        self._closures = [r for n, r in requests.items() if n not in self.goals]
        self._closed: list[Request] = []
        self._tolerances: list[tuple[float, float] | None] = []
        # Set by the method `redundancies`, for the closures that take part.
        self._redundancies: tuple[Redundancy, ...] = ()
        self.examined = False
        self.table = JointTable(self.tree)
        self.problems: dict[tuple[str, ...], Problem] = {}
        self.refresh_constraints()
        names = {*requests, *self.links}
        self.known: dict[tuple[str, ...], ChainProblem] = {
            chosen: chain
            for chosen, chain in ({} if before is None else before.known).items()
            if names.issuperset(chosen)
        }

    def write(self, q: Array) -> None:
        """Write joint values, shape (nq,) [rad or m], to the joints, clamped to their limits."""
        owner = self.tree.owner
        for value, (joint, dof) in zip(q.tolist(), owner, strict=True):
            if joint._dof_values[dof] != value and joint._dof_flags[dof]:
                joint.set_dof_value(dof, value)
        for index, (low, high) in self.table.widened.items():
            joint, dof = owner[index]
            joint._dof_values[dof] = min(max(q[index], low), high)

    def refresh_settings(self) -> None:
        """Read limits, locks, targets and rest poses of the joints again."""
        self.table.refresh()
        if self._goes_by_travels:
            self.problems.clear()  # limits set the characteristic length: compare chains again

    @cached_property
    def _goes_by_travels(self) -> bool:
        return goes_by_travels(self.tree)

    def refresh_constraints(self) -> None:
        """Find again which closures and goals take part."""
        self.wanted = tuple(name for name, request in self.goals.items() if request.takes_part)
        closed = [request for request in self._closures if request.takes_part]
        tolerances = [getattr(request.source, 'tolerance', None) for request in closed]
        if closed != self._closed or tolerances != self._tolerances:
            self._closed, self._tolerances = closed, tolerances
            self.forget_redundancies()

    def forget_redundancies(self) -> None:
        """Search again for redundant closures, after their tolerances have changed."""
        self.problems.clear()
        self._redundancies, self.examined = (), False

    def redundancies(self, q: Array, options: SolverOptions) -> tuple[Redundancy, ...]:
        """
        Return the chains of closures that are redundant up to rounding; they are searched once.

        `q` (nq,): configuration from which the loops can be closed [rad or m].
        """
        if not self.examined:
            self.examined = True
            closed = [request for request in self._closed if not request.traits.one_sided]
            if closed:
                loops = self.problem((), options)
                if closed != self._closed:
                    loops = Problem(self.tree, closed, None, options.characteristic_length)
                    loops.refresh(options)
                found = (find_redundancy(chain, self.table, q) for chain in loops.chains)
                self._redundancies = tuple(each for each in found if each is not None)
                if self._redundancies:
                    self.problems.clear()
        return self._redundancies

    def problem(self, keys: tuple[str, ...], options: SolverOptions) -> Problem:
        """Return the problem of all closures and the named goals, made once per set of names."""
        problem = self.problems.get(keys)
        if problem is None or problem.length != options.characteristic_length:
            chosen = list(self._closed)
            for key in keys:
                if key in self.goals:
                    chosen.append(self.goals[key])
                elif key in self.links:
                    chosen.append(pose_request(key, self.links[key]))
                else:
                    raise UnknownFrameError(key, [*self.goals, *self.links], 'goal or link')
            problem = Problem(
                self.tree, chosen, self.known, options.characteristic_length, self._redundancies
            )
            problem.refresh(options)
            self.problems[keys] = problem
        return problem


def share_revision(frames: Iterable[Frame]) -> Revision:
    """
    Give all frames of a graph one shared object of change counters, and return it.

    Joints of other graphs that are masters of a coupling share it too.
    """
    found: dict[Frame, None] = {}
    for root in find_roots(frames):
        root.traverse(lambda frame: found.update({frame: None}))
    waiting = list(found)
    for frame in waiting:  # the list grows during the loop
        couplings = frame.couplings.values() if isinstance(frame, Joint) else ()
        for term in (term for coupling in couplings for term in coupling.terms):
            if term.master not in found:
                found[term.master] = None
                waiting.append(term.master)
    revisions = {frame.revision for frame in waiting}
    if [each.frame_count for each in revisions] == [len(waiting)]:
        return revisions.pop()
    shared = Revision(revisions, len(waiting))
    for frame in waiting:
        frame.revision = shared
    for each in revisions:  # solvers that still use an old object read their graph again
        each.count_graph_edit()
    return shared
