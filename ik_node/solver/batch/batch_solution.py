"""The results of batches and paths as arrays, and of each problem as a solution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import index
from typing import Any, NamedTuple, overload

from ik_node.display import public_names
from ik_node.errors import OptionError
from ik_node.kernels import solve_state as now
from ik_node.kernels.layout import CON_POSE, RECORD, RECORD_STARTS, RECORD_STATUS, RECORD_STEPS
from ik_node.kernels.options import COMPROMISE
from ik_node.kernels.path import BOUNDED, TOO_FAST, TORN
from ik_node.model.attributes import ByName
from ik_node.model.collisions import Distance
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.result import (
    explained,
    misfits_in,
    PoseError,
    Solution,
    SolveResult,
    tolerances_in,
)
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class BatchChain(NamedTuple):
    """
    The poses and results of many problems of one chain.

    `chain`: the chain. `table` (nc, 20): constraint table; the poses of the goals in it are not
    used. `positions`, `quats_xyzw` (N, k, 3): poses of its k goals [m], in order. `records` (N,
    RECORD + 2 nc): results: RECORD_*, then the residual norms of every constraint [m], [rad].
    """

    chain: ChainProblem
    table: Array
    positions: Array
    quats_xyzw: Array
    records: Array

    def workspace(self) -> ChainProblem:
        """Return the chain with a workspace of its own, of which each thread needs one."""
        own = self.chain.with_own_workspace()
        own.work_ints[now.PHASE] = now.PHASE_DONE
        return own

    def part(self, rows: slice) -> BatchChain:
        """Return some of the problems as views, so that results are written to this one."""
        arrays = (self.positions[rows], self.quats_xyzw[rows], self.records[rows])
        return BatchChain(self.chain, self.table, *arrays)

    def answer(self, row: int, joints: Array, packed: Array) -> SolveResult:
        """Return the result of one problem in the form of a single solve."""
        table = self.table.copy()
        goals = table[len(table) - self.positions.shape[1] :]  # they are the last constraints
        goals[:, CON_POSE : CON_POSE + 3] = self.positions[row]
        goals[:, CON_POSE + 3 : CON_POSE + 7] = self.quats_xyzw[row]
        record = np.concatenate((self.records[row], table.ravel()))
        return SolveResult(self.chain, record, joints, packed)


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
    nearest : list of Distance or None
        `Solution.nearest` of each problem.
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
        nearest: Sequence[Distance | None],
    ) -> None:
        self.q = q
        self.nearest, self.solve_time = list(nearest), solve_time
        self._names = tuple(names)
        self._chains, self._joints, self._packed = list(chains), joints, packed
        self.status: Ints = self._largest(RECORD_STATUS, Status.CONVERGED)
        self.iterations: Ints = self._largest(RECORD_STEPS, 0)
        self.starts: Ints = self._largest(RECORD_STARTS, 1)

    def _largest(self, column: int, least: int) -> Ints:
        """Return the maximum over all chains of a column of the records, at least `least`."""
        largest = np.full(len(self.q), least, dtype=np.int64)
        for chain in self._chains:
            np.maximum(largest, chain.records[:, column].astype(np.int64), out=largest)
        return largest

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
        return Solution(self.q[at].copy(), answers, spent, self._names, nearest=self.nearest[at])

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
        return {name: PoseErrors(*each.T) for name, each, _, _ in self._each(goals=True)}

    @property
    def closure_errors(self) -> dict[str, PoseErrors]:
        """Return the residuals of every closure."""
        return {name: PoseErrors(*each.T) for name, each, _, _ in self._each(goals=False)}

    def _each(self, *, goals: bool) -> Iterator[tuple[str, Array, Array, Array]]:
        """Yield name, residual norms (N, 2), own tolerances (2,) and those that count as met."""
        for chain in self._chains:
            names, own = chain.chain.names, tolerances_in(chain.table)
            met = own + misfits_in(chain.table)
            for row, name in names.goals if goals else names.closures:
                first = RECORD + 2 * row
                yield name, chain.records[:, first : first + 2], own[row], met[row]

    @property
    def rounding_gaps(self) -> dict[str, PoseError]:
        """Return the largest gap of each closure in `Solution.rounding_gaps` of any problem."""
        result = {}
        for name, errors, own, _ in self._each(goals=False):
            over = errors[self.converged & np.any(errors > own, axis=1)]
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

    _internal = ('records',)
    __dir__ = public_names

    def __repr__(self) -> str:
        return f'<{type(self).__name__} of {len(self)}: {self.message}>'


class PathSolution(BatchSolution):
    """
    The result of `Solver.solve_path`, which does not change the robot.

    `path[n]` is the `Solution` of point n, and `len(path)` is the number of points.

    Attributes
    ----------
    q : ndarray, shape (N, nq)
        Joint values [rad or m], in the order of `Solver.joint_names`.
    times : ndarray, shape (N,)
        Time of each point [s], such that no joint exceeds its largest speed.
    velocity : ndarray, shape (N, nq)
        Mean velocity from the point before [rad/s or m/s]; the first row is zero.
    longer : ndarray, shape (N,), bool
        True if the step to the point takes longer than requested.
    status, iterations, starts : ndarray, shape (N,)
        As in `BatchSolution`; iterations are the sum over all solves of the step to the point.
    torn : ndarray, shape (N,), bool
        True if joints would have to jump to reach the point.
    bounded : ndarray, shape (N,), bool
        True if a largest speed or acceleration held a joint back, with `keep_times`.
    too_fast : ndarray, shape (N,), bool
        True if loops are closed, or bodies kept apart, only beyond the largest acceleration.
    solve_time : float
        Time of the whole path [s].

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> goals = {'tool_link': ([(0.5, 0, 0.5), (0.5, 0.01, 0.5)], [(0, 0, 0, 1)] * 2)}
    >>> path = ik.Solver(robot).solve_path(goals, dt=0.5, stay_in_mode=True)
    >>> path.times.tolist(), path.left_mode.tolist()
    ([0.0, 0.5], [False, False])

    """

    def __init__(self, times: tuple[Array, Bools], flags: Ints, q: Array, *batch: Any) -> None:
        super().__init__(q, *batch)
        self.times, self.longer = times
        self.torn: Bools = (flags & TORN) > 0
        self.bounded: Bools = (flags & BOUNDED) > 0
        self.too_fast: Bools = (flags & TOO_FAST) > 0
        # Labels of the modes (N,), of which that of the first point is to be kept.
        self._labels = np.full(len(q), '')
        self.velocity: Array = np.zeros_like(q)
        self.velocity[1:] = np.diff(q, axis=0) / np.diff(self.times)[:, None]

    @property
    def left_mode(self) -> Bools:
        """Return True from the first point (N,) on in another mode, with `stay_in_mode`."""
        return np.asarray(np.logical_or.accumulate(self._labels != self._labels[:1]))

    @property
    def solved(self) -> Bools:
        """
        Return True for each point (N,) that is an answer.

        All goals are met; or, with the option `compromise`, the residual is the least one near the
        point before, with closed loops. With `stay_in_mode`, in the mode of the first point.
        """
        done: Bools = self.converged
        if self._packed[COMPROMISE] > 0.0:
            closed = [(e <= met).all(axis=1) for _, e, _, met in self._each(goals=False)]
            stalled = self.status == Status.STALLED
            done = done | np.logical_and.reduce([stalled, *closed])
        return done & ~self.left_mode

    @property
    def failures(self) -> list[tuple[int, int]]:
        """
        Return the first and last point of every stretch of the path that was not solved.

        Examples
        --------
        >>> import ik_node as ik, numpy as np
        >>> robot = ik.load_robot('arm6')
        >>> goal = robot.add_goal('tool_link', name='tool', dof='X Y Z')
        >>> way = np.linspace((0.5, 0.2, 0.5), (9.0, 0.2, 0.5), 4)
        >>> [each[:2] for each in ik.Solver(robot).solve_path({'tool': way}, dt=0.1).failures]
        [(1, 3)]

        """
        left = np.flatnonzero(~self.solved)
        cuts = np.flatnonzero(np.diff(left) > 1) + 1
        return [(int(part[0]), int(part[-1])) for part in np.split(left, cuts) if part.size]

    @property
    def message(self) -> str:
        """Return a sentence with the unsolved stretches and their reasons, and slowed steps."""
        parts = []
        for first, last in self.failures[:3]:
            where = f'point {first}' if first == last else f'points {first} to {last}'
            parts.append(f'{where}: {self.why(first)}')
        more = len(self.failures) - 3
        parts += [f'and {more} more stretches'] if more > 0 else []
        if parts:
            text = f'{int((~self.solved).sum())} of {len(self)} not solved; ' + '; '.join(parts)
        elif self.converged.all():
            text = f'{Status.CONVERGED.name}: all {len(self)}{explained(self.rounding_gaps)}'
        else:
            text = f'{len(self)} frames, {int(self.converged.sum())} of them meet all goals'
        slowed = int(self.longer.sum())
        return text + (f'; {slowed} steps take longer than requested' if slowed else '')

    def why(self, point: int) -> str:
        """
        Return the reason why a point was not solved.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> goals = {'tool_link': ([(0.5, 0, 0.5), (9, 0, 0)], [(0, 0, 0, 1)] * 2)}
        >>> path = ik.Solver(robot).solve_path(goals)
        >>> path.failures, path.why(1).split(':')[0]
        ([(1, 1)], 'STALLED')
        >>> path.solved.tolist()
        [True, False]

        """
        if self.left_mode[point]:
            return f'the path leaves mode {self._labels[0]}, for {self._labels[point]}'
        why = self[point].message
        if self.torn[point]:
            return f'{why}; from this point on joints would have to jump'
        if self.bounded[point]:
            return f'{why}; a largest speed or acceleration holds joints back'
        return why


class PathsSolution(list[PathSolution]):
    """
    The result of `Solver.solve_paths`: `paths[p]` is the `PathSolution` of path p.

    Attributes
    ----------
    q : ndarray, shape (T, nq)
        Joint values of all frames of all paths, in a row [rad or m].
    first : ndarray, shape (P + 1,)
        First frame of each path, and T.
    solve_time : float
        Time of all paths [s].

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> path = {'tool_link': ([(0.5, 0, 0.5), (0.5, 0.01, 0.5)], [(0, 0, 0, 1)] * 2)}
    >>> paths = ik.Solver(robot).solve_paths([path, path])
    >>> paths.failures, paths.message
    ([], 'all 2 paths of 4 frames solved')

    """

    def __init__(
        self, paths: Sequence[PathSolution], q: Array, first: Ints, solve_time: float
    ) -> None:
        super().__init__(paths)
        self.q, self.first, self.solve_time = q, first, solve_time

    @property
    def failures(self) -> list[tuple[int, int, int, str]]:
        """Return path, first and last frame, and reason of every stretch that was not solved."""
        return [
            (index, first, last, path.why(first))
            for index, path in enumerate(self)
            for first, last in path.failures
        ]

    @property
    def message(self) -> str:
        """Return a sentence with the number of paths, and the first failures."""
        failed = [index for index, path in enumerate(self) if path.failures]
        if not failed:
            return f'all {len(self)} paths of {len(self.q)} frames solved'
        parts = [f'path {index}: {self[index].message}' for index in failed[:3]]
        more = [f'and {len(failed) - 3} more paths'] if len(failed) > 3 else []
        return '; '.join([f'{len(failed)} of {len(self)} paths not solved', *parts, *more])

    __dir__ = public_names

    def __repr__(self) -> str:
        return f'<{type(self).__name__}: {self.message}>'
