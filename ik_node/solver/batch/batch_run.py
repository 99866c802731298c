"""
Batches and paths, on threads of this process or in parts on the workers of an executor.

The frames of a path are solved one after the other, such that no joint jumps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import pairwise
from threading import Lock
from time import perf_counter
from typing import Any, NamedTuple

from ik_node.errors import listed, OptionError, ShapeError
from ik_node.kernels import layout
from ik_node.kernels import path as path_kernel
from ik_node.kernels.layout import JOINT_LOWER, JOINT_UPPER
from ik_node.kernels.options import RESTARTS, SMOOTHING
from ik_node.kernels.path import (
    CURSOR,
    GIVEN_RESTARTS,
    PATH_ACCELERATION,
    PATH_FIRST,
    PATH_SPEED,
    PATH_STEP,
    TOO_FAST,
)
from ik_node.kernels.solve_state import INTERRUPTED
from ik_node.model.collisions import Distance, FAR
from ik_node.model.given import finite, is_number, numbers
from ik_node.model.pose_forms import position_and_quat
from ik_node.solver.batch.batch_solution import (
    BatchChain,
    BatchSolution,
    PathSolution,
    PathsSolution,
)
from ik_node.solver.batch.engines import part_size, run_chunks, thread_count
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import check_mapping, many_q, MOST_NORM, seconds, unit_pose
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Avoidance, Problem, SLICE
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
ManyPoses = Mapping[str, tuple[ArrayLike, ArrayLike]]
Poses = Mapping[str, tuple[Array, Array]]

Paths = ManyPoses | Sequence[ManyPoses]
Progress = Callable[[int, int], object]

# Least number of pieces per thread: with several small ones the threads finish at about the same
# time, even if some problems take much longer than others.
CHUNKS = 8
# Least time between two calls of `progress` [s].
PERIOD = 0.05


def many_poses(
    goals: ManyPoses, problem: Problem | None = None, first: int = 0
) -> dict[str, tuple[Array, Array]]:
    """
    Return copies of the poses of each goal, (N, 3) [m] and unit quaternions (N, 4).

    Without the problem, all goals need orientations. Errors count rows from `first`.
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


def _poses(name: str, pose: Any, turns: bool, first: int) -> tuple[Array, Array]:
    """Return copies of the poses of one goal, see `many_poses`."""
    points, quats = position_and_quat(f'poses of {name!r}', pose, turns=turns, many=True)
    x, y, z, w = quats.T
    # The same order of operations as in `unit_pose`, so that results are equal to the last bit.
    with np.errstate(over='ignore', invalid='ignore'):
        square = x * x + y * y + z * z + w * w
        norm: Array = np.sqrt(square)
        small = (np.abs(points) <= layout.LARGEST).all(axis=1)
        fair = small & (norm >= 1e-9) & (norm <= MOST_NORM)
    if not fair.all():
        row = int(np.argmin(fair))
        try:
            unit_pose(name, (points[row], quats[row]))
        except ShapeError as error:
            where = f'{error.name} in row {first + row}'
            raise ShapeError(where, error.expected, error.got) from None
    norm[np.abs(square - 1.0) <= layout.NORMALISED] = 1.0
    return points, quats / norm[:, None]


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
        self.collisions = None if problem.avoidance is None else problem.avoidance.collisions
        self._narrowed = window is not None or options.limits_steps
        self._window = table.steps_of(options, window)

    @property
    def by_start(self) -> bool:
        """Return True if the table of joints depends on the start of a solve."""
        table = self.table
        return bool(table.balls_with_preferences) or (self._narrowed and bool(table.followers))

    def rows(self, q: Array, window: Array | float = np.inf) -> Array:
        """
        Return the table of joints, shape (8, nq), for one solve from q.

        `window` (nq,) is a further limit of the change of every value [rad or m].
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

        Those of coupled joints also bound their masters. The step is in [rad or L].
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
        """Clamp starts q (n, nq) by the option, and set values without constraints to targets."""
        if self.options.start_outside == 'clamp':
            np.clip(q, self.table.lower, self.table.upper, out=q)
        if self.table.has_targets:
            self.table.move_to_targets(self.problem.moved, rows, q)


class ManySolves:
    """
    Many solves, on threads that take pieces of them one after the other, or on an executor.

    Problems or paths begin at one of `starts` each, or all at the only one; `first` is the first
    solve of each, and the number N of solves. `chains`: the chains with the `poses` of all solves;
    their records are written. `q` (N, nq): the results [rad or m]. `nearest`: the nearest pair of
    bodies of each result. Each thread has workspaces of its own.
    """

    # Most solves of a piece; a path is never cut.
    MOST = 0

    def __init__(self, work: BatchWork, poses: Poses, starts: Array, first: Ints) -> None:
        self._work, self._poses, self._starts, self._first = work, poses, starts, first
        self.packed = work.packed.copy()
        each = np.broadcast_to(starts, (len(first) - 1, starts.shape[1]))
        self.q: Array = np.repeat(each, np.diff(first), axis=0)
        self.chains = batch_chains(work.problem, poses, len(self.q))
        self.nearest: list[Distance | None] = [None] * len(self.q)
        self._lock = Lock()
        self._taken, self._done = 0, 0
        self._stop = False

    @property
    def results(self) -> list[Any]:
        """Return all arrays with results, each with one row for each solve."""
        return [self.q, self.nearest, *(chain.records for chain in self.chains)]

    def part(self, units: range) -> tuple[Any, ...]:
        """Return the arguments of this class for some problems or paths."""
        rows = self._rows(units)
        own = {name: (p[rows], r[rows]) for name, (p, r) in self._poses.items()}
        alone = len(self._starts) == 1
        starts = self._starts if alone else self._starts[units.start : units.stop]
        return own, starts, self._first[units.start : units.stop + 1] - rows.start

    def _rows(self, units: range) -> slice:
        return slice(int(self._first[units.start]), int(self._first[units.stop]))

    def run(
        self,
        threads: int | None,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> None:
        """
        Solve all pieces, on an executor in parts that use some threads each.

        `progress`: called by the calling thread with the number of solves that are done and their
        total number. An exception that it raises ends the run, as Ctrl-C does.
        """
        count = 1 if threads is None and executor is not None else thread_count(threads)
        total = len(self.q)
        if executor is None:
            size = min(self.MOST, total // (CHUNKS * count))
            pieces = [self._rows(each) for each in _parts(self._first, size)]
            self._run_pieces(pieces, count, progress)
        else:
            units = list(_parts(self._first, part_size(total, executor, count)))
            cuts = [self._rows(each) for each in units]
            chunks = (
                (range(rows.start, rows.stop), (self.part(each), count))
                for each, rows in zip(units, cuts, strict=True)
            )
            tell = None if progress is None else lambda solved: progress(solved, total)
            solved = run_chunks(executor, _solve_part, (type(self), self._work), chunks, tell)
            for rows, found in zip(cuts, solved, strict=True):
                for own, part in zip(self.results, found, strict=True):
                    own[rows] = part
        if progress is not None:
            progress(total, total)

    def _run_pieces(
        self, pieces: Sequence[slice], threads: int, progress: Progress | None
    ) -> None:
        helpers = min(threads, len(pieces)) - 1
        if helpers < 1:
            self._take_pieces(pieces, progress)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(helpers, 'ik-batch') as pool:
            try:
                others = [pool.submit(self._take_pieces, pieces, None) for _ in range(helpers)]
                self._take_pieces(pieces, progress)
                for other in others:
                    other.result()
            finally:
                self._stop = True

    def _take_pieces(self, pieces: Sequence[slice], progress: Progress | None) -> None:
        """Solve one piece after the other until none is left."""
        workspaces = [chain.workspace() for chain in self.chains]
        reported = perf_counter()

        def tell(solved: int) -> None:
            """Count problems of a chain that are solved, and report them now and then."""
            nonlocal reported
            with self._lock:
                self._done += solved
            if progress is not None and perf_counter() - reported >= PERIOD:
                progress(self._done // len(self.chains), len(self.q))
                reported = perf_counter()

        try:
            while not self._stop:
                with self._lock:
                    piece, self._taken = self._taken, self._taken + 1
                if piece >= len(pieces):
                    return
                self._solve(pieces[piece], workspaces, tell)
        except BaseException:
            self._stop = True
            raise

    def _solve(
        self, rows: slice, workspaces: Sequence[ChainProblem], tell: Callable[[int], None]
    ) -> None:
        """Solve the problems of a piece."""
        raise NotImplementedError

    def _solve_free(self, avoidance: Avoidance, index: int, start: Array, joints: Array) -> bool:
        """
        Solve problem `at` among bodies; return True if its loops are closed.

        All threads measure bodies in one workspace, so that the caller holds the lock.
        """
        parts = [chain.part(slice(index, index + 1)) for chain in self.chains]
        given = [part.answer(0, joints, self.packed) for part in parts]
        answers = [(each.record, each.table) for each in given]
        whole = avoidance.solve(answers, start, self.q[index], joints, self.packed, 0.0)
        for number, part in enumerate(parts):
            part.records[0] = avoidance.record(number, part.records[0], whole.record)
        over = whole.errors > whole.limits
        return not any(over[row].any() for row, _ in whole.chain.names.closures)

    def _advance(
        self,
        part: BatchChain,
        workspace: ChainProblem,
        q: Array,
        advance: Callable[[int, int], int],
        tell: Callable[[int], None],
    ) -> None:
        """
        Solve one chain for the rows of q; check time budget and stop flag between slices.

        `advance` takes the first row and a number of steps, and returns the row that it reached.
        """
        budget = self._work.options.time_budget
        steps = SLICE if budget > 0.0 else part.chain.slice_steps
        row, watched, ends = 0, -1, 0.0
        while row < len(q) and not self._stop:
            began = perf_counter()
            reached = advance(row, steps)
            if reached < 0:
                refused = -1 - reached
                part.chain.refuse(q[refused], (part.positions[refused], part.quats_xyzw[refused]))
            tell(reached - row)
            row = reached
            if row != watched:
                watched, ends = row, began + budget
            if budget > 0.0 and perf_counter() >= ends:
                workspace.work_ints[INTERRUPTED] = 1


class BatchRun(ManySolves):
    """One execution of a batch; `rows` (8, nq) is the table of joints of the first problem."""

    MOST = 256

    def __init__(self, work: BatchWork, poses: Poses, starts: Array, first: Ints) -> None:
        super().__init__(work, poses, starts, first)
        self._by_row = work.by_start and len(starts) > 1
        self.rows = work.rows(starts[0] if len(starts) else np.zeros(starts.shape[1]))

    def _solve(
        self, rows: slice, workspaces: Sequence[ChainProblem], tell: Callable[[int], None]
    ) -> None:
        """Solve the problems of a chunk."""
        q, work = self.q[rows], self._work
        joints = np.stack([work.rows(start) for start in q]) if self._by_row else self.rows[None]
        work.clamp_starts(q, joints)
        avoidance = work.problem.avoidance
        starts = q.copy() if avoidance is not None else q
        for chain, workspace in zip(self.chains, workspaces, strict=True):
            part = chain.part(rows)
            arrays = (q, joints, self.packed, part.positions, part.quats_xyzw, part.records)
            advance = partial(workspace.kernels.advance_batch, *arrays)
            self._advance(part, workspace, q, advance, tell)
        if avoidance is not None:
            for index, here in enumerate(q):
                with self._lock:
                    near = avoidance.nearest(here)
                    if work.problem.chains and avoidance.is_contact(near):
                        own = joints[min(index, len(joints) - 1)]
                        self._solve_free(avoidance, rows.start + index, starts[index], own)
                        near = avoidance.nearest(here)
                self.nearest[rows.start + index] = near
        work.table.follow_all(q)


def _solve_part(shared: tuple[type[ManySolves], BatchWork], part: Any) -> list[Any]:
    """Solve some of the problems in a worker of an executor, and return their results."""
    (kind, work), (arguments, threads) = shared, part
    run: ManySolves = kind(work, *arguments)
    run.run(threads)
    return run.results


def solve_batch(
    work: BatchWork,
    goals: ManyPoses,
    q0: ArrayLike,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> BatchSolution:
    """Solve every problem as `Solver.solve_pose` does, see `Solver.solve_batch`."""
    began = perf_counter()
    poses = many_poses(goals, work.problem)
    starts = many_q('q0', q0, work.names, next((len(p) for p, _ in poses.values()), None))
    count = next((len(p) for p, _ in poses.values()), len(starts))
    run = BatchRun(work, poses, starts, np.arange(count + 1))
    run.run(threads, progress, executor)
    spent = perf_counter() - began
    return BatchSolution(
        *(run.q, run.chains, spent, run.rows, work.packed, work.names), run.nearest
    )


# -- paths

# Relative margin of the times, so that speeds computed from rounded times are within the limits.
MARGIN = 1e-9


def stretched_times(
    q: Array, requested: Array, max_velocity: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """
    Return the times of points q (N, nq), extended where a joint would exceed its largest speed.

    The second array (N,) is True if the step to the point takes longer than requested.
    """
    needed = (1.0 + MARGIN) * (np.abs(np.diff(q, axis=0)) / max_velocity).max(axis=1, initial=0.0)
    target = np.diff(requested)
    longer = np.concatenate(([False], needed > target))
    # Delays are added to the requested times, so that times without a delay stay exact.
    late = np.concatenate(([0.0], np.cumsum(np.maximum(needed - target, 0.0))))
    return requested + late, longer


class Request(NamedTuple):
    """The arguments that hold for all paths, see `Solver.solve_paths`."""

    max_velocity: ArrayLike
    max_acceleration: ArrayLike | None
    keep_times: bool
    smoothing: float | None
    max_step: float


def split_paths(
    goals: Paths, problem: Problem
) -> tuple[dict[str, tuple[Array, Array]], list[int]]:
    """Return the poses of all frames of all paths in a row, and the number of frames of each."""
    if isinstance(goals, Mapping):
        flat = {name: _in_a_row(name, pose) for name, pose in goals.items()}
        sizes = {size for _, size in flat.values()}
        if len(sizes) != 1:
            raise ShapeError('goals', 'as many poses (P, N) for each', str(sorted(sizes)))
        ((many, count),) = sizes
        read = many_poses({name: pose for name, (pose, _) in flat.items()}, problem)
        counts = [count] * many
    else:
        for index, path in enumerate(goals):
            check_mapping(f'goals[{index}]', path, 'name of a goal or link: poses')
            if set(path) != set(goals[0]):
                here, first = (listed(map(str, names)) for names in (path, goals[0]))
                raise ShapeError(f'goals[{index}]', f'the goals of path 0: {first}', here)
        each = [many_poses(path, problem) for path in goals]
        counts = [len(next(iter(path.values()))[0]) if path else 0 for path in each]
        read = {
            name: (
                np.concatenate([path[name][0] for path in each]),
                np.concatenate([path[name][1] for path in each]),
            )
            for name in (each[0] if each else ())
        }
    if not counts or min(counts) == 0:
        empty = f'path {counts.index(0)} has none' if counts else 'no path'
        raise ShapeError('goals', 'a path of one point or more', empty)
    return read, counts


def _in_a_row(name: str, pose: Any) -> tuple[Any, tuple[int, int]]:
    """Return poses of P paths of N frames as those of one path, and P and N."""
    pair = isinstance(pose, (tuple, list)) and len(pose) == 2
    given = [
        part.as_quat() if hasattr(part, 'as_quat') else numbers(f'poses of {name!r}', part)
        for part in (pose if pair else (pose,))
    ]
    if given[0].ndim < 3:
        form = 'positions (P, N, 3) and quaternions xyzw (P, N, 4), or matrices (P, N, 4, 4)'
        raise ShapeError('goals', form, f'shape {given[0].shape} for {name!r}')
    flat = [part.reshape(-1, *part.shape[2:]) if part.ndim > 2 else part for part in given]
    return tuple(flat) if pair else flat[0], given[0].shape[:2]


def all_times(counts: Sequence[int], dt: float, times: Any) -> Array:
    """Return the times of all frames in a row [s]; `times` are for all paths, or one for each."""
    if times is None:
        return seconds('dt', dt) * np.concatenate([np.arange(float(count)) for count in counts])
    each = [times] * len(counts)
    if isinstance(times, (list, tuple)) and len(times) and np.ndim(times[0]) > 0:
        if len(times) != len(counts):
            expected = f'one sequence for each of {len(counts)} paths'
            raise ShapeError('times', expected, f'{len(times)}')
        each = list(times)
    given = [finite('times', own, count) for own, count in zip(each, counts, strict=True)]
    for own in given:
        late = np.flatnonzero(np.diff(own) <= 0.0)
        if late.size:
            row = int(late[0]) + 1
            got = f'{own[row]} after {own[row - 1]}'
            raise ShapeError(f'times in row {row}', 'a later time than before', got)
    return np.concatenate(given)


def _check_request(request: Request, work: BatchWork) -> tuple[Array, Array]:
    """Return the largest speeds and accelerations of a request (nq,); infinite = none."""
    step, smoothing, count, limits = request.max_step, request.smoothing, len(work.names), []
    for what in ('max_velocity', 'max_acceleration'):
        given = getattr(request, what)
        each = numbers(what, np.full(count, np.inf) if given is None else given, (count,))
        if each.shape != (count,) or not (each > 0.0).all():
            got = f'shape {each.shape}, least {each.min(initial=np.inf)}'
            raise ShapeError(what, f'shape ({count},), above 0', got)
        limits.append(each)
    if not is_number(step) or not 0.0 < step <= 1.0:
        raise OptionError('max_step', step, 'a number above 0, up to 1')
    if smoothing is not None and (not is_number(smoothing) or not 0.0 <= smoothing <= 1e6):
        raise OptionError('smoothing', smoothing, 'a number from 0 to 1e6')
    if smoothing and not work.options.compromise:
        raise OptionError('smoothing', smoothing, '0 unless the option compromise is on')
    if not request.keep_times and np.isfinite(limits[1]).any():
        raise OptionError('keep_times', False, 'True with max_acceleration')
    return limits[0], limits[1]


def solve_paths(
    work: BatchWork,
    goals: Paths,
    q0: ArrayLike,
    dt: float,
    times: Any,
    request: Request,
    threads: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> PathsSolution:
    """Solve paths, see `Solver.solve_paths`."""
    started = perf_counter()
    speed, acceleration = _check_request(request, work)
    request = request._replace(max_velocity=speed, max_acceleration=acceleration)
    poses, counts = split_paths(goals, work.problem)
    first = np.concatenate(([0], np.cumsum(counts)))
    when = all_times(counts, dt, times)
    starts = many_q('q0', q0, work.names, len(counts))
    run = PathRun(work, poses, starts, first, when, request)
    run.run(threads, progress, executor)
    q = run.q
    work.table.follow_all(q)
    spent = perf_counter() - started
    limits = np.full_like(speed, np.inf) if request.keep_times else speed
    made = []
    for begin, end in pairwise(first.tolist()):
        rows = slice(begin, end)
        made.append(
            PathSolution(
                stretched_times(q[rows], when[rows], limits),
                run.flags[rows],
                q[rows],
                [chain.part(rows) for chain in run.chains],
                spent * (end - begin) / len(q),
                *(run.joints, run.packed, work.names, run.nearest[rows]),
            )
        )
    return PathsSolution(made, q, first, spent)


class PathRun(ManySolves):
    """The execution of paths, frame by frame."""

    def __init__(
        self,
        work: BatchWork,
        poses: Poses,
        starts: Array,
        first: Ints,
        times: Array,
        request: Request,
    ) -> None:
        super().__init__(work, poses, starts, first)
        self._times, self._request = times, request
        if request.smoothing is not None:
            self.packed[SMOOTHING] = request.smoothing
        self.joints = work.rows(self.q[0])
        speed = request.max_velocity if request.keep_times else np.full(len(work.names), np.inf)
        fast = np.asarray(speed), np.asarray(request.max_acceleration)
        self._limits = work.path_limits(request.max_step, *fast)
        self._flags = np.zeros((len(self.q), len(self.chains)))

    @property
    def results(self) -> list[Any]:
        """Return all arrays with results."""
        return [*super().results, self._flags]

    @property
    def flags(self) -> NDArray[np.int64]:
        """Return the event flags of every frame, shape (T,): sums of TORN and so on."""
        return np.asarray(np.bitwise_or.reduce(self._flags.astype(np.int64), axis=1))

    def part(self, units: range) -> tuple[Any, ...]:
        """Return the arguments of this class for some paths."""
        return *super().part(units), self._times[self._rows(units)], self._request

    def _solve(
        self, rows: slice, workspaces: Sequence[ChainProblem], tell: Callable[[int], None]
    ) -> None:
        """Solve the frames of a path."""
        q = self.q[rows]
        joints = self._work.rows(q[0])
        begin = q[:1].copy()
        self._work.clamp_starts(begin, joints[None])
        q[:] = begin
        for index, workspace in enumerate(workspaces):
            part, options = self.chains[index].part(rows), self.packed.copy()
            cursor = np.zeros(CURSOR + 7 * part.positions.shape[1])
            cursor[GIVEN_RESTARTS] = options[RESTARTS]
            poses = (part.positions, part.quats_xyzw)
            limits, times, flags = self._limits.copy(), self._times[rows], np.zeros(len(q))
            tables = (joints.copy(), options, *poses)
            arrays = (q, *tables, part.records, limits, times, flags, cursor)
            advance = partial(workspace.kernels.advance_path, *arrays)
            self._advance(part, workspace, q, advance, tell)
            self._flags[rows, index] = flags
        if self._work.problem.avoidance is not None:
            self._keep_free(self._work.problem.avoidance, rows, begin[0])

    def _keep_free(self, avoidance: Avoidance, rows: slice, begin: Array) -> None:
        """
        Solve frames anew from the first one that is in contact, or whose way is not free.

        A frame that cannot be reached on a free way, within the largest step and speed, stays
        where the frame before is, and is STALLED. Bodies count before accelerations: frames that
        are possible only beyond the largest ones are TOO_FAST.
        """
        q, times, fast = self.q[rows], self._times[rows], self._limits[PATH_ACCELERATION]
        before, again = begin, False
        speed, limited = np.zeros_like(begin), bool(np.isfinite(fast).any())
        for k, here in enumerate(q):
            dt = times[k] - times[k - 1] if k > 0 else np.inf
            with self._lock:
                near = avoidance.nearest(here)
                again = again or avoidance.is_contact(near)
                again = again or avoidance.free_share(before, here) < 1.0
                if again:
                    window = self._limits[PATH_FIRST if k == 0 else PATH_STEP]
                    window = np.minimum(window, self._limits[PATH_SPEED] * dt)
                    solve = partial(self._solve_free, avoidance, rows.start + k)
                    start, joints = before, self._work.rows(before, window)
                    steady = joints
                    if limited and k > 1:
                        steady = _steady(
                            joints, before, window, before + dt * speed, dt * dt * fast
                        )
                        start = JointTable.clamped(steady, before)
                    fits = solve(start, steady)
                    ahead = avoidance.nearest(here)
                    avoidance.shorten(partial(solve, before), before, here, joints, fits=fits)
                    near = avoidance.nearest(here)
                    if near is None and ahead is not None:  # it is in the way
                        every = avoidance.collisions.distances(here, FAR)
                        near = next(each for each in every if each.pair == ahead.pair)
                    change = here - before - dt * speed if k > 1 else np.zeros(1)
                    beyond = limited and (np.abs(change) > (1.0 + MARGIN) * dt * dt * fast).any()
                    self._flags[rows.start + k] = TOO_FAST if beyond else 0.0
                self.nearest[rows.start + k] = near
            before, speed = here, (here - before) / dt


def _steady(joints: Array, before: Array, window: Array, middle: Array, change: Array) -> Array:
    """Return a table of joints for values (nq,) that are near others."""
    joints = joints.copy()
    low = np.maximum(joints[JOINT_LOWER], before - window)
    high = np.minimum(joints[JOINT_UPPER], before + window)
    joints[JOINT_LOWER] = np.clip(middle - change, low, high)
    joints[JOINT_UPPER] = np.clip(middle + change, low, high)
    return joints


def _parts(first: Ints, limit: int) -> Iterator[range]:
    """Yield neighbouring paths that together have at most so many frames, or one path."""
    begin, last = 0, len(first) - 1
    while begin < last:
        fit = int(np.searchsorted(first, first[begin] + limit, side='right')) - 1
        yield range(begin, max(begin + 1, fit))
        begin = max(begin + 1, fit)
