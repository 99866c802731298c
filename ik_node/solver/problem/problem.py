"""The arrays of a fixed set of closures and goals, which are used for many solves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import Any

from ik_node.kernels import layout
from ik_node.kernels import solve_state as now
from ik_node.kernels.out_of_reach import PROOFS
from ik_node.model.chains import find_chains, support_of, with_ancestors
from ik_node.model.collisions import Collisions, Distance
from ik_node.model.collisions import CONTACT as TOO_NEAR
from ik_node.model.constraint import Constraint, Goal, norms_of
from ik_node.model.dof import DOF
from ik_node.model.flatten import FlatBodies, NO_BODIES, write_body_frames
from ik_node.model.joint import Joint
from ik_node.model.redundancy import Redundancy
from ik_node.model.request import avoid_requests, CONE, CONTACT, COUPLED, Request
from ik_node.model.tree import Tree
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import unit_pose
from ik_node.solver.problem.chain_problem import ChainProblem, make_chain_problem, TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.result import SolveResult
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Steps of one call of the kernel if there is a time budget or a stop flag [steps]: between two
# calls Python checks the clock and the flag.
SLICE = 10
# Tolerance of rows that do not count, because their factor is 0 [m or rad].
ANY = 1e9
# Tolerances of constraints that no user makes, by their kinds.
TOLERANCES = {'coupling': COUPLED, 'avoid': CONTACT, 'cone': CONE}
# Most constraints of six pairs each in one step.
MOST_ROWS = 4
# Of a free way a shortened step goes this share. Its windows are at least these, one after the
# other, so that it can slide along a body [rad or L]; the last one is none.
SHORTER, SLIDES = 0.9, (0.03, 0.01, 0.003, 0.0)


class Problem:
    """
    A set of closures and goals, split into chains and flattened.

    `known`: names of the constraints of a chain -> the chain made before. Chains that are equal
    are reused, and new ones are added. `length`: the characteristic length [m]; 0 = computed for
    each chain. `together`: columns whose values are free beside those that affect a closure or
    goal: all of them are then one chain. None = only the latter, in independent chains.

    Attributes: `chains`: the independent chains; `single`: the chain if there is only one;
    `place_of_goal`: name of a goal -> its chain and its index among the chain's constraints;
    `moved`: indices in q of the values that affect a closure or goal, ascending; `avoidance`: what
    keeps bodies apart, None = nothing does; `near`: the nearest pair of bodies at the last answer.
    """

    def __init__(
        self,
        tree: Tree,
        requests: Sequence[Request],
        known: dict[tuple[str, ...], ChainProblem] | None = None,
        length: float = 0.0,
        redundancies: Sequence[Redundancy] = (),
        together: Sequence[int] | None = None,
        bodies: FlatBodies = NO_BODIES,
    ) -> None:
        known = {} if known is None else known
        self.tree = tree
        self.requests = tuple(requests)
        self.length = length
        self.avoidance: Avoidance | None = None
        self.near: Distance | None = None
        # Values of a chain's last solve that goes on -> damping and random number it ended with.
        self._left: dict[int, tuple[bytes, float, int]] = {}
        supports = [support_of(tree, request) for request in requests]
        self.chains: list[ChainProblem] = []
        # Goals only, because a closure may have the same name as the link of a goal.
        self.place_of_goal: dict[str, tuple[ChainProblem, int]] = {}
        self._pose_of_goal: dict[str, tuple[ChainProblem, int, Array]] = {}
        self._rows: list[tuple[Request, ChainProblem, int]] = []
        for chain in find_chains(tree, requests, supports, together):
            names = tuple(requests[index].name for index in chain.requests)
            made = make_chain_problem(
                tree, requests, supports, chain, known.get(names), length, redundancies, bodies
            )
            known[names] = made
            self.chains.append(made)
            for index, request in enumerate(requests[place] for place in chain.requests):
                self._rows.append((request, made, index))
                if request.is_goal:
                    self.place_of_goal[request.name] = (made, index)
                    row = made.table[index, layout.CON_POSE : layout.CON_POSE + 7]
                    self._pose_of_goal[request.name] = (made, index, row)
        self.single = self.chains[0] if len(self.chains) == 1 else None
        self.moved = np.unique(
            np.concatenate([np.zeros(0, np.int64), *(c.flat.var_q for c in self.chains)])
        )

    def set_goal(self, name: str, pose: Any) -> None:
        """Set the pose of a goal, in a form of `unit_pose`, which raises a ShapeError."""
        chain, index, row = self._pose_of_goal[name]
        row[:] = unit_pose(name, pose, chain.requests[index])

    def request_of_goal(self, name: str) -> Request:
        """Return the goal with a name."""
        chain, index = self.place_of_goal[name]
        return chain.requests[index]

    @cached_property
    def units(self) -> Array:
        """Return the unit of each value, shape (nq,): 1 [rad] or the characteristic length [m]."""
        tree = self.tree
        length = {place: chain.flat.length for chain in self.chains for place in chain.flat.var_q}
        units = np.ones(len(tree.names))
        for index, column in zip(tree.q_of_column, tree.columns, strict=True):
            if not column.dof.is_rotation:
                units[index] = length.get(tree.q_of_column[column.master], self.length or 1.0)
        return units

    def refresh(self, options: SolverOptions) -> None:
        """Read poses, weights, tolerances and priorities from the objects again."""
        priorities = sorted(
            {r.source.priority for r in self.requests if isinstance(r.source, Goal)} | {0}
        )
        for request, chain, at in self._rows:
            row = chain.table[at]
            position, quaternion = request.pose
            row[layout.CON_POSE : layout.CON_POSE + 3] = position
            row[layout.CON_POSE + 3 : layout.CON_POSE + 7] = quaternion
            row[layout.CON_WEIGHT], row[layout.CON_DISTANCE] = 1.0, 0.0
            row[layout.CON_LEVEL] = 1.0 if request.is_goal else 0.0
            tolerance: tuple[float, ...] | None = TOLERANCES.get(request.kind)
            if isinstance(request.source, Constraint):
                tolerance = request.source.tolerance
                row[layout.CON_WEIGHT] = request.source.weight
                row[layout.CON_DISTANCE] = request.source.distance
            if isinstance(request.source, Goal):
                row[layout.CON_LEVEL] = 1.0 + priorities.index(request.source.priority)
            if request.kind == 'cone' and isinstance(request.source, Joint):
                whole = request.mask & 1 << DOF.EZ
                joint = request.source
                row[layout.CON_DISTANCE] = joint.max_turn if whole else joint.max_swing
            row[layout.CON_TRANSLATION_TOLERANCE : layout.CON_ROTATION_TOLERANCE + 1] = (
                (options.translation_converge_threshold, options.rotation_converge_threshold)
                if tolerance is None
                else norms_of(tolerance, request.mask)
            )
            row[layout.CON_ROW_TOLERANCE] = -1.0
            if tolerance is not None and len(tolerance) == len(DOF):
                own = [limit for k, limit in enumerate(tolerance) if request.mask & 1 << k]
                row[layout.CON_ROW_TOLERANCE : layout.CON_ROW_TOLERANCE + len(own)] = own
            if request.is_goal:
                if options.translation_factor == 0.0:
                    row[layout.CON_TRANSLATION_TOLERANCE] = ANY
                if options.rotation_factor == 0.0:
                    row[layout.CON_ROTATION_TOLERANCE] = ANY
            row[layout.CON_TRANSLATION_MISFIT], row[layout.CON_ROTATION_MISFIT] = 0.0, 0.0
            for redundancy in chain.redundancies:
                if not request.is_goal and request.name in redundancy.misfit:
                    limit = redundancy.allowance[request.name]
                    row[layout.CON_TRANSLATION_MISFIT], row[layout.CON_ROTATION_MISFIT] = limit
        if self.avoidance is not None:
            self.avoidance.refresh(options)

    def run(
        self,
        q: Array,
        joints: Array,
        packed: Array,
        time_budget: float,
        stop: Sequence[bool] = (),
        *,
        goes_on: bool = False,
    ) -> list[SolveResult]:
        """
        Solve every chain from q (nq,) [rad or m], which is overwritten with the result.

        `joints` (8, nq): see `JointTable.rows`. `packed`: `SolverOptions.packed()`. `time_budget`:
        longest time [s]; 0 = no limit. The solve ends when stop[0] is true, if there is one. If it
        `goes_on`, a chain that starts with the values with which the last such call ended as
        TIMEOUT also starts with its damping and its random numbers.
        """
        ends = perf_counter() + time_budget if time_budget > 0.0 else 0.0
        answers = []
        start = q.copy() if self.avoidance is not None else q
        for index, chain in enumerate(self.chains):
            left = self._left.pop(index, None) if goes_on else None
            if left is not None and left[0] == q[chain.flat.var_q].tobytes():
                ints, floats = chain.work_ints, chain.work_floats
                ints[now.GOES_ON], floats[now.LEFT_DAMPING], ints[now.RANDOM] = 1, *left[1:]
            steps = SLICE if ends or stop else chain.slice_steps
            # A negative number of steps starts a new solve, even if an exception such as Ctrl-C
            # interrupted the one before.
            status = chain.go_on(q, joints, packed, -steps)
            while status == now.STATUS_RUNNING:
                if (stop and stop[0]) or (ends and perf_counter() >= ends):
                    chain.work_ints[now.INTERRUPTED] = 1
                status = chain.go_on(q, joints, packed, steps)
            if status == now.STATUS_REFUSED:
                chain.refuse(q, TABLE_POSES)
            if goes_on and status == now.STATUS_TIMEOUT:
                self._left[index] = (
                    q[chain.flat.var_q].tobytes(),
                    float(chain.work_floats[now.LEFT_DAMPING]),
                    int(chain.work_ints[now.RANDOM]),
                )
            answers.append(chain.answer(joints, packed))
        if self.avoidance is not None:
            self.near = self.avoidance.nearest(q)
            if self.avoidance.is_contact(self.near):
                given = [(each.record, each.table) for each in answers]
                whole = self.avoidance.solve(given, start, q, joints, packed, time_budget, stop)
                self.near = self.avoidance.nearest(q)
                answers = [
                    replace(each, record=self.avoidance.record(index, each.record, whole.record))
                    for index, each in enumerate(answers)
                ] or [whole]
        return answers

    def refuse_contact(self, q: Array, answers: Sequence[SolveResult]) -> None:
        """Make answers in contact STALLED that were found without regard to bodies."""
        self.near = None if self.avoidance is None else self.avoidance.nearest(q)
        if self.avoidance is not None and self.avoidance.is_contact(self.near):
            for answer in answers:
                status = answer.record[layout.RECORD_STATUS]
                answer.record[layout.RECORD_STATUS] = max(status, now.STATUS_STALLED)


class Avoidance:
    """
    The collisions of a problem, with the chain that avoids them.

    A problem is solved without regard to collisions first, so that bodies that are far apart
    change no bit of an answer. If its answer is in contact, the problem is solved again as one
    chain, with the pairs of bodies as inequalities: from the same start, or from that answer if it
    needed another start. See theory.md, section 16. `margin` is the least distance [m], and `rows`
    are, for each chain of the problem, the places of its constraints in the chain of `whole`.
    """

    def __init__(
        self, problem: Problem, collisions: Collisions, options: SolverOptions, table: JointTable
    ) -> None:
        self._problem, self.collisions, self._table = problem, collisions, table
        self._version, self._moves = collisions.version, collisions.moves
        self._bodies = collisions.flat()
        self._whole: Problem | None = None
        self.refresh(options)

    def refresh(self, options: SolverOptions) -> None:
        """Take new options, and the present poses of obstacles."""
        self._options = options
        self.margin = options.collision_margin
        if self._whole is not None:
            self._whole.refresh(options)
            if self._moves != self.collisions.moves:
                flat = self._whole.chains[0].flat
                write_body_frames(flat.ints, flat.floats, self.collisions.flat(), flat.length)
        self._moves = self.collisions.moves

    @property
    def is_current(self) -> bool:
        """Return True if bodies and pairs have not changed."""
        return self._version == self.collisions.version

    def nearest(self, q: Array) -> Distance | None:
        """Return the nearest pair within the influence distance; coupled values of q follow."""
        self._table.follow(q)
        return self.collisions.nearest(q, self.reach)

    @property
    def reach(self) -> float:
        """Return the distance up to which pairs are measured [m]."""
        return self.margin + self._options.influence_distance

    def free_share(self, start: Array, end: Array) -> float:
        """Return the share of a way that is free of contact, see `Collisions.free_share`."""
        return self.collisions.free_share(start, end, self.margin)

    def shorten(
        self, solve: Callable[[Array], bool], start: Array, q: Array, rows: Array, *, fits: bool
    ) -> None:
        """
        Solve again, from the start to q, with smaller windows, while the way to q is not free.

        `solve` is a function of the table of joints, which writes q and returns True if that fits;
        `fits`: True if the present one does. At last nothing moves.
        """
        for slide in SLIDES:
            share = self.free_share(start, q) if fits else 0.0
            if share == 1.0:
                break
            window = np.maximum(SHORTER * share * np.abs(q - start), slide * self._problem.units)
            narrow = JointTable.with_window(
                rows, slice(None), np.minimum(rows[layout.JOINT_WINDOW], window * (slide > 0.0))
            )
            q[:] = start
            fits = solve(narrow)

    def is_contact(self, near: Distance | None) -> bool:
        """Return True if a pair is nearer than the margin."""
        return near is not None and near.d < self.margin - TOO_NEAR

    def is_free(self, q: Array) -> bool:
        """Return True if no pair is nearer than the margin at q, shape (nq,)."""
        return not self.is_contact(self.nearest(q))

    @property
    def whole(self) -> Problem:
        """Return the problem as one chain with pairs of bodies, made when it is first needed."""
        if self._whole is None:
            problem, bodies = self._problem, self._bodies
            tree, length = problem.tree, problem.length
            if length == 0.0:
                length = max((chain.flat.length for chain in problem.chains), default=0.0)
            carried = with_ancestors(tree, bodies.columns[bodies.pairs].ravel().tolist())
            masters = sorted({tree.columns[index].master for index in carried})
            count = min(-(-len(bodies.pairs) // 6), MOST_ROWS)
            requests = [*avoid_requests(tree, count), *problem.requests]
            own = [each for chain in problem.chains for each in chain.redundancies]
            self._whole = Problem(tree, requests, None, length, own, masters, bodies)
            self._whole.refresh(self._options)
            names = {
                (request.name, request.is_goal): index
                for index, request in enumerate(self._whole.chains[0].requests)
            }
            self.rows = [
                [names[request.name, request.is_goal] for request in chain.requests]
                for chain in problem.chains
            ]
        return self._whole

    @staticmethod
    def begin(records: Sequence[Array], start: Array, q: Array, joints: Array) -> None:
        """Write to q, the answer in contact with these records, where to solve again from."""
        met = all(record[layout.RECORD_STATUS] == now.STATUS_CONVERGED for record in records)
        far = met and any(record[layout.RECORD_STARTS] > 1 for record in records)
        windows = joints[layout.JOINT_WINDOW]
        if not far or np.isfinite(windows[windows > 0.0]).any():
            q[:] = start

    def solve(
        self,
        answers: Sequence[tuple[Array, Array]],
        start: Array,
        q: Array,
        joints: Array,
        packed: Array,
        time_budget: float,
        stop: Sequence[bool] = (),
    ) -> SolveResult:
        """
        Solve again without contact, from an answer in contact, q, which is overwritten.

        `answers`: record of that answer and constraint table of each chain.
        """
        chain = self.whole.chains[0]
        for rows, (_, table) in zip(self.rows, answers, strict=True):
            chain.table[rows] = table
        self.begin([record for record, _ in answers], start, q, joints)
        (answer,) = self.whole.run(q, joints, packed, time_budget, stop)
        return answer

    def record(self, at: int, record: Array, whole: Array) -> Array:
        """Return the record of chain `at` with the answer of `solve`, whose record is `whole`."""
        rows, made = self.rows[at], record.copy()
        made[: layout.RECORD] = whole[: layout.RECORD]
        # A proof names a goal and a closure by their indices.
        proof, made[layout.RECORD_ENDED] = divmod(whole[layout.RECORD_ENDED], now.ENDS)
        closure, goal = divmod(int(proof) // PROOFS, len(self.whole.chains[0].requests))
        if proof and goal in rows:
            closure = rows.index(closure) if closure in rows else 0
            place = rows.index(goal) + len(rows) * closure
            made[layout.RECORD_ENDED] += now.ENDS * (proof % PROOFS + PROOFS * place)
        errors = whole[layout.RECORD :].reshape(-1)[: 2 * len(self.whole.chains[0].requests)]
        made[layout.RECORD : layout.RECORD + 2 * len(rows)] = errors.reshape(-1, 2)[rows].ravel()
        return made
