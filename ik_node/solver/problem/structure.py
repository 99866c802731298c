"""The tree, closures, goals and problems that a solver has read from a graph of frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from ik_node.errors import TopologyError, UnknownFrameError
from ik_node.model.attributes import Revision
from ik_node.model.chains import goes_by_travels
from ik_node.model.constraint import Constraint, Goal
from ik_node.model.frame import find_roots, Frame
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.redundancy import Redundancy
from ik_node.model.request import pose_request, Request, requests_of
from ik_node.model.tree import build_tree, refuse_equal_names, same_motions
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.redundancy import find_redundancies
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
        if before is not None and same_motions(self.tree, before.tree):
            self.tree.columns = before.tree.columns
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
        for at, (low, high) in self.table.widened.items():
            joint, dof = owner[at]
            joint._dof_values[dof] = min(max(q[at], low), high)

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
                self._redundancies = find_redundancies(loops, self.table, q)
                if self._redundancies:
                    self.problems.clear()
        return self._redundancies

    def problem(self, keys: tuple[str, ...], options: SolverOptions) -> Problem:
        """
        Return the problem of all closures and the named goals; it is made once per set of names.

        Raises UnknownFrameError if a key is neither a goal nor a link.
        """
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
