"""The results of a solve: joint values, statuses, residuals and messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, NamedTuple

from ik_node.display import public_names, Rows, Tabular
from ik_node.errors import counted, listed
from ik_node.kernels import layout
from ik_node.kernels import options as option
from ik_node.kernels import solve_state as now
from ik_node.kernels.out_of_reach import PROOF_LENGTH, PROOF_LOOP, PROOF_WRIST, PROOFS
from ik_node.model.attributes import ByName
from ik_node.model.collisions import Distance
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STATUSES = tuple(Status)
# A goal that is so many characteristic lengths off was not meant in metres.
FAR_OFF = 20.0
# A quaternion whose first component is larger, and its last smaller than the rest to 1, is a small
# turn (0.9 rad) if it is read as w x y z, and almost half a turn about x as x y z w.
LARGE_HALF = 0.9


class PoseError(NamedTuple):
    """
    The residual norms of a goal or closure on its constrained axes.

    Attributes
    ----------
    position : float
        Norm of its position rows [m].
    orientation : float
        Norm of its orientation rows [rad].

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> goals = {'tool_link': robot.forward(robot.q, 'tool_link')}
    >>> error = ik.Solver(robot).solve_pose(goals).goal_errors['tool_link']
    >>> error.position < 1e-6, error.orientation < 1e-6
    (True, True)

    """

    position: float
    orientation: float


def largest_error(errors: Mapping[str, PoseError]) -> PoseError:
    """Return the largest position and the largest orientation residual; zeros if none."""
    return PoseError(
        max((error.position for error in errors.values()), default=0.0),
        max((error.orientation for error in errors.values()), default=0.0),
    )


def _residuals(
    goals: Mapping[str, PoseError], closures: Mapping[str, PoseError], limit: int = 4
) -> list[str]:
    """Return the residuals of the goals and the largest ones of the closures, as text."""
    result = [
        f'goal {name!r} {error.position:.2g} m, {error.orientation:.2g} rad off'
        for name, error in islice(goals.items(), limit)
    ]
    result += [f'{len(goals) - limit} more goals'] if len(goals) > limit else []
    if closures:
        position, orientation = largest_error(closures)
        what = f'{len(closures)} closure' + 's' * (len(closures) > 1)
        result.append(f'{what} at most {position:.2g} m, {orientation:.2g} rad off')
    return result


def explained(gaps: Mapping[str, PoseError]) -> str:
    """Return the end of a message that names closures whose gaps are accepted."""
    each = listed((gap_text(name, error) for name, error in gaps.items()), 4)
    return f'; open by gaps that the digits of the description explain: {each}' if gaps else ''


def gap_text(name: str, error: PoseError) -> str:
    """Return the name of a closure and its residuals as text."""
    return f'{name!r} {error.position:.3g} m, {error.orientation:.3g} rad'


_WHY = {
    Status.STALLED: 'no further step reduces the error',
    Status.DIVERGED: 'the error grew; raise damping_factor or use adaptive_damping',
    Status.TIMEOUT: 'the iterations are spent',
}
_ENDED = {
    (Status.STALLED, now.ENDED_SMALL): 'a step moved no joint by more than stall_threshold',
    (Status.STALLED, now.ENDED_NEAR): 'the distance is below distance_threshold',
    (Status.TIMEOUT, now.ENDED_INTERRUPTED): 'the time budget is spent',
}
_PROOFS = {
    PROOF_LENGTH: 'the chain of goal {goal!r} is shorter than the way to it',
    PROOF_WRIST: 'the chain of goal {goal!r} is shorter than the way to its last axis',
    PROOF_LOOP: 'with goal {goal!r} met, loop {closure!r} is too short to close',
}
_NO_MORE_STARTS = {
    now.ENDED_BLOCKED: 'because bodies are in the way of many answers; restarts=N makes N more '
    'starts',
    now.ENDED_AGREED: 'because independent starts agree; restarts=N makes N more starts',
    now.ENDED_PROVEN: 'because the lengths of the links prove that the goals are out of reach',
}


class Requirement(NamedTuple):
    """
    A requirement besides goals and closures, such as the value of a driven joint.

    `reason`: why it is not met; '' = it is met. `least`: best status of a solution. `note`: what
    the message says besides; '' = nothing.
    """

    reason: str = ''
    least: Status = Status.CONVERGED
    note: str = ''


MET = Requirement()


class WithStatus:
    """What results of solves share."""

    __slots__ = ()
    __dir__ = public_names

    @property
    def status(self) -> Status:
        """Return the status with which the solve ended."""
        raise NotImplementedError

    @property
    def converged(self) -> bool:
        """Return True if the status is CONVERGED."""
        return self.status is Status.CONVERGED

    @property
    def success(self) -> bool:
        """Return `converged`, under the name that scipy has for it."""
        return self.converged

    def __bool__(self) -> bool:
        return self.converged


class ByJoint(WithStatus, Tabular):
    """A result with a number for each joint value, by name."""

    __slots__ = ('_names',)
    _names: Sequence[str]

    def _values(self) -> Array:
        raise NotImplementedError

    def as_dict(self) -> dict[str, float]:
        """
        Return all values by name [rad or m], or velocities [rad/s or m/s].

        Examples
        --------
        >>> import ik_node as ik
        >>> solution = ik.Solver(ik.load_robot('fivebar')).drive({'left_shoulder': 0.1})
        >>> round(solution.as_dict()['left_shoulder'], 6)
        0.1

        """
        return dict(zip(self._names, self._values().tolist(), strict=True))

    def __getitem__(self, name: str) -> float:
        return ByName('joint', self.as_dict())[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)


class Solution(ByJoint):
    """
    The result of `Solver.solve_pose`, which does not change the robot.

    `solution['shoulder']` is the value of that joint, and a solution is true if it converged. The
    numbers are copied from the solver at
    once; mappings by name are made when they are read.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        All joint values [rad or m], in the order of `Solver.joint_names`.
    solve_time : float
        Time of the solve [s].
    nearest : Distance or None
        The nearest pair of bodies and its distance; None if none is near. A pair is near if it is
        within `influence_distance` beyond `collision_margin`, and if collisions are avoided, see
        docs/collisions.md.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> solution = ik.Solver(robot).solve_pose({'tool_link': ((0.5, 0.2, 0.5), (0, 0, 0, 1))})
    >>> if solution:
    ...     robot.q = solution.q
    >>> bool(solution['j1'] == robot.q[0])
    True
    >>> solution.converged, solution.success, solution.status.name, solution.worst
    (True, True, 'CONVERGED', 'tool_link')
    >>> solution.active_limits, solution.closure_errors, solution.rounding_gaps, solution.nearest
    ((), {}, {}, None)
    >>> solution.proof, solution.searched  # out of reach: why, or the share of the search done
    ('', 1.0)
    >>> solution.iterations < 50, solution.closing_iterations, solution.starts
    (True, 0, 1)
    >>> list(solution.as_dict())[:2], list(solution.goal_errors), solution.condition_number > 1.0
    (['j1', 'j2'], ['tool_link'], True)
    >>> solution.message.split()[0], len(solution.chains)
    ('CONVERGED', 1)

    """

    __slots__ = ('_answers', '_chains', '_more', 'nearest', 'q', 'solve_time')

    def __init__(
        self,
        q: Array,
        answers: Sequence[Iterable[Any]],
        solve_time: float,
        names: Sequence[str],
        more: Requirement = MET,
        nearest: Distance | None = None,
    ) -> None:
        self.nearest = nearest
        self.q = q
        self.solve_time = solve_time
        self._answers = answers
        self._names = names
        self._more = more
        self._chains: tuple[SolveResult, ...] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        answers = [each.detached() for each in self._each()]
        return Solution, (
            *(self.q, answers, self.solve_time, self._names, self._more),
            self.nearest,
        )

    def _headline(self) -> str:
        lines = [
            f'{type(self).__name__}: {self.message}',
            *_residuals(self.goal_errors, self.closure_errors),
        ]
        return '\n  '.join(lines)

    def _rows(self) -> Rows:
        at_limits = set(self.active_limits)
        return [
            ('joint', 'value [rad or m]', ''),
            *(
                (name, f'{value:.6g}', 'at a limit' if name in at_limits else '')
                for name, value in self.as_dict().items()
            ),
        ]

    def _values(self) -> Array:
        return self.q

    @property
    def status(self) -> Status:
        """Return the status of the worst chain."""
        worst = self._more.least
        for _, record, _, _ in self._answers:
            status = STATUSES[int(record[layout.RECORD_STATUS])]
            if status > worst:
                worst = status
        return worst

    @property
    def iterations(self) -> int:
        """Return the steps towards goals and preferences, of the chain with the most."""
        return max((int(r[layout.RECORD_STEPS]) for _, r, _, _ in self._answers), default=0)

    @property
    def closing_iterations(self) -> int:
        """Return the steps that only closed loops, of the chain with the most."""
        records = (record for _, record, _, _ in self._answers)
        return max((int(record[layout.RECORD_CLOSING]) for record in records), default=0)

    @property
    def starts(self) -> int:
        """Return the number of starts, of the chain with the most; 1 = no restart."""
        return max((int(r[layout.RECORD_STARTS]) for _, r, _, _ in self._answers), default=1)

    @property
    def chains(self) -> tuple[SolveResult, ...]:
        """Return the result of every independent chain."""
        if self._chains is None:
            self._chains = tuple(self._each(self.solve_time, self.nearest))
        return self._chains

    def _each(self, *more: Any) -> Iterator[SolveResult]:
        for chain, record, joints, packed in self._answers:
            yield SolveResult(chain, record, joints, packed, self.q, *more)

    @property
    def goal_errors(self) -> dict[str, PoseError]:
        """
        Return the residual of every goal that took part.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> goal = robot.add_goal('tool_link', name='tool', dof='X Y Z')
        >>> far = ik.Solver(robot).solve_pose({'tool': (9.0, 0.0, 0.0)})
        >>> round(far.goal_errors['tool'].position, 1)
        8.0

        """
        return {k: v for answer in self._each() for k, v in answer.goal_errors.items()}

    @property
    def closure_errors(self) -> dict[str, PoseError]:
        """Return the residual of every closure."""
        return {k: v for answer in self._each() for k, v in answer.closure_errors.items()}

    @property
    def rounding_gaps(self) -> dict[str, PoseError]:
        """Return the gaps of closures that exceed their tolerance, see `SolveResult`."""
        return {k: v for answer in self._each() for k, v in answer.rounding_gaps.items()}

    @property
    def active_limits(self) -> tuple[str, ...]:
        """
        Return the joint values that are at a limit.

        Examples
        --------
        >>> import ik_node as ik
        >>> lift = ik.Solver(ik.load_robot('scissor_lift'))
        >>> lift.drive({'slide': 9.0}).active_limits
        ('slide',)

        """
        return tuple(name for answer in self._each() for name in answer.active_limits)

    @property
    def condition_number(self) -> float:
        """Return the condition number of the worst conditioned chain, see `SolveResult`."""
        return max((chain.condition_number for chain in self.chains), default=1.0)

    @property
    def worst(self) -> str:
        """Return `SolveResult.worst` of the worst chain."""
        worst = self._worst_chain
        return '' if worst is None else worst.worst

    @property
    def _worst_chain(self) -> SolveResult | None:
        return max(self.chains, key=lambda chain: (chain.status, chain.iterations), default=None)

    @property
    def proof(self) -> str:
        """Return why a goal cannot be reached, if that is proven; '' = no proof."""
        return next((chain.proof for chain in self.chains if chain.proof), '')

    @property
    def searched(self) -> float:
        """
        Return the share of the search that was done, from 0 to 1; 1 with a proof.

        Without a proof, a goal that is not reached may be reached from a start that was not made.
        """
        if self.converged or self.proof:
            return 1.0
        answers = [each for each in self._each() if each.status is not Status.CONVERGED]
        shares = (each.starts / (1.0 + each.packed[option.RESTARTS]) for each in answers)
        return min(shares, default=1.0)

    @property
    def message(self) -> str:
        """Return a sentence that gives the status of the worst chain and its reason."""
        note = f'; {self._more.note}' if self._more.note else ''
        near = '' if self.nearest is None else f'; {self.nearest}'
        if self._more.reason:
            return f'{self.status.name}: {self._more.reason}{note}{near}'
        worst = self._worst_chain
        if worst is None:
            return f'CONVERGED: no closure or goal takes part{note}{near}'
        return worst.message + note


@dataclass(frozen=True)
class ChainNames:
    """
    The names of one chain's constraints and values, with results that are computed once.

    `constraints`: closures and goals, in the order of their rows; `are_goals`: True for each
    constraint that is a goal, None for pairs of bodies; `values`: index in q and name of each
    value that the chain moves; `free`: those that only place a free body.
    """

    constraints: tuple[str, ...]
    are_goals: tuple[bool | None, ...]
    values: tuple[tuple[int, str], ...]
    free: frozenset[int] = frozenset()

    @cached_property
    def goals(self) -> tuple[tuple[int, str], ...]:
        """Return index among the constraints and name of every goal."""
        return self._of_kind(True)

    @cached_property
    def closures(self) -> tuple[tuple[int, str], ...]:
        """Return index among the constraints and name of every closure."""
        return self._of_kind(False)

    def _of_kind(self, goals: bool) -> tuple[tuple[int, str], ...]:
        named = enumerate(zip(self.constraints, self.are_goals, strict=True))
        return tuple((index, name) for index, (name, is_goal) in named if is_goal is goals)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Return the indices in q of all values."""
        return np.array([index for index, _ in self.values], dtype=np.int64)


class SolvedChain(NamedTuple):
    """A copy of a chain's names and numbers at one configuration, independent of the solver."""

    names: ChainNames
    characteristic_length: float
    condition: float
    beyond: str

    def condition_number(self, *_: Array) -> float:
        """Return the condition number at that configuration."""
        return self.condition

    def beyond_limits(self, *_: Array) -> str:
        """Return the goal that was proven to be out of reach."""
        return self.beyond


# The first fields of a `SolveResult` as a plain tuple: to make a result takes a tenth of the time
# of a prepared solve that starts at its goal.
Answer = tuple[Any, Array, Array, Array]


def tolerances_in(table: Array) -> Array:
    """Return a view of the tolerances in a table of constraints, shape (nc, 2) [m], [rad]."""
    return table[:, layout.CON_TRANSLATION_TOLERANCE : layout.CON_ROTATION_TOLERANCE + 1]


def misfits_in(table: Array) -> Array:
    """Return a view of what rounding leaves of redundant rows, shape (nc, 2) [m], [rad]."""
    return table[:, layout.CON_TRANSLATION_MISFIT : layout.CON_ROTATION_MISFIT + 1]


@dataclass(eq=False, repr=False)
class SolveResult(WithStatus):
    """
    The result of one independent chain.

    Attributes
    ----------
    solve_time : float
        Time of the whole solve [s].
    nearest : Distance or None
        As `Solution.nearest`, of the whole solve.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('hexapod')
    >>> (result,) = ik.Solver(robot).solve()  # without goals, the loops are closed
    >>> result.converged, result.status.name, len(result.closure_errors), result.goal_errors
    (True, 'CONVERGED', 6, {})
    >>> result.starts, result.iterations, result.closing_iterations < 10, result.active_limits
    (1, 0, True, ())
    >>> len(result.tolerances), result.rounding_gaps, result.characteristic_length > 0.0
    (6, {}, True)
    >>> result.success, result.open_closures, result.message.split()[0]
    (True, {}, 'CONVERGED')
    >>> result.worst in result.closure_errors, result.condition_number > 1.0
    (True, True)
    >>> result.proof  # a reached target has none
    ''

    """

    # A `ChainProblem`, or in a pickle a `SolvedChain`.
    chain: Any
    # As written by the kernels: `kernels.layout.RECORD_*`, then the residual norms (2 nc,) [m],
    # [rad], then the table of constraints (nc, 20).
    record: Array
    joints: Array  # (8, nq): limits and locks, see `JointTable.rows`
    packed: Array
    q: Array = field(default_factory=lambda: np.zeros(0))
    solve_time: float = 0.0
    nearest: Distance | None = None

    _internal: ClassVar = (
        *('at', 'at_limits', 'chain', 'detached', 'errors', 'joints', 'limits', 'packed', 'q'),
        *('record', 'table'),
    )

    def __repr__(self) -> str:
        residuals = _residuals(self.goal_errors, self.closure_errors)
        return f'{type(self).__name__}({"; ".join([self.message, *residuals])})'

    def __iter__(self) -> Iterator[Any]:
        # A solution takes results and plain tuples alike.
        return iter((self.chain, self.record, self.joints, self.packed))

    def __reduce__(self) -> tuple[Any, ...]:
        return SolveResult, (*self.detached(), self.q, self.solve_time, self.nearest)

    def detached(self) -> Answer:
        """Return the first four fields without a reference to the solver, for pickles."""
        names, length = self.chain.names, self.chain.characteristic_length
        chain = SolvedChain(names, length, self.condition_number, self._beyond)
        return chain, self.record, self.joints.copy(), self.packed

    def at(self, errors: Array) -> SolveResult:
        """Return a copy with other residual norms, shape (2 nc,) [m], [rad]."""
        record = self.record.copy()
        record[layout.RECORD : layout.RECORD + errors.size] = errors
        return replace(self, record=record)

    @property
    def errors(self) -> Array:
        """Return the residual norms of every constraint, shape (nc, 2) [m], [rad]."""
        last = layout.RECORD + 2 * len(self.chain.names.constraints)
        return self.record[layout.RECORD : last].reshape(-1, 2)

    @property
    def table(self) -> Array:
        """Return the table of constraints, shape (nc, 20), see `kernels.layout.CON_*`."""
        first = layout.RECORD + 2 * len(self.chain.names.constraints)
        return self.record[first:].reshape(-1, layout.CON_COLUMNS)

    @property
    def limits(self) -> Array:
        """
        Return the residual norms that count as met, shape (nc, 2) [m], [rad].

        For redundant closures this includes the residual that rounding makes unavoidable.
        """
        return tolerances_in(self.table) + misfits_in(self.table)

    @property
    def status(self) -> Status:
        """Return the status with which the solve of the chain ended."""
        return STATUSES[int(self.record[layout.RECORD_STATUS])]

    @property
    def iterations(self) -> int:
        """
        Return the steps tried towards goals and preferences, over all starts.

        They are at most `max_iterations` for each start that the options allow.
        """
        return int(self.record[layout.RECORD_STEPS])

    @property
    def closing_iterations(self) -> int:
        """Return the further steps that only closed loops; no budget limits them."""
        return int(self.record[layout.RECORD_CLOSING])

    @property
    def starts(self) -> int:
        """Return the number of starts; 1 = no restart."""
        return int(self.record[layout.RECORD_STARTS])

    @property
    def characteristic_length(self) -> float:
        """Return the characteristic length of the chain [m]."""
        length: float = self.chain.characteristic_length
        return length

    @cached_property
    def goal_errors(self) -> Mapping[str, PoseError]:
        """Return the residual of every goal at the returned values."""
        return self._named(self.chain.names.goals)

    @cached_property
    def closure_errors(self) -> Mapping[str, PoseError]:
        """Return the residual of every closure at the returned values."""
        return self._named(self.chain.names.closures)

    @cached_property
    def tolerances(self) -> Mapping[str, PoseError]:
        """Return the residuals that count as met."""
        named = zip(self.chain.names.constraints, self.limits.tolist(), strict=True)
        return {name: PoseError._make(pair) for name, pair in named}

    @property
    def rounding_gaps(self) -> Mapping[str, PoseError]:
        """
        Return the residuals of closures that exceed their tolerance and are accepted.

        The digits of the description explain them.
        """
        own = tolerances_in(self.table)
        met = np.all(self.errors <= self.limits, axis=1) & np.any(self.errors > own, axis=1)
        return self._named(tuple(each for each in self.chain.names.closures if met[each[0]]))

    def _named(self, places: tuple[tuple[int, str], ...]) -> dict[str, PoseError]:
        # By index, because a closure may have the same name as the link of a goal.
        errors = self.errors.tolist()
        return {name: PoseError._make(errors[index]) for index, name in places}

    @property
    def active_limits(self) -> tuple[str, ...]:
        """Return the joint values that are at a limit, those that place free bodies last."""
        return self.at_limits(self.q)

    def at_limits(self, q: Array) -> tuple[str, ...]:
        """Return `active_limits` at other values q (nq,) [rad or m]."""
        names = self.chain.names
        value, lower, upper = (
            row[names.places]
            for row in (q, self.joints[layout.JOINT_LOWER], self.joints[layout.JOINT_UPPER])
        )
        inside = (lower < value) & (value < upper)
        at_limit = np.flatnonzero((lower < upper) & ~inside)
        result = [names.values[index] for index in at_limit.tolist()]
        return tuple(name for _, name in sorted(result, key=lambda each: each[0] in names.free))

    @property
    def worst(self) -> str:
        """Return the goal or closure with the largest ratio of residual to tolerance."""
        return self._worst_of({**self.closure_errors, **self.goal_errors})

    def _worst_of(self, errors: Mapping[str, PoseError]) -> str:
        return max(errors, key=lambda name: self._times_tolerance(name, errors[name]), default='')

    @property
    def open_closures(self) -> dict[str, PoseError]:
        """Return the residuals of the closures that exceed their tolerances, the worst first."""
        result = {k: v for k, v in self.closure_errors.items() if self._is_off(k, v)}
        return dict(sorted(result.items(), key=lambda each: -self._times_tolerance(*each)))

    def _is_off(self, name: str, error: PoseError) -> bool:
        return self._times_tolerance(name, error) > 1.0

    def _times_tolerance(self, name: str, error: PoseError) -> float:
        return max(e / max(a, 1e-300) for e, a in zip(error, self.tolerances[name], strict=True))

    @property
    def condition_number(self) -> float:
        """
        Return the ratio of the largest to the smallest singular value of the Jacobian of all rows.

        Rows are in [m] and [rad], values in [rad or m]. The ratio is infinite in a singular
        configuration, and 1 if there are no rows or no value may move. Rows that are redundant
        everywhere do not count. It is computed when this property is read.
        """
        arguments = (self.q, self.joints, self.table, self.packed)
        number: float = self.chain.condition_number(*arguments)
        return number

    @property
    def _beyond(self) -> str:
        if self.converged:
            return ''
        goal: str = self.chain.beyond_limits(self.q, self.joints, self.table)
        return goal

    @property
    def proof(self) -> str:
        """
        Return why the goals cannot be reached, if that is proven.

        '' = no proof, or they are reached. It is looked for when this property is read, which can
        take milliseconds.
        """
        proof = int(self.record[layout.RECORD_ENDED]) // now.ENDS
        if proof == 0:
            beyond = self._beyond
            return beyond and f'no joint values within limits meet goal {beyond!r}'
        names = self.chain.names.constraints
        closure, goal = divmod(proof // PROOFS, len(names))
        return _PROOFS[proof % PROOFS].format(goal=names[goal], closure=names[closure])

    @property
    def message(self) -> str:
        """Return a sentence that gives the status and its reason."""
        near = '' if self.nearest is None else f'; {self.nearest}'
        if self.converged:
            starts = f' and {self.starts} starts' if self.starts > 1 else ''
            text = f'CONVERGED after {counted(self.iterations, "step")}{starts}'
            return text + explained(self.rounding_gaps) + near
        ended = int(self.record[layout.RECORD_ENDED]) % now.ENDS
        text = f'{self.status.name}: {_ENDED.get((self.status, ended), _WHY[self.status])}'
        # An open loop is named before a goal, because goals are meaningless while a loop is open.
        of_kind = (('closure', self.closure_errors), ('goal', self.goal_errors))
        named = [(kind, self._worst_of(errors), errors) for kind, errors in of_kind]
        off = [each for each in named if each[1] and self._is_off(each[1], each[2][each[1]])]
        for kind, name, errors in off or [each for each in named if each[1] == self.worst][:1]:
            if name:
                position, orientation = errors[name]
                text += f'; {kind} {name!r} is {position:.3g} m, {orientation:.3g} rad off'
                text += self._doubts().get(name, '') if kind == 'goal' else ''
        names, limits = self.chain.names, self.active_limits
        bodies = {name for index, name in names.values if index in names.free}
        joints = [name for name in limits if name not in bodies]
        if joints:
            text += f'; at limits: {listed(joints)}'
        if len(joints) < len(limits):
            placing = listed(limits[len(joints) :])
            text += f'; a free body is at the end of its range: {placing}'
        if self.starts > 1:
            no_more = _NO_MORE_STARTS.get(ended, 'all that were allowed')
            text += f'; the search ended after {self.starts} starts, {no_more}'
        return text + near

    def _doubts(self) -> dict[str, str]:
        """Return a clause for each goal about what may be wrong with it, if something may."""
        names, result = self.chain.names, {}
        for index, name in names.goals:
            position, orientation = self.errors[index].tolist()
            x, _, _, w = self.table[index, layout.CON_POSE + 3 : layout.CON_POSE + 7].tolist()
            if not names.values:
                result[name] = ' (its link does not move: no joint carries it)'
            elif position > FAR_OFF * self.chain.characteristic_length:
                result[name] = ' (positions are in metres: is this one in millimetres?)'
            elif orientation > 1.0 and abs(x) > LARGE_HALF and abs(w) < 1.0 - LARGE_HALF:
                result[name] = ' (quaternions are x y z w: is this one w x y z?)'
        return result
