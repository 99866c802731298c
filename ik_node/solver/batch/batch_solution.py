"""The result of a batch as arrays, and of each of its problems as a solution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import index
from typing import NamedTuple, overload

from ik_node.display import public_names
from ik_node.errors import OptionError
from ik_node.kernels.layout import RECORD, RECORD_STARTS, RECORD_STATUS, RECORD_STEPS, RESULT
from ik_node.model.by_name import ByName
from ik_node.model.collisions import Collisions, Distance, Near
from ik_node.solver.batch.batch_work import BatchChain
from ik_node.solver.result import explained, PoseError, Solution, tolerances_in
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

NOTHING_NEAR: Array = np.zeros((0, 1 + RESULT))


class PoseErrors(NamedTuple):
    """
    The residual norms of a goal or closure in every problem, on its constrained axes.

    Attributes
    ----------
    position : ndarray, shape (N,)
        Norms of its position rows [m].
    orientation : ndarray, shape (N,)
        Norms of its orientation rows [rad].

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> goals = {'tool_link': ([(0.5, 0, 0.5)], [(0, 0, 0, 1)])}
    >>> ik.Solver(robot).solve_batch(goals).goal_errors['tool_link'].position.shape
    (1,)

    """

    position: Array
    orientation: Array


class BatchSolution:
    """
    The result of `Solver.solve_batch`, which does not change the robot.

    `batch[n]` is the `Solution` of problem n, and `len(batch)` is the number of problems.
    `batch['shoulder']` are the values of that joint, shape (N,) [rad or m].

    Attributes
    ----------
    q : ndarray, shape (N, nq)
        Joint values [rad or m], in the order of `Solver.joint_names`.
    status : ndarray, shape (N,)
        `Status` of the worst chain of each problem.
    iterations, starts : ndarray, shape (N,)
        Number of iterations and of starts, of the chain with the most.
    solve_time : float
        Time of the whole batch [s].

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> goals = {'tool_link': ([(0.5, 0, 0.5), (9, 0, 0)], [(0, 0, 0, 1)] * 2)}
    >>> ik.Solver(robot).solve_batch(goals).converged.tolist()
    [True, False]
    >>> batch = ik.Solver(robot).solve_batch(goals)
    >>> batch.message.split(';')[0], batch.as_dict()['j1'].shape, batch['j1'].shape
    ('1 CONVERGED, 1 STALLED', (2,), (2,))
    >>> batch.goal_errors['tool_link'].position.shape, batch.closure_errors, batch.rounding_gaps
    ((2,), {}, {})
    >>> batch.nearest  # no pairs of bodies count
    [None, None]

    """

    def __init__(
        self,
        q: Array,
        chains: Sequence[BatchChain],
        solve_time: float,
        joints: Array,
        packed: Array,
        names: Sequence[str],
        collisions: Collisions | None = None,
        near: Array = NOTHING_NEAR,
    ) -> None:
        self.q = q
        self._collisions, self.near = collisions, near
        self.solve_time = solve_time
        self._names = tuple(names)
        self._chains, self._joints, self._packed = list(chains), joints, packed
        self.status: Ints = self._most(RECORD_STATUS, Status.CONVERGED)
        self.iterations: Ints = self._most(RECORD_STEPS, 0)
        self.starts: Ints = self._most(RECORD_STARTS, 1)

    def _most(self, column: int, least: int) -> Ints:
        """Return the maximum over all chains of a column of the records, at least `least`."""
        most = np.full(len(self.q), least, dtype=np.int64)
        for chain in self._chains:
            np.maximum(most, chain.records[:, column].astype(np.int64), out=most)
        return most

    def __len__(self) -> int:
        return len(self.q)

    @overload
    def __getitem__(self, row: int) -> Solution: ...

    @overload
    def __getitem__(self, row: str) -> Array: ...

    def __getitem__(self, row: int | str) -> Solution | Array:
        if isinstance(row, str):
            return ByName('joint', self.as_dict())[row]
        try:
            at = index(row)
        except TypeError:
            raise OptionError('problem', row, 'a number, or the name of a joint') from None
        at += len(self) if at < 0 else 0
        if not 0 <= at < len(self):
            raise IndexError(f'problem {row} of {len(self)}')
        answers = [chain.answer(at, self._joints, self._packed) for chain in self._chains]
        spent = self.solve_time / len(self)
        return Solution(self.q[at].copy(), answers, spent, self._names, near=self._near(at))

    def _near(self, at: int) -> Near | None:
        if self._collisions is None or not len(self.near) or self.near[at, 0] < 0.0:
            return None
        return Near(self._collisions, int(self.near[at, 0]), self.near[at, 1:])

    @property
    def nearest(self) -> list[Distance | None]:
        """Return `Solution.nearest` of each problem."""
        found = map(self._near, range(len(self)))
        return [None if near is None else near.distance() for near in found]

    @property
    def records(self) -> list[Array]:
        """Return the results of the kernel for every chain, see `BatchChain.records`."""
        return [chain.records for chain in self._chains]

    def as_dict(self) -> dict[str, Array]:
        """Return the values of every joint in all problems, shape (N,) [rad or m], by name."""
        return dict(zip(self._names, self.q.T, strict=True))

    def __iter__(self) -> Iterator[Solution]:
        return (self[row] for row in range(len(self)))

    @property
    def converged(self) -> NDArray[np.bool_]:
        """
        Return True for each problem that converged, shape (N,).

        Examples
        --------
        >>> import ik_node as ik, numpy as np
        >>> robot = ik.load_robot('arm6')
        >>> goal = robot.add_goal('tool_link', name='tool', dof='X Y Z')
        >>> places = [[0.5, 0.2, 0.5], [9.0, 0.0, 0.0]]
        >>> ik.Solver(robot).solve_batch({'tool': np.array(places)}).converged.tolist()
        [True, False]

        """
        result: NDArray[np.bool_] = self.status == Status.CONVERGED
        return result

    @property
    def goal_errors(self) -> dict[str, PoseErrors]:
        """Return the residuals of every goal."""
        return self._errors(are_goals=True)

    @property
    def closure_errors(self) -> dict[str, PoseErrors]:
        """Return the residuals of every closure."""
        return self._errors(are_goals=False)

    def _errors(self, *, are_goals: bool) -> dict[str, PoseErrors]:
        result = {}
        for chain in self._chains:
            names = chain.chain.names
            for row, name in names.goals if are_goals else names.closures:
                at = RECORD + 2 * row
                result[name] = PoseErrors(chain.records[:, at], chain.records[:, at + 1])
        return result

    @property
    def rounding_gaps(self) -> dict[str, PoseError]:
        """Return the largest gap of each closure in `Solution.rounding_gaps` of any problem."""
        result = {}
        for chain in self._chains:
            own = tolerances_in(chain.table)
            for row, name in chain.chain.names.closures:
                at = RECORD + 2 * row
                errors = chain.records[self.converged, at : at + 2]
                over = errors[np.any(errors > own[row], axis=1)]
                if len(over):
                    result[name] = PoseError._make(over.max(axis=0).tolist())
        return result

    @property
    def message(self) -> str:
        """Return the number of problems with each status, and the first failure's message."""
        left = np.flatnonzero(~self.converged)
        if not left.size:
            return f'CONVERGED: all {len(self)}{explained(self.rounding_gaps)}'
        ends = Counter(self.status.tolist())
        counts = ', '.join(f'{ends[status]} {Status(status).name}' for status in sorted(ends))
        first = int(left[0])
        return f'{counts}; first {first}: {self[first].message}'

    _internal = ('near', 'records')
    __dir__ = public_names

    def __repr__(self) -> str:
        return f'<{type(self).__name__} of {len(self)}: {self.message}>'
