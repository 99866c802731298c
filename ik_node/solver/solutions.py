"""Every solution of a set of goals, or every way in which loops close."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

from ik_node.display import Rows, Tabular
from ik_node.errors import counted
from ik_node.kernels import every_solution as every
from ik_node.kernels import layout
from ik_node.kernels.kinds import KIND_DISTANCE, KIND_FRAME
from ik_node.kernels.solve_state import STATUS_CONVERGED
from ik_node.solver.modes import Modes
from ik_node.solver.problem.chain_problem import ChainProblem, TABLE_POSES
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.workspace import Workspace
from ik_node.solver.result import Solution, SolveResult
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
# What the table of solutions says about why the search ended; of several chains the last one says.
ENDED = {
    'complete': [],
    'most': ['there may be more'],
    'starts': ['no more starts are made'],
    'seconds': ['the time is up'],
}


def largest_number(chain: ChainProblem) -> int:
    """
    Return a number that isolated solutions of a chain cannot exceed, by theorem; 0 = not known.

    All joints of the chain are free.

    Six joints in series reach a pose in at most 16 ways (Primrose 1986), or in 8 if three
    consecutive axes are parallel or intersect in one point (Pieper 1968). A body with six legs
    between points has at most 40 assemblies (Ronga & Vust 1992), or 16 if two legs each end in the
    same of three points (Innocenti & Parenti-Castelli 1990).
    """
    arrays = Workspace(*chain.arrays)
    six = arrays.n == arrays.nv == len(set(arrays.var.tolist())) == 6
    # All of them carry one frame A, and none carries a frame B.
    serial = six and arrays.parent.tolist() == [-1, 0, 1, 2, 3, 4] and (arrays.a_column == 5).all()
    if not serial or (arrays.b_column >= 0).any():
        return 0
    if arrays.nc == 6 and (arrays.kind == KIND_DISTANCE).all():
        floats = arrays.prismatic.tolist() == [1, 1, 1, 0, 0, 0]
        if not (floats and (arrays.ball[3:] > 0).all()):
            return 0
        ends = arrays.a_offset.reshape(-1, 12)[:, 9:], chain.table[:, layout.CON_POSE :][:, :3]
        pairs = (np.unique(each.round(9), axis=0, return_counts=True)[1] for each in ends)
        return 16 if any(counts.tolist() == [2, 2, 2] for counts in pairs) else 40
    if arrays.nc != 1 or arrays.kind[0] != KIND_FRAME or arrays.mask[0] != 63:
        return 0
    turn, point, lines = np.eye(3), np.zeros(3), []
    for offset in arrays.offset.reshape(-1, 12):
        turn, point = turn @ offset[:9].reshape(3, 3), point + turn @ offset[9:]
        # A point x / w of the axis a has a x x = w (a x p); parallel axes meet where w = 0.
        a = turn[:, 2]
        lines.append(np.column_stack((np.cross(a, np.eye(3)).T, -np.cross(a, point))))
    for k in range(4):
        smallest = np.linalg.svd(np.concatenate(lines[k : k + 3]), compute_uv=False)[-1]
        if smallest < ROUNDING and not arrays.prismatic[k : k + 3].any():
            return 8
    return 16


class Found(NamedTuple):
    """The solutions of the chains that have been searched so far."""

    q: Array  # (n, nq) [rad or m]
    dimensions: tuple[int, ...] = ()  # of the continuum that they belong to, for each chain
    miss: float = 0.0  # bound on the probability that one has been missed
    starts: int = 0
    stopped: str = 'complete'


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
        start: tuple[Array, Array, Array],
        found: Found,
        sort: str,
        solve_time: float,
        modes: Callable[[], Modes],
    ) -> None:
        q0, rows, packed = start
        self._chains = [(chain, chain.table.copy()) for chain in problem.chains]
        self._names, self._table, self._packed = problem.tree.names, rows.copy(), packed.copy()
        self.q, self._dimensions, self.miss, self.starts, self.stopped = found
        self.dimension, self.solve_time, self._modes = sum(self._dimensions), solve_time, modes
        self._avoidance, self.in_contact = problem.avoidance, self.q[:0]
        if self._avoidance is not None:
            free = np.array([self._avoidance.is_free(q) for q in self.q], dtype=bool)
            self.q, self.in_contact = self.q[free], self.q[~free]
        if sort == 'condition':
            last = -self.condition
        elif sort == 'limits':
            lower, upper = rows[[layout.JOINT_LOWER, layout.JOINT_UPPER]]
            room = np.minimum(self.q - lower, upper - self.q) / problem.units
            last = -room[:, rows[layout.JOINT_WINDOW] != 0.0].min(axis=1, initial=np.inf)
        else:
            last = (((self.q - q0) / problem.units) ** 2).sum(axis=1)
        self.q = self.q[last.argsort(kind='stable')]
        self.q.flags.writeable = False
        vars(self).pop('_numbers', None)  # those of the unsorted solutions

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[k] for k in range(len(self))[at]]
        q = self.q[at].copy()
        answers = []
        for chain, poses in self._chains:
            _, _, errors = chain.linearise_by_size(q, self._table, self._packed, poses)
            head = np.zeros(layout.RECORD)
            head[layout.RECORD_STATUS], head[layout.RECORD_STARTS] = STATUS_CONVERGED, 1
            record = np.concatenate((head, errors, poses.ravel()))
            answers.append(SolveResult(chain, record, self._table, self._packed))
        near = None if self._avoidance is None else self._avoidance.nearest(q)
        return Solution(q, answers, self.solve_time, self._names, nearest=near)

    def describe(self) -> str:
        """Return the number of solutions, and the dimension of a continuum."""
        what = counted(len(self), 'solution')
        return f'a continuum of dimension {self.dimension}: {what}' if self.dimension else what

    def _headline(self) -> str:
        parts = [f'Solutions: {self.describe()} from {counted(self.starts, "start")}']
        if not self.dimension:
            parts.append(f'one is missed with a probability of {self.miss:.1g}')
        if len(self.in_contact):
            parts.append(f'{counted(len(self.in_contact), "other")} in contact')
        return '; '.join(parts + ENDED[self.stopped])

    def _rows(self) -> Rows:
        rows = enumerate(zip(self.mode, self.condition, self.q, strict=True))
        return [
            ('', 'mode', 'condition', *self._names),
            *((f'{k}', m, f'{c:.3g}', *(f'{v:.4g}' for v in q)) for k, (m, c, q) in rows),
        ]

    @cached_property
    def _numbers(self) -> tuple[Array, Array]:
        """Return condition and residual of every solution."""
        condition, residual = np.full(len(self), np.inf), np.zeros(len(self))
        for n, q in enumerate(self.q):
            for (chain, poses), dimension in zip(self._chains, self._dimensions, strict=True):
                rest, jacobian, _ = chain.linearise_by_size(q, self._table, self._packed, poses)
                free = self._table[layout.JOINT_WINDOW, chain.flat.var_q] > 0.0
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
        return self._modes().labels(self.q)

    @property
    def residual(self) -> Array:
        """Return the largest residual of each, shape (n,) [rad or characteristic lengths]."""
        return self._numbers[1]


class Search:
    """The arrays of a search of a chain for `most` solutions, which the next search uses again."""

    def __init__(self, chain: ChainProblem, most: int) -> None:
        self.most, nq, nv = most, len(chain.tree.names), len(chain.names.values)
        view = Workspace.new(every, nq=nq, nv=nv, room=most + OUTSIDE_ROOM)
        self._arrays, self._counts, self._numbers = view.arrays, view.counts, view.numbers
        self._of_kinds, self._answers = (view.turn, view.gain, view.work), view.answers
        self._starts, self._bound = max(1, SLICE_WORK // max(1, nv)), (b'unknown', 0)

    def run(
        self,
        chain: ChainProblem,
        found: Found,
        start: tuple[Array, Array, Array],
        resolution: float,
        miss: float,
        ends: float,
    ) -> Found:
        """
        Return what was found in other chains in all combinations with the solutions of this one.

        `start`: q, joint table and packed options. `ends`: time at which the search ends [s].
        """
        q, rows, packed = start
        counts, numbers, state = self._counts, self._numbers, every.STATE_RUNNING
        for array in (counts, numbers, *self._of_kinds):
            array[:] = 0
        counts[every.COUNT_MOST] = self.most
        numbers[every.NUMBER_RESOLUTION], numbers[every.NUMBER_WANTED] = resolution, miss
        if (rows[layout.JOINT_WINDOW, chain.flat.var_q] > 0.0).all():
            # Where a single goal is does not matter; where legs end does.
            ends_of_legs = chain.table[len(chain.table) == 1 :, layout.CON_POSE :][:, :3].tobytes()
            if self._bound[0] != ends_of_legs:
                self._bound = ends_of_legs, largest_number(chain)
            counts[every.COUNT_BOUND] = self._bound[1]
        while state == every.STATE_RUNNING:
            state = chain.kernels.find_solutions(*start, *self._arrays, self._starts)
            if counts[every.COUNT_STARTS] >= MOST_STARTS or perf_counter() >= ends:
                break
        if state == every.STATE_REFUSED:
            chain.refuse(q, TABLE_POSES)
        own = self._answers.reshape(-1, q.size)[: counts[every.COUNT_WITHIN]].copy()
        starts, dimension = int(counts[every.COUNT_STARTS]), int(counts[every.COUNT_CONTINUUM])
        if dimension and len(own):
            # Where branches meet there are more motions.
            few = own[:FEW]
            dimension = max(1, min(chain.motions(each, rows, packed).shape[1] for each in few))
        why, is_sample = 'complete', dimension > 0 and self.most >= every.SAMPLE
        count = len(found.q) * len(own)
        if state == every.STATE_RUNNING:
            why = 'starts' if starts >= MOST_STARTS else 'seconds'
        elif (state == every.STATE_MOST and not is_sample) or count > self.most:
            why = 'most'
        if found.dimensions:
            first, second = divmod(np.arange(min(count, self.most)), max(1, len(own)))
            # Chains move different values, and the others are those of q.
            own = np.where(own[second] != q, own[second], found.q[first])
        return Found(
            own,
            (*found.dimensions, dimension),
            min(1.0, found.miss + (1.0 if dimension else float(numbers[every.NUMBER_MISS]))),
            found.starts + starts,
            max(found.stopped, why, key=list(ENDED).index),
        )
