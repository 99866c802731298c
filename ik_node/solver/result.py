# flake8: noqa: E203
"""What a solve found out, in numbers a user can act on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol

from ik_node.errors import listed, shown
from ik_node.kernels.layout import (
    CON_COLUMNS,
    CON_ROTATION_MISFIT,
    CON_ROTATION_TOLERANCE,
    CON_TRANSLATION_MISFIT,
    CON_TRANSLATION_TOLERANCE,
    JOINT_LOWER,
    JOINT_UPPER,
    RECORD,
    RECORD_CLOSING,
    RECORD_STARTS,
    RECORD_STATUS,
    RECORD_STEPS,
)
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STATUSES = tuple(Status)


class PoseError(NamedTuple):
    """
    How far a goal or closure is from met, on its own axes.

    Attributes
    ----------
    position : float
        [m]
    orientation : float
        [rad]

    """

    position: float
    orientation: float


@dataclass(frozen=True)
class SolveResult:
    """
    The outcome of one independent chain.

    Attributes
    ----------
    status : Status
    iterations : int
        Steps tried towards goals and wishes, over all starts: at most `max_iterations` for each
        start that the options allow.
    starts : int
        Starts used, 1 = no restart.
    solve_time : float
        [s]
    goal_errors, closure_errors : mapping of str to PoseError
        Residuals recomputed from the answer.
    active_limits : tuple of str
        Joints that are at a limit.
    tolerances : mapping of str to PoseError
        Residuals that count as met.
    closing_iterations : int
        Further steps that did nothing but close loops, which is owed whatever the budget.
    characteristic_length : float
        What counted as much as one radian [m].

    """

    status: Status
    iterations: int
    starts: int
    solve_time: float
    goal_errors: Mapping[str, PoseError]
    closure_errors: Mapping[str, PoseError]
    active_limits: tuple[str, ...]
    tolerances: Mapping[str, PoseError] = field(default_factory=dict, repr=False)
    closing_iterations: int = 0
    characteristic_length: float = field(default=1.0, repr=False)
    _look: Callable[[], float] | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # What works the condition number out belongs to the solver.
        return vars(self) | {'_look': partial(float, self.condition_number)}

    @property
    def worst(self) -> str:
        """Name of the goal or closure that is farthest from met, measured by its tolerance."""
        return self._worst_of({**self.closure_errors, **self.goal_errors})

    def _worst_of(self, errors: Mapping[str, PoseError]) -> str:
        return max(errors, key=lambda name: self._times_tolerance(name, errors[name]), default='')

    def _is_off(self, name: str, error: PoseError) -> bool:
        return self._times_tolerance(name, error) > 1.0

    def _times_tolerance(self, name: str, error: PoseError) -> float:
        allowed = self.tolerances.get(name, PoseError(1e-6, 1e-6))
        return max(e / max(a, 1e-300) for e, a in zip(error, allowed, strict=True))

    @property
    def condition_number(self) -> float:
        """
        Largest by smallest singular value of the Jacobian of all rows, [m] and [rad] alike.

        Infinite in a singular configuration. Rows that are redundant everywhere do not count.
        Worked out when it is asked for; 1 where nothing is asked or nothing moves.
        """
        return 1.0 if self._look is None else self._look()

    @property
    def message(self) -> str:
        """Return a sentence that names the reason."""
        if self.status is Status.CONVERGED:
            starts = f' and {self.starts} starts' if self.starts > 1 else ''
            return f'CONVERGED after {self.iterations} steps{starts}'
        text = f'{self.status.name}: {_WHY[self.status]}'
        # A loop that stays open comes first: no goal is met by a robot that falls apart.
        of_kind = (('closure', self.closure_errors), ('goal', self.goal_errors))
        named = [(kind, self._worst_of(errors), errors) for kind, errors in of_kind]
        off = [each for each in named if each[1] and self._is_off(each[1], each[2][each[1]])]
        for kind, name, errors in off or [each for each in named if each[1] == self.worst][:1]:
            if name:
                position, orientation = errors[name]
                text += f'; {kind} {shown(name)} is {position:.3g} m, {orientation:.3g} rad off'
        if self.active_limits:
            text += f'; at limits: {listed(self.active_limits)}'
        return text


_WHY = {
    Status.STALLED: 'no step helps any more',
    Status.DIVERGED: 'the error grew; raise damping_factor or use adaptive_damping',
    Status.TIMEOUT: 'the iterations or the time budget are spent',
}


class Solution:
    """
    The outcome of `Solver.solve_pose`; nothing of the robot was changed.

    Numbers are copied out at once, names are put to them when they are asked for.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        All joint values [rad or m], in the order of `Solver.joint_names`.
    solve_time : float
        [s]

    """

    __slots__ = ('_answers', '_chains', '_least', '_objection', 'q', 'solve_time')

    def __init__(
        self,
        q: Array,
        answers: Sequence[Answer],
        solve_time: float,
        objection: str = '',
        least: Status = Status.CONVERGED,
    ) -> None:
        self.q = q
        self.solve_time = solve_time
        self._answers = answers
        # Goals and closures may be met, and something else that was asked is not.
        self._objection, self._least = objection, least
        self._chains: tuple[SolveResult, ...] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        answers = [each.on_its_own(self.q) for each in self._each()]
        return Solution, (self.q, answers, self.solve_time, self._objection, self._least)

    @property
    def status(self) -> Status:
        """Return that of the worst chain."""
        worst = self._least
        for _, record, _, _ in self._answers:
            status = STATUSES[int(record[RECORD_STATUS])]
            if status > worst:
                worst = status
        return worst

    @property
    def iterations(self) -> int:
        """Return the steps of the chain with the most."""
        return max((int(record[RECORD_STEPS]) for _, record, _, _ in self._answers), default=0)

    @property
    def closing_iterations(self) -> int:
        """Return the steps that did nothing but close loops, of the chain with the most."""
        records = (record for _, record, _, _ in self._answers)
        return max((int(record[RECORD_CLOSING]) for record in records), default=0)

    @property
    def starts(self) -> int:
        """Return the starts of the chain with the most."""
        return max((int(record[RECORD_STARTS]) for _, record, _, _ in self._answers), default=1)

    @property
    def chains(self) -> tuple[SolveResult, ...]:
        """Return the result of every independent chain."""
        if self._chains is None:
            self._chains = tuple(each.result(self.q, self.solve_time) for each in self._each())
        return self._chains

    def _each(self) -> Iterator[ChainAnswer]:
        return map(ChainAnswer._make, self._answers)

    @property
    def goal_errors(self) -> dict[str, PoseError]:
        """Residual of every goal that took part."""
        return {k: v for answer in self._each() for k, v in answer.goal_errors.items()}

    @property
    def closure_errors(self) -> dict[str, PoseError]:
        """Residual of every closure."""
        return {k: v for answer in self._each() for k, v in answer.closure_errors.items()}

    @property
    def active_limits(self) -> tuple[str, ...]:
        """Joints that are at a limit."""
        return tuple(name for answer in self._each() for name in answer.active_limits(self.q))

    @property
    def condition_number(self) -> float:
        """Return the condition number of the worst conditioned chain, see `SolveResult`."""
        return max((chain.condition_number for chain in self.chains), default=1.0)

    @property
    def worst(self) -> str:
        """Name of the goal or closure that is farthest from met, of the worst chain."""
        return max(self.chains, key=lambda chain: chain.status).worst if self.chains else ''

    @property
    def message(self) -> str:
        """Return a sentence that names the reason, of the worst chain."""
        if self._objection:
            return f'{self.status.name}: {self._objection}'
        worst = max(self.chains, key=lambda chain: (chain.status, chain.iterations), default=None)
        return 'CONVERGED: nothing was asked' if worst is None else worst.message


@dataclass(frozen=True)
class ChainNames:
    """
    Names of one chain, and what is worked out of them once rather than with every solve.

    Attributes
    ----------
    constraints : tuple of str
        Goals and closures, in the order of their rows.
    are_goals : tuple of bool
        Which of them are goals.
    values : tuple of (int, str)
        Place in q and name of every value that the chain moves.

    """

    constraints: tuple[str, ...]
    are_goals: tuple[bool, ...]
    values: tuple[tuple[int, str], ...]
    _told: dict[bytes, Mapping[str, PoseError]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @cached_property
    def goals(self) -> tuple[tuple[int, str], ...]:
        """Row and name of every goal."""
        return self._of_kind(True)

    @cached_property
    def closures(self) -> tuple[tuple[int, str], ...]:
        """Row and name of every closure."""
        return self._of_kind(False)

    def _of_kind(self, goals: bool) -> tuple[tuple[int, str], ...]:
        named = enumerate(zip(self.constraints, self.are_goals, strict=True))
        return tuple((at, name) for at, (name, is_goal) in named if is_goal is goals)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Places in q of all values."""
        return np.array([at for at, _ in self.values], dtype=np.int64)

    def named_tolerances(self, tolerances: Array) -> Mapping[str, PoseError]:
        """
        Put names to tolerances (nc, 2), [m] and [rad].

        They seldom change: the same numbers get the same mapping.
        """
        key = tolerances.tobytes()
        told = self._told.get(key)
        if told is None:
            self._told.clear()
            named = zip(self.constraints, tolerances.tolist(), strict=True)
            told = self._told[key] = {name: PoseError._make(pair) for name, pair in named}
        return told


class AskedChain(Protocol):
    """What an answer needs of the chain that it is of."""

    @property
    def names(self) -> ChainNames:
        """Return what its numbers are called."""

    @property
    def characteristic_length(self) -> float:
        """Return what counts as much as one radian [m]."""

    def condition_number(self, q: Array, joints: Array, table: Array, packed: Array) -> float:
        """Return the condition number of all rows by all free values at q."""


class SolvedChain(NamedTuple):
    """The same of a chain that has been solved at one configuration."""

    names: ChainNames
    characteristic_length: float
    condition: float

    def condition_number(self, q: Array, joints: Array, table: Array, packed: Array) -> float:
        """Return what was worked out there."""
        del q, joints, table, packed
        return self.condition


# The fields of a `ChainAnswer`. Making one takes a tenth of a call that has nothing to do.
Answer = tuple[AskedChain, Array, Array, Array]


class ChainAnswer(NamedTuple):
    """
    What a kernel left behind for one chain, before it is put into words.

    Attributes
    ----------
    chain : AskedChain
    record : ndarray
        As the kernels leave it: `kernels.layout.RECORD_*`, then residual norms (2 nc,) [m], [rad],
        then the table of what was asked (nc, 14).
    joints, packed : ndarray
        Limits and locks, and options.

    """

    chain: AskedChain
    record: Array
    joints: Array
    packed: Array

    @property
    def status(self) -> Status:
        """How it ended."""
        return STATUSES[int(self.record[RECORD_STATUS])]

    @property
    def iterations(self) -> int:
        """Return the steps tried towards goals and wishes, over all starts."""
        return int(self.record[RECORD_STEPS])

    @property
    def closing_iterations(self) -> int:
        """Return the steps that did nothing but close loops."""
        return int(self.record[RECORD_CLOSING])

    @property
    def starts(self) -> int:
        """Return the starts used, 1 = no restart."""
        return int(self.record[RECORD_STARTS])

    @property
    def errors(self) -> Array:
        """Return the residual norms of every constraint, (nc, 2), [m] and [rad]."""
        return self.record[RECORD : RECORD + 2 * len(self.chain.names.constraints)].reshape(-1, 2)

    @property
    def table(self) -> Array:
        """Return what was asked, (nc, 14), see `kernels.layout.CON_*`."""
        return self.record[RECORD + 2 * len(self.chain.names.constraints) :].reshape(
            -1, CON_COLUMNS
        )

    @property
    def tolerances(self) -> Array:
        """
        Return the residual norms that count as met, of every constraint, (nc, 2), [m] and [rad].

        What rounding leaves open of redundant closures is added to their tolerance.
        """
        own: Array = self.table[:, CON_TRANSLATION_TOLERANCE : CON_ROTATION_TOLERANCE + 1]
        return own + self.table[:, CON_TRANSLATION_MISFIT : CON_ROTATION_MISFIT + 1]

    def on_its_own(self, q: Array) -> ChainAnswer:
        """Return the same for an answer q, without what belongs to the solver."""
        chain = self.chain
        condition = chain.condition_number(q, self.joints, self.table, self.packed)
        alone = SolvedChain(chain.names, chain.characteristic_length, condition)
        return self._replace(chain=alone, joints=self.joints.copy())

    def at(self, errors: Array) -> ChainAnswer:
        """Return the same with the residual norms (2 nc,) of another configuration."""
        record = self.record.copy()
        record[RECORD : RECORD + errors.size] = errors
        return self._replace(record=record)

    @property
    def goal_errors(self) -> dict[str, PoseError]:
        """Residual of every goal."""
        return self._named(self.chain.names.goals)

    @property
    def closure_errors(self) -> dict[str, PoseError]:
        """Residual of every closure."""
        return self._named(self.chain.names.closures)

    def _named(self, places: tuple[tuple[int, str], ...]) -> dict[str, PoseError]:
        # A closure may be called like the link that a goal is for.
        errors = self.errors.tolist()
        return {name: PoseError._make(errors[at]) for at, name in places}

    def active_limits(self, q: Array) -> tuple[str, ...]:
        """Joints that are at a limit at q, the answer."""
        names = self.chain.names
        value, lower, upper = (
            row[names.places] for row in (q, self.joints[JOINT_LOWER], self.joints[JOINT_UPPER])
        )
        inside = (lower < value) & (value < upper)
        at_limit = np.flatnonzero((lower < upper) & ~inside)
        return tuple(names.values[at][1] for at in at_limit.tolist())

    def result(self, q: Array, solve_time: float) -> SolveResult:
        """Put names to the numbers."""
        return SolveResult(
            status=self.status,
            iterations=self.iterations,
            starts=self.starts,
            solve_time=solve_time,
            goal_errors=self.goal_errors,
            closure_errors=self.closure_errors,
            active_limits=self.active_limits(q),
            tolerances=self.chain.names.named_tolerances(self.tolerances),
            closing_iterations=self.closing_iterations,
            characteristic_length=self.chain.characteristic_length,
            _look=lambda: self.chain.condition_number(q, self.joints, self.table, self.packed),
        )
