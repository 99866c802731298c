"""Every solution of a set of goals, or every way in which loops close."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

from ik_node.display import Rows, Tabular
from ik_node.errors import counted, OptionError
from ik_node.kernels.every_solution import (
    COUNT_BOUND,
    COUNT_CONTINUUM,
    COUNT_MOST,
    COUNT_STARTS,
    COUNT_WITHIN,
    FIELDS,
    FIXED,
    NUMBER_MISS,
    NUMBER_RESOLUTION,
    NUMBER_WANTED,
    SAMPLE,
    SCALARS,
    SIZES,
    STATE_COMPLETE,
    STATE_MOST,
    STATE_REFUSED,
    STATE_RUNNING,
)
from ik_node.kernels.kinds import KIND_DISTANCE, KIND_FRAME
from ik_node.kernels.layout import (
    CON_POSE,
    JOINT_LOWER,
    JOINT_UPPER,
    JOINT_WINDOW,
    lay_out,
    RECORD,
    RECORD_STARTS,
    RECORD_STATUS,
)
from ik_node.model.given import one_of, whole_number
from ik_node.native import bind
from ik_node.solver.problem.chain_problem import ChainProblem, TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.workspace import Workspace
from ik_node.solver.result import Solution, SolveResult, STATUSES
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Starts of one call of the kernel, after which Python checks the clock and handles Ctrl-C
# [starts times variables].
SLICE_WORK = 2000
# Starts after which a search ends, where a few solutions are hit much more often than others.
MOST_STARTS = 100_000
# Solutions that are kept beside those within the limits: outside solutions, which count in the
# statistic and lead to others.
OUTSIDE_ROOM = 200
# Axes are parallel, or intersect, up to this [rad or characteristic lengths].
ROUNDING = 1e-7
# Solutions of a continuum that are looked at for its dimension.
FEW = 5
SORTS = ('distance', 'condition', 'limits')


def largest_number(chain: ChainProblem, q: Array, rows: Array, packed: Array) -> int:
    """
    Return a number that isolated solutions of a chain cannot exceed, by theorem; 0 = not known.

    All joints of the chain are free.

    Six joints in series reach a pose in at most 16 ways (Primrose 1986), or in 8 if three
    consecutive axes are parallel or intersect in one point (Pieper 1968). A body with six legs
    between points has at most 40 assemblies (Ronga & Vust 1992), or 16 if two legs each end in the
    same of three points (Innocenti & Parenti-Castelli 1990).
    """
    arrays = Workspace(*chain.arrays)
    columns = list(range(6))
    if arrays.n != 6 or arrays.nv != 6 or sorted(arrays.var.tolist()) != columns:
        return 0
    # All of them carry one frame A, and none carries a frame B.
    carriers = []
    for j in set(arrays.a_column.tolist()):
        while j >= 0:
            carriers.append(j)
            j = int(arrays.parent[j])
    if sorted(carriers) != columns or (arrays.b_column >= 0).any():
        return 0
    if arrays.nc == 6 and (arrays.kind == KIND_DISTANCE).all():
        floats = arrays.prismatic[columns].tolist() == [1, 1, 1, 0, 0, 0]
        if not (floats and (arrays.ball[columns[3:]] > 0).all()):
            return 0
        ends = arrays.a_offset.reshape(-1, 12)[:, 9:], chain.table[:, CON_POSE : CON_POSE + 3]
        pairs = (np.unique(each.round(9), axis=0, return_counts=True)[1] for each in ends)
        return 16 if any(counts.tolist() == [2, 2, 2] for counts in pairs) else 40
    if arrays.nc != 1 or arrays.kind[0] != KIND_FRAME or arrays.mask[0] != 63:
        return 0
    space = Workspace.of(chain.flat)
    space.constraints[:] = chain.table.ravel()
    bind(*space.arrays).linearise(q.copy(), rows, packed)
    frames = space.frame.reshape(-1, 12)[columns]
    axes, points, slides = frames[:, 2:9:3], frames[:, 9:], arrays.prismatic[columns] == 1
    for three in (slice(k, k + 3) for k in range(4)):
        a, across = axes[three], np.linalg.norm(np.cross(axes[three][:2], axes[three][1:]), axis=1)
        # A point x on all of the axes has a x x = a x p.
        system = np.cross(a[:, None], np.eye(3)).transpose(0, 2, 1).reshape(-1, 3)
        moments = np.cross(a, points[three]).ravel()
        gaps = system @ np.linalg.lstsq(system, moments, rcond=None)[0] - moments
        meet = across.min() > 1e-3 and np.abs(gaps).max() < ROUNDING
        if (meet or across.max() < ROUNDING) and not slides[three].any():
            return 8
    return 16


class Found(NamedTuple):
    """What the search of one chain found."""

    q: Array  # (n, nq) [rad or m]
    dimensions: tuple[int, ...]  # of the continuum that they belong to, for each chain
    miss: float  # bound on the probability that one has been missed
    starts: int
    stopped: str


class Solutions(Tabular, Sequence[Solution]):
    """
    All solutions that `Solver.solve_all` found; `found[i]` is one of them as a `Solution`.

    Attributes
    ----------
    q : ndarray, shape (n, nq)
        Joint values [rad or m], in the order that `sort` asks for.
    dimension : int
        0 = the solutions are isolated. k > 0: they form a continuum of dimension k, and `q` is a
        sample of it that is spread evenly.
    miss : float
        Bound on the probability that at least one isolated solution has not been found; 1 for a
        continuum.
    starts : int
        Starts made.
    stopped : {'complete', 'seconds', 'most', 'starts'}
        Why the search ended: the miss probability is low enough (or the sample of a continuum is
        complete), the time is up, there are more solutions than `most`, or 100,000 starts were
        made.
    solve_time : float
        Time of the search [s].
    in_contact : ndarray, shape (m, nq)
        Solutions in which bodies are nearer than the margin [rad or m]. They are not in `q` if
        collisions are avoided, and none are looked for otherwise.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> found = ik.Solver(robot).solve_all({'tool_link': ((0.5, 0.2, 0.5), (0, 0, 0, 1))})
    >>> found.stopped, found.dimension, found[0].converged, found.miss <= 1e-3
    ('complete', 0, True, True)
    >>> len(found) == len(found.q) == len(found.condition) == len(found.residual)
    True
    >>> found.starts > len(found), found.solve_time > 0.0
    (True, True)

    """

    def __init__(
        self,
        problem: Problem,
        rows: Array,
        packed: Array,
        found: Found,
        sort: str,
        q0: Array,
        solve_time: float,
        modes: Callable[[], Any],
    ) -> None:
        self._chains = [(chain, chain.table.copy()) for chain in problem.chains]
        self._names, self._table, self._packed = problem.tree.names, rows.copy(), packed.copy()
        self.q, self._dimensions, self.miss, self.starts, self.stopped = found
        self.dimension = sum(self._dimensions)
        self._avoidance, self.in_contact = problem.avoidance, self.q[:0]
        if self._avoidance is not None:
            free = np.array([self._avoidance.is_free(q) for q in self.q], bool)
            self.q, self.in_contact = self.q[free], self.q[~free]
        self.solve_time, self._modes = solve_time, modes
        self.q = self.q[self._order(sort, q0, problem.units).argsort(kind='stable')]
        self.q.flags.writeable = False
        vars(self).pop('_numbers', None)  # those of the unsorted solutions

    def _order(self, sort: str, q0: Array, units: Array) -> Array:
        """Return the numbers by which the solutions are sorted."""
        if sort == 'condition':
            return -self.condition
        if sort == 'limits':
            lower, upper = self._table[[JOINT_LOWER, JOINT_UPPER]]
            room = np.minimum(self.q - lower, upper - self.q) / units
            room[:, self._table[JOINT_WINDOW] == 0.0] = np.inf
            return np.asarray(-room.min(axis=1, initial=np.inf))
        away = (self.q - q0) / units
        return np.asarray((away * away).sum(axis=1))

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[k] for k in range(len(self))[at]]
        q = self.q[at].copy()
        answers = []
        for chain, poses in self._chains:
            _, _, errors = chain.linearise_by_size(q, self._table, self._packed, poses)
            head = np.zeros(RECORD)
            head[RECORD_STATUS], head[RECORD_STARTS] = STATUSES.index(Status.CONVERGED), 1
            record = np.concatenate((head, errors, poses.ravel()))
            answers.append(SolveResult(chain, record, self._table, self._packed))
        near = None if self._avoidance is None else self._avoidance.nearest(q)
        return Solution(q, answers, self.solve_time, self._names, nearest=near)

    def describe(self) -> str:
        """Return the number of solutions, and the dimension of a continuum."""
        what = counted(len(self), 'solution')
        return f'a continuum of dimension {self.dimension}: {what}' if self.dimension else what

    def _headline(self) -> str:
        what = self.describe()
        ended = {
            'complete': '',
            'seconds': '; the time is up',
            'most': '; there may be more',
            'starts': '; no more starts are made',
        }
        miss = '' if self.dimension else f'; one is missed with a probability of {self.miss:.1g}'
        if len(self.in_contact):
            miss += f'; {counted(len(self.in_contact), "other")} in contact'
        return f'Solutions: {what} from {counted(self.starts, "start")}{miss}{ended[self.stopped]}'

    def _rows(self) -> Rows:
        rows = zip(self.q, self.condition, self.mode, strict=True)
        return [
            ('', 'mode', 'condition', *self._names),
            *(
                (f'{k}', m, f'{c:.3g}', *(f'{v:.4g}' for v in q))
                for k, (q, c, m) in enumerate(rows)
            ),
        ]

    @cached_property
    def _numbers(self) -> tuple[Array, Array]:
        """Return condition and residual of every solution."""
        condition, residual = np.full(len(self), np.inf), np.zeros(len(self))
        for n, q in enumerate(self.q):
            for (chain, poses), dimension in zip(self._chains, self._dimensions, strict=True):
                rest, jacobian, _ = chain.linearise_by_size(q, self._table, self._packed, poses)
                free = self._table[JOINT_WINDOW, chain.flat.var_q] > 0.0
                values = np.linalg.svd(jacobian[:, free], compute_uv=False)
                rank = min(values.size, int(free.sum()) - dimension)
                if rank > 0:
                    condition[n] = min(condition[n], values[rank - 1])
                residual[n] = max(residual[n], np.abs(rest).max(initial=0.0))
        return condition, residual

    @property
    def condition(self) -> Array:
        """
        Return the smallest singular value of the Jacobian of all rows, shape (n,).

        In [rad] and characteristic lengths; near 0 = a double root, which is badly conditioned.
        Zeros that belong to a continuum do not count.
        """
        return self._numbers[0]

    @cached_property
    def mode(self) -> NDArray[np.str_]:
        """Return the label of the mode of each, shape (n,), see `Solver.mode_of`."""
        labels: NDArray[np.str_] = self._modes().labels(self.q)
        return labels

    @property
    def residual(self) -> Array:
        """Return the largest residual of each, shape (n,) [rad or characteristic lengths]."""
        return self._numbers[1]


def solve_all(
    problem: Problem,
    joints: JointTable,
    rows: Array,
    packed: Array,
    q: Array,
    *,
    resolution: float,
    miss: float,
    seconds: float | None,
    most: int,
    sort: str,
    modes: Callable[[], Any],
) -> Solutions:
    """
    Search every chain, and combine what is found; see `Solver.solve_all`.

    `q` (nq,): start [rad or m]; `rows`, `packed`: joint table and options. `modes`: function that
    returns the modes of the mechanism.
    """
    one_of('sort', sort, SORTS)
    most = whole_number('most', most, 1)
    for name, value in (('resolution', resolution), ('miss', miss)):
        if not 0.0 < value < 1.0:
            raise OptionError(name, value, 'a number between 0 and 1')
    if seconds is not None and not seconds > 0.0:
        raise OptionError('seconds', seconds, 'a time above 0, or None')
    started = perf_counter()
    ends = 0.0 if seconds is None else started + seconds
    share, each = miss / max(1, len(problem.chains)), []
    for chain in problem.chains:
        if chain.search is None or chain.search.most != most:
            chain.search = Search(chain, most)
        each.append(chain.search.run(chain, (q, rows, packed), resolution, share, ends))
    together = each[0] if len(each) == 1 else _combined(each, q, most)
    for one in together.q if joints.followers else ():
        joints.follow(one)
    spent = perf_counter() - started
    return Solutions(problem, rows, packed, together, sort, q, spent, modes)


def _combined(each: Sequence[Found], q: Array, most: int) -> Found:
    """Return the solutions of independent chains in all combinations, at most `most`."""
    together = Found(q[None], (), 0.0, 0, 'complete')
    for own in each:
        pairs = [(a, b) for a in range(len(together.q)) for b in range(len(own.q))][:most]
        first, second = np.array(pairs, dtype=int).reshape(-1, 2).T
        # Chains move different values, and the others are those of q.
        joined = np.where(own.q[second] != q, own.q[second], together.q[first])
        both = {together.stopped, own.stopped}
        if len(together.q) * len(own.q) > most:
            both.add('most')
        together = Found(
            joined,
            together.dimensions + own.dimensions,
            min(1.0, together.miss + own.miss),
            together.starts + own.starts,
            next((why for why in ('seconds', 'starts', 'most') if why in both), 'complete'),
        )
    return together


class Search:
    """
    The arrays of a search for all solutions of one chain, which the next search uses again.

    It ends after `most` solutions within the limits.
    """

    def __init__(self, chain: ChainProblem, most: int) -> None:
        self.most, self._bound = most, (b'', -1)
        nq, nv = len(chain.tree.names), len(chain.names.values)
        sizes = {'nq': nq, 'nv': nv, 'room': most + OUTSIDE_ROOM}
        begins, totals = lay_out({**sizes, **FIXED}, FIELDS, len(SIZES) + len(FIELDS))
        self._plan, self._data = np.zeros(totals['p'], dtype=np.int64), np.zeros(totals['d'])
        named = {**sizes, 'p_size': totals['p'], 'd_size': totals['d']}
        head = [named[name] for name in SIZES] + [begins[name] for name in FIELDS]
        self._plan[: len(head)] = head
        self._counts = self._plan[begins['counts'] : begins['hits']]
        self._numbers = self._data[begins['numbers'] :][:SCALARS]
        self._answers = self._data[begins['answers'] :][: nq * sizes['room']].reshape(-1, nq)
        self._starts = max(1, SLICE_WORK // max(1, nv))

    def run(
        self,
        chain: ChainProblem,
        start: tuple[Array, Array, Array],
        resolution: float,
        miss: float,
        ends: float,
    ) -> Found:
        """
        Search until it is complete or the time `ends` [s]; 0 = no end.

        `start`: q, joint table and packed options.
        """
        q, rows, packed = start
        counts, numbers, state = self._counts, self._numbers, STATE_RUNNING
        counts[:], numbers[:] = 0, 0.0
        counts[COUNT_MOST] = self.most
        numbers[NUMBER_RESOLUTION], numbers[NUMBER_WANTED] = resolution, miss
        if (rows[JOINT_WINDOW, chain.flat.var_q] > 0.0).all():
            ends_of_legs = chain.table[1:, CON_POSE : CON_POSE + 3].tobytes()
            if self._bound[1] < 0 or self._bound[0] != ends_of_legs:
                self._bound = ends_of_legs, largest_number(chain, q, rows, packed)
            counts[COUNT_BOUND] = self._bound[1]
        while state == STATE_RUNNING:
            state = chain.kernels.find_solutions(*start, self._plan, self._data, self._starts)
            if counts[COUNT_STARTS] >= MOST_STARTS or (ends and perf_counter() >= ends):
                break
        if state == STATE_REFUSED:
            chain.refuse(q, TABLE_POSES)
        answers = self._answers[: counts[COUNT_WITHIN]].copy()
        dimension = int(counts[COUNT_CONTINUUM])
        if dimension and len(answers):
            # Where branches meet there are more motions.
            few = answers[:FEW]
            dimension = max(1, min(chain.motions(each, rows, packed).shape[1] for each in few))
        ended = 'starts' if counts[COUNT_STARTS] >= MOST_STARTS else 'seconds'
        stopped = {STATE_COMPLETE: 'complete', STATE_MOST: 'most'}.get(state, ended)
        if stopped == 'most' and dimension > 0 and self.most >= SAMPLE:
            stopped = 'complete'
        miss = 1.0 if dimension else float(numbers[NUMBER_MISS])
        starts = int(counts[COUNT_STARTS])
        return Found(answers, (dimension,), miss, starts, stopped)
