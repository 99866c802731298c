"""What all problems of a batch or path share, and the checks of their poses and starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, NoReturn

from ik_node.errors import OptionError, ShapeError
from ik_node.kernels import layout
from ik_node.kernels import path as path_kernel
from ik_node.kernels import solve_state as now
from ik_node.model.collisions import Collisions
from ik_node.model.given import numbers
from ik_node.model.pose_forms import position_and_quat
from ik_node.native import BoundKernels
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import MOST_NORM, unit_pose
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.workspace import bind_chain
from ik_node.solver.result import SolveResult
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
ManyPoses = Mapping[str, tuple[ArrayLike, ArrayLike]]
Poses = Mapping[str, tuple[Array, Array]]


def many_poses(
    goals: ManyPoses, problem: Problem | None = None, first: int = 0
) -> dict[str, tuple[Array, Array]]:
    """
    Return copies of the poses of each goal, with the quaternions normalised.

    `goals`: shapes (N, 3) [m] and (N, 4), or another form of `position_and_quat`. `problem`: the
    problem with these goals, some of which may need positions only; None = all of them need
    orientations. Raises ShapeError if a shape is wrong, the goals have different N, a number is
    not finite, or a quaternion is zero.
    """
    read = {}
    for name, pose in goals.items():
        turns = problem is None or problem.request_of_goal(name).uses_orientation
        read[name] = _poses(name, pose, turns, first)
    counts = {name: len(positions) for name, (positions, _) in read.items()}
    if len(set(counts.values())) > 1:
        got = ', '.join(f'{count} for {name!r}' for name, count in counts.items())
        raise ShapeError('goals', 'as many poses for one goal as for the other', got)
    return read


def many_starts(q0: ArrayLike, count: int | None, names: Sequence[str]) -> tuple[Array, int]:
    """
    Return the starts, (1, nq) or (N, nq) [rad or m], and the number N of problems.

    `q0` (nq,): one start, or one per problem [rad or m]. `count`: number N of problems; None = the
    number of rows of q0. Raises ShapeError if the shape is wrong or a number is not finite.
    """
    width = len(names)
    given = numbers('q0', q0)
    one = given.ndim == 1
    rows = 'N' if count is None else str(count)
    if given.shape[-1:] != (width,) or given.ndim > 2 or (one and count is None):
        raise ShapeError('q0', _shapes(width, rows, single=count is not None), f'{given.shape}')
    if not one and count is not None and len(given) != count:
        raise ShapeError('q0', _shapes(width, rows, single=True), f'{given.shape}')
    fair = np.isfinite(np.atleast_2d(given)).all(axis=1)
    if not fair.all():
        row = int(np.argmin(fair))
        bad = [n for n, v in zip(names, np.atleast_2d(given)[row], strict=True) if not isfinite(v)]
        where = 'q0' if one else f'q0 in row {row}'
        raise ShapeError(where, 'finite numbers', f'NaN or infinity for {", ".join(bad)}')
    return np.atleast_2d(given), len(given) if count is None else count


def _poses(name: str, pose: Any, turns: bool, first: int) -> tuple[Array, Array]:
    """Return copies of the poses of one goal, see `many_poses`."""
    at, quats = position_and_quat(f'poses of {name!r}', pose, turns=turns, many=True)
    x, y, z, w = quats.T
    # The same order of operations as in `unit_pose`, so that results are equal to the last bit.
    with np.errstate(over='ignore', invalid='ignore'):
        square = x * x + y * y + z * z + w * w
        norm: Array = np.sqrt(square)
        fair = (np.abs(at) <= layout.LARGEST).all(axis=1) & (norm >= 1e-9) & (norm <= MOST_NORM)
    if not fair.all():
        row = int(np.argmin(fair))
        try:
            unit_pose(name, (at[row], quats[row]))
        except ShapeError as error:
            where = f'{error.name} in row {first + row}'
            raise ShapeError(where, error.expected, error.got) from None
    norm[np.abs(square - 1.0) <= layout.NORMALISED] = 1.0
    return at, quats / norm[:, None]


def _shapes(width: int, rows: str, *, single: bool) -> str:
    many = f'({rows}, {width})'
    return f'shape ({width},) or {many}' if single else f'shape {many} where no goal is given'


class Workspace(NamedTuple):
    """The workspace of one thread: its counters, and the kernels for it."""

    ints: NDArray[np.int64]
    kernels: BoundKernels


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

    def workspace(self) -> Workspace:
        """Return a new workspace, of which each thread needs one."""
        ints, floats = self.chain.work_ints.copy(), self.chain.work_floats.copy()
        ints[now.PHASE] = now.PHASE_DONE
        return Workspace(ints, bind_chain(self.chain.flat, self.chain.requests, ints, floats))

    def part(self, rows: slice) -> BatchChain:
        """Return some of the problems as views, so that results are written to this one."""
        arrays = (self.positions[rows], self.quats_xyzw[rows], self.records[rows])
        return BatchChain(self.chain, self.table, *arrays)

    def refuse(self, row: int, q: Array) -> NoReturn:
        """
        Raise the error for the arguments of a problem that the kernel refused.

        Raises always a ShapeError, see `ChainProblem.refuse`.
        """
        self.chain.refuse(q[row], (self.positions[row], self.quats_xyzw[row]))

    def answer(self, row: int, joints: Array, packed: Array) -> SolveResult:
        """Return the result of one problem in the form of a single solve."""
        poses = (self.positions[row], self.quats_xyzw[row])
        record = self.chain.record_with(self.records[row], self.table, *poses)
        return SolveResult(self.chain, record, joints, packed)


def batch_chains(
    problem: Problem, poses: Mapping[str, tuple[Array, Array]], count: int
) -> list[BatchChain]:
    """
    Return the chains of a problem, each with the poses of its goals for all `count` solves.

    Without a closure or goal, the chain that keeps bodies apart is the only one.
    """
    chains = []
    for chain in problem.chains or (problem.avoidance.whole.chains if problem.avoidance else ()):
        goals = chain.names.goals
        positions, quats = np.zeros((count, len(goals), 3)), np.zeros((count, len(goals), 4))
        for k, (_, name) in enumerate(goals):
            positions[:, k], quats[:, k] = poses[name]
        records = np.zeros((count, layout.RECORD + 2 * len(chain.names.constraints)))
        chains.append(BatchChain(chain, chain.table.copy(), positions, quats, records))
    return chains


class BatchWork:
    """
    The closures and goals, joints and options that all problems of a batch or path share.

    `window` (nq,): largest change of every value in one solve [rad or m]; None = no limit. Raises
    OptionError if the method is not the compiled one.
    """

    def __init__(
        self,
        problem: Problem,
        table: JointTable,
        options: SolverOptions,
        packed: Array,
        window: Array | None = None,
    ) -> None:
        if not options.in_kernel:
            chosen = (options.method, options.jacobian, options.use_svd)
            allowed = 'dls, analytic, without use_svd; or call solve_pose for each'
            raise OptionError('method, jacobian, use_svd of many solves', chosen, allowed)
        self.problem = problem
        self.names = list(problem.tree.names)
        self.options = options
        self.packed = packed.copy()
        self.table = table
        self._narrowed = window is not None or options.limits_steps
        self._window = table.steps_of(options, window)

    @property
    def collisions(self) -> Collisions | None:
        """Return bodies and pairs if collisions are avoided."""
        avoidance = self.problem.avoidance
        return None if avoidance is None else avoidance.collisions

    @property
    def by_start(self) -> bool:
        """Return True if the table of joints depends on the start of a solve."""
        table = self.table
        return bool(table.balls_with_preferences) or (self._narrowed and bool(table.followers))

    def rows(self, q: Array, window: Array | float = np.inf) -> Array:
        """
        Return the table of joints, shape (8, nq), for one solve.

        `q` (nq,): start of the solve [rad or m]; `window` (nq,): further limit of the change of
        every value [rad or m].
        """
        rows, table = self.table.rows, self.table
        narrower = np.minimum(self._window, window)
        if narrower.min(initial=np.inf) < np.inf:
            rows = table.narrowed(narrower, q)
        if table.balls_with_preferences:
            rows = table.nearest(rows, q)
        return rows.copy()

    def path_limits(self, max_step: float, speed: Array, acceleration: Array) -> Array:
        """
        Return limits, windows, largest speeds and accelerations for `kernels.path`.

        `max_step`: largest change of a joint in one solve [rad or characteristic lengths].
        `speed`, `acceleration` (nq,): largest ones [rad or m per s, per s^2]; inf = none. Those of
        coupled joints also bound their masters.
        """
        limits, table = np.zeros((path_kernel.PATH_ROWS, len(self.names))), self.table
        limits[path_kernel.PATH_LOWER], limits[path_kernel.PATH_UPPER] = table.lower, table.upper
        window = np.minimum(table.windows, table.through_couplings(self._window))
        limits[path_kernel.PATH_FIRST] = window
        limits[path_kernel.PATH_STEP] = np.minimum(window, max_step * self.problem.units)
        limits[path_kernel.PATH_SPEED] = table.through_couplings(speed)
        limits[path_kernel.PATH_ACCELERATION] = table.through_couplings(acceleration)
        return limits

    def clamp_starts(self, q: Array, rows: Array) -> None:
        """
        Clamp starts if the option says so, and set values without constraints to their targets.

        `q` (n, nq): starts [rad or m]; changed in place. `rows` (1, 8, nq): tables of joints.
        """
        if self.options.start_outside == 'clamp':
            np.clip(q, self.table.lower, self.table.upper, out=q)
        if self.table.has_targets:
            self.table.move_to_targets(self.problem.moved, rows, q)
