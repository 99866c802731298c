"""The arrays of one independent chain, which are used for many solves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NoReturn

from ik_node.errors import ShapeError
from ik_node.kernels import layout
from ik_node.kernels import solve_state as now
from ik_node.kernels.kinds import KIND_FRAME
from ik_node.kernels.layout import begin_of, make_workspace
from ik_node.kernels.options import RESTARTS
from ik_node.kernels.out_of_reach import ORIENTATION, POSITION, ROUNDING
from ik_node.model.chains import Chain, characteristic_length, Support
from ik_node.model.flatten import FlatBodies, FlatChain, flatten, NO_BODIES
from ik_node.model.redundancy import Redundancy
from ik_node.model.request import Request
from ik_node.model.rotation import quat_to_matrix
from ik_node.model.tree import Tree
from ik_node.native import BoundKernels
from ik_node.solver.pose import refuse_q, unit_pose
from ik_node.solver.problem.workspace import bind_chain, Workspace
from ik_node.solver.result import Answer, ChainNames, SolveResult
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Poses for `advance` without goals, which takes those of the constraint table.
TABLE_POSES = (np.zeros((0, 3)), np.zeros((0, 4)))
# One call of the kernel ends after this work [steps times variables], so that Python can handle
# Ctrl-C within a few hundredths of a second; most solves take less. The second number is the least
# number of steps.
SLICE_WORK, LEAST_SLICE = 50_000, 10
# A singular value below this share of the largest counts as zero: far above the rounding errors of
# the Jacobian, and far below the values of a regular configuration. The largest one counts as at
# least LARGEST_VALUE [rad or L per rad or L], so that the rounding errors of a Jacobian that is
# zero do not count.
RANK_TOLERANCE, LARGEST_VALUE = 1e-6, 1e-6

# Boxes of joint values that are looked at together, and how often each is halved at most.
MOST_BOXES, HALVINGS = 2048, 60
# Shares of the points of a link in the choice of the joint whose range is halved: the point that
# the fewest joints move comes first.
SHARES = np.array([4.0, 1.0, 1.0])


@dataclass
class ChainProblem:
    """
    One independent chain with its names, its constraint table and its workspace.

    `length`: the characteristic length given by the options [m]; 0 = computed from the chain.
    `tree`: tree of the graph. `requests`: closures and goals of the chain, in the order of the
    rows. `redundancies`: redundancies among its closures. `flat`: the packed model. `names`: names
    of its constraints and values. `work_ints`, `work_floats`: the workspace, see
    `kernels.layout.make_workspace`. `arrays`: model and workspace, as arguments of a kernel.
    `table` (nc, 20): pose, weight, tolerance and level of each constraint, `kernels.layout.CON_*`;
    a view of the workspace. `record`: the result of a solve, see `SolveResult.record`; a view too.
    `search`: the arrays of the last search for all solutions, `solutions.Search`.
    """

    length: float
    tree: Tree
    requests: tuple[Request, ...]
    redundancies: tuple[Redundancy, ...]
    flat: FlatChain
    names: ChainNames
    work_ints: NDArray[np.int64]
    work_floats: Array
    search: Any = None

    def __post_init__(self) -> None:
        flat, floats = self.flat, self.work_floats
        self.arrays = (flat.ints, flat.floats, self.work_ints, floats)
        first = begin_of(flat.ints, 'constraints')
        end = first + layout.CON_COLUMNS * len(self.requests)
        self.table: Array = floats[first:end].reshape(-1, layout.CON_COLUMNS)
        self.record: Array = floats[begin_of(flat.ints, 'record') : end]

    def answer(self, joints: Array, packed: Array) -> SolveResult:
        """Return a copy of the result that the kernel left in the workspace."""
        return SolveResult(self, self.record.copy(), joints, packed)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)} | {'search': None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    @cached_property
    def kernels(self) -> BoundKernels:
        """Return the kernels for the arrays of this chain."""
        return bind_chain(self.flat, self.requests, *self.arrays[2:])

    @cached_property
    def twists(self) -> Array:
        """Return the twists of goals for `kernels.velocity`, shape (nc, 6); 0 for closures."""
        return np.zeros((len(self.names.constraints), 6))

    @cached_property
    def slice_steps(self) -> int:
        """Return the steps of one call of the kernel, after which Python can handle Ctrl-C."""
        return max(LEAST_SLICE, SLICE_WORK // max(1, len(self.names.values)))

    def with_own_workspace(self) -> ChainProblem:
        """Return the same chain with a copy of its table and workspace."""
        ints, floats = self.work_ints.copy(), self.work_floats.copy()
        return replace(self, work_ints=ints, work_floats=floats, search=None)

    def solve(self, q: Array, joints: Array, packed: Array) -> tuple[Answer]:
        """Solve from q to the end, as `go_on`, and return the answer without names of fields."""
        steps = self.slice_steps
        status = self.kernels.advance(q, joints, packed, *TABLE_POSES, 0, -steps)
        while status == now.STATUS_RUNNING:
            status = self.kernels.advance(q, joints, packed, *TABLE_POSES, 0, steps)
        if status == now.STATUS_REFUSED:
            self.refuse(q, TABLE_POSES)
        return ((self, self.record.copy(), joints, packed),)

    def go_on(self, q: Array, joints: Array, packed: Array, steps: int | None = None) -> int:
        """
        Continue a solve for one slice and return the status of `kernels.solve.advance`.

        q (nq,) [rad or m] is the start, and the result when the solve ends. `steps`: steps of the
        slice; None = `slice_steps`. -n starts a new solve, with n steps for its first slice.
        """
        limit = self.slice_steps if steps is None else steps
        return self.kernels.advance(q, joints, packed, *TABLE_POSES, 0, limit)

    @property
    def are_closures(self) -> NDArray[np.bool_]:
        """Return True for each constraint that is a closure, shape (nc,)."""
        return np.asarray(self.table[:, layout.CON_LEVEL] == 0.0)

    @property
    def tolerances(self) -> Array:
        """Return the tolerances of every constraint, shape (nc, 2) [m], [rad]."""
        return self.table[:, layout.CON_TRANSLATION_TOLERANCE : layout.CON_ROTATION_TOLERANCE + 1]

    @property
    def row_tolerances(self) -> Array:
        """Return the tolerance of every row, shape (nr,) [L or rad]; inf = none of its own."""
        by_row = self.table[:, layout.CON_ROW_TOLERANCE : layout.CON_ROW_TOLERANCE + layout.BLOCK]
        by_row = np.where(by_row[:, :1] >= 0.0, by_row, np.inf).ravel()[self.flat.rows]
        return np.asarray(by_row / self.flat.row_units)

    def set_pose(self, constraint: int, pose: ArrayLike) -> None:
        """Set the pose of a constraint: position [m] and quat_xyzw, seven numbers."""
        self.table[constraint, layout.CON_POSE : layout.CON_POSE + 7] = pose

    @property
    def errors(self) -> Array:
        """Return a view of the residual norms (2 nc,): [m], [rad] of constraint 0, then of 1."""
        return self.record[layout.RECORD : layout.RECORD + 2 * len(self.names.constraints)]

    @property
    def characteristic_length(self) -> float:
        """Return the characteristic length [m]."""
        return self.flat.length

    def linearise_by_size(
        self, q: Array, joints: Array, packed: Array, table: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """
        Return residual, Jacobian and errors at q; the workspace is not used.

        They are the residual (nr,), theory.md, section 3; its derivatives by the variables (nr,
        nv), section 4, where the columns EX, EY, EZ of a ball joint without limits are rotations
        about the axes of its turned frame; and the residual norms of every constraint (2 nc,) [m],
        [rad]. Lengths of the first two are in characteristic lengths: they do not depend on the
        size of the mechanism, so that ranks are decided by them.
        """
        own = self.with_own_workspace()
        own.table[:] = self.table if table is None else table
        here = Configuration(own, q.copy(), joints, packed)
        return here.residual, here.analytic_jacobian(), here.errors.ravel().copy()

    @property
    def slack(self) -> float:
        """Return the largest singular value of the Jacobian that can be rounding of numbers."""
        return max((each.slack for each in self.redundancies), default=0.0)

    def motions(
        self,
        q: Array,
        joints: Array,
        packed: Array,
        share: float = RANK_TOLERANCE,
        rows: slice | NDArray[np.bool_] = slice(None),
    ) -> Array:
        """
        Return an orthonormal basis (nv, m) of the motions that keep some rows up to rounding.

        Singular values below a share of the largest one count as zero.
        """
        _, jacobian, _ = self.linearise_by_size(q, joints, packed)
        free = joints[layout.JOINT_WINDOW, self.flat.var_q] > 0.0
        found = null_space(jacobian[rows][:, free], self.slack, share)
        motions = np.zeros((len(free), found.shape[1]))
        motions[free] = found
        return motions

    def active_cones(self, q: Array, joints: Array, packed: Array) -> list[str]:
        """Return the limits of rotations that bind at q, such as 'turn of shoulder'."""
        if not self.flat.one_sided.any():
            return []
        _, jacobian, _ = self.linearise_by_size(q, joints, packed)
        bind = self.flat.one_sided & jacobian.any(axis=1)
        constraints = (self.flat.rows[bind] // layout.BLOCK).tolist()
        return [self.names.constraints[index] for index in constraints]

    def refuse(self, q: Array, poses: tuple[Array, Array]) -> NoReturn:
        """Raise the ShapeError for the argument that the kernel refused."""
        goals = [name for _, name in self.names.goals]
        for what, array, width in zip(('positions', 'quats_xyzw'), poses, (3, 4), strict=True):
            if len(poses[0]) > 0 and array.shape != (len(goals), width):
                raise ShapeError(what, f'shape ({len(goals)}, {width})', f'{array.shape}')
        for name, position, quat_xyzw in zip(goals, *poses, strict=False):
            unit_pose(name, (position, quat_xyzw))
        for name, row in zip(self.names.constraints, self.table.tolist(), strict=True):
            unit_pose(name, (row[: layout.CON_QUAT], row[layout.CON_QUAT : layout.CON_QUAT + 4]))
        refuse_q(self.tree.names, q)
        raise ShapeError('q and goals', 'finite numbers', 'others')

    def beyond_limits(self, q: Array, joints: Array, table: Array) -> str:
        """Return the goal that limits are proven to keep out of reach; '' = none is."""
        arrays = Workspace(*self.arrays)
        proven = (
            n for at, n in self.names.goals if is_beyond_limits(arrays, at, q, joints, table)
        )
        return next(proven, '')

    def condition_number(self, q: Array, joints: Array, table: Array, packed: Array) -> float:
        """
        Return the condition number of the Jacobian of all rows at q.

        It is the ratio of the largest singular value to the r-th one, where r is the rank of the
        Jacobian at random configurations near q. So rows that are redundant everywhere, as in
        planar loops, do not count, but a singular configuration does. See
        `SolveResult.condition_number`.
        """
        free = joints[layout.JOINT_WINDOW, self.flat.var_q] > 0.0
        rank = 0
        values: NDArray[np.floating[Any]] = np.zeros(0)
        random = np.random.default_rng(0)
        for size in (0.3, 0.3, 0.0):
            near = q.copy()
            step = size * random.uniform(-1.0, 1.0, free.size) * self.flat.units
            near[self.flat.var_q] += step * free
            _, jacobian, _ = self.linearise_by_size(near, joints, packed, table)
            if size == 0.0:
                jacobian = jacobian * self.flat.row_units[:, None] / self.flat.units
            values = np.linalg.svd(jacobian[:, free], compute_uv=False)
            if size > 0.0 and values.size:
                rank = max(rank, rank_of(values, self.slack))
        if rank == 0:
            return 1.0
        smallest = values[rank - 1]
        return float(values[0] / smallest) if smallest > 1e-15 * values[0] else float('inf')


class Configuration:
    """
    A chain at a configuration that steps move, in the workspace of the chain.

    `x` (nv,) are the variables [rad or L], `errors` (nc, 2) the residual norms of every constraint
    [m], [rad]. `usable` is False if the kernels refuse the start q (nq,) [rad or m].
    """

    def __init__(self, chain: ChainProblem, q: Array, joints: Array, packed: Array) -> None:
        self.flat, self.workspace = chain.flat, Workspace(*chain.arrays)
        self._kernels = chain.kernels
        self.q, self.packed = q, packed.copy()
        # Without restarts the kernel does not wrap angles around from one bound to the other.
        self.packed[RESTARTS] = 0.0
        self._arguments = (q, joints, self.packed)
        self.x, self._step = self.workspace.x, self.workspace.step
        self.errors: Array = self.workspace.error.reshape(-1, 2)
        self.usable = self._kernels.linearise(*self._arguments) != now.STATUS_REFUSED

    @property
    def residual(self) -> Array:
        """Return the residual r, shape (nr,) [L or rad]; 0 for a limit that is kept."""
        rows = self.workspace.residual[self.flat.rows]
        return np.asarray(np.where(self.flat.one_sided, np.maximum(rows, 0.0), rows))

    def analytic_jacobian(self) -> Array:
        """Return the Jacobian dr/dx computed by the kernel, shape (nr, nv)."""
        kept = self.flat.one_sided & (self.workspace.residual[self.flat.rows] <= 0.0)
        return np.where(kept[:, None], 0.0, self.flat.dense(self.workspace.jac))

    def step_by(self, step: Array | float) -> None:
        """Take a step, shape (nv,) [rad or L], clamped to the bounds."""
        self._step[:] = step
        self._kernels.external_step(*self._arguments)

    def go_to(self, x: Array) -> None:
        """Set the variables, shape (nv,) [rad or L], clamped to the bounds."""
        self.x[:] = x
        self.step_by(0.0)


def zero_of(
    values: NDArray[np.floating[Any]], slack: float = 0.0, share: float = RANK_TOLERANCE
) -> Array:
    """
    Return the largest singular value that counts as zero, see `ChainProblem.linearise_by_size`.

    Values below the `slack` are rounding of the description.
    """
    largest = values.max(axis=-1, initial=LARGEST_VALUE)
    return np.asarray(np.maximum(share * largest, slack))


def rank_of(values: NDArray[np.floating[Any]], slack: float = 0.0) -> int:
    """Return how many of the singular values of a Jacobian count, see `zero_of`."""
    return int(np.sum(values > zero_of(values, slack)))


def null_space(jacobian: Array, slack: float = 0.0, share: float = RANK_TOLERANCE) -> Array:
    """Return an orthonormal basis (nv, m) of the motions that a Jacobian (nr, nv) leaves free."""
    _, values, directions = np.linalg.svd(jacobian)
    return np.asarray(directions[int(np.sum(values > zero_of(values, slack, share))) :].T)


def make_chain_problem(
    tree: Tree,
    requests: Sequence[Request],
    supports: Sequence[Support],
    chain: Chain,
    before: ChainProblem | None,
    length: float = 0.0,
    redundancies: Sequence[Redundancy] = (),
    bodies: FlatBodies = NO_BODIES,
) -> ChainProblem:
    """
    Return a chain as a `ChainProblem`; reuse the one made before if it is equal.

    `chain` selects some of the requests. A characteristic length of 0 is computed from the chain.
    """
    chosen = tuple(requests[index] for index in chain.requests)
    closures = {request.name for request in chosen if not request.is_goal}
    own = tuple(each for each in redundancies if closures.issuperset(each.misfit))
    # Kernels of a chain with goals of users are bound to these objects.
    bound = any(request.kind == 'user' for request in chosen)
    if before is not None and (bound or (before.length, before.redundancies) != (length, own)):
        before = None
    # The characteristic length of a chain without lengths depends on all frames of the tree.
    size = length if length > 0.0 else characteristic_length(tree, requests, supports, chain)
    flat = flatten(tree, requests, supports, chain, size, own, bodies)
    names = ChainNames(
        tuple(r.name for r in chosen),
        tuple(None if r.kind == 'avoid' else r.is_goal for r in chosen),
        tuple((index, tree.names[index]) for index in flat.var_q.tolist()),
        tree.free,
    )
    if before is not None and before.names == names:
        arrays = zip((before.flat.ints, before.flat.floats), (flat.ints, flat.floats), strict=True)
        if all(np.array_equal(*each) for each in arrays):
            before.tree, before.requests = tree, chosen
            return before
    return ChainProblem(length, tree, chosen, own, flat, names, *make_workspace(flat.ints))


# -- a proof that limits of joints keep a goal out of reach; docs/theory.md, section 8
#
# Where a point of a link can be, for ranges of joint values, is within a ball; ranges are halved
# until no ball holds the goal's point.


def is_beyond_limits(s: Workspace, goal: int, q: Array, joints: Array, table: Array) -> bool:
    """
    Return True if no joint values within limits bring a link to its goal.

    Loops are left out, so that a proof does not depend on them. Locked joints have values q.

    If a ball holds all places of a point, those that a range of angles turns it to are within a
    ball, too: the arc of its centre, of radius rho and half angle h, lies within rho sin h of the
    point at rho cos h.
    """
    link, mask, row = int(s.a_column[goal]), int(s.mask[goal]), table[goal]
    known = mask & POSITION == POSITION or s.axes[goal] != layout.AXES_A
    if s.kind[goal] != KIND_FRAME or s.b_column[goal] >= 0 or link < 0 or not known:
        return False
    path: list[int] = []
    while link >= 0:
        path.insert(0, link)
        link = int(s.parent[link])
    slides = s.prismatic[path] == 1
    ranges = _ranges(s, path, slides, q, joints)
    if not np.isfinite(ranges).all():
        return False
    a, b = (each[12 * goal :][:12] for each in (s.a_offset, s.b_offset))
    turn = b[:9].reshape(3, 3) @ quat_to_matrix(row[layout.CON_POSE + 3 : layout.CON_POSE + 7])
    aim = b[9:] + b[:9].reshape(3, 3) @ row[layout.CON_POSE : layout.CON_POSE + 3] / s.length[0]
    axes = np.eye(3) if s.axes[goal] == layout.AXES_WORLD else turn
    axes = axes[:, [k for k in range(3) if mask & (1 << k)]]
    frames = s.offset.reshape(-1, 12)[path]
    points = a[None, 9:]
    if mask & ORIENTATION == ORIENTATION:
        # The pose of the link is known: that of two points of its axis, and of one beside it.
        turn = turn @ a[:9].reshape(3, 3).T
        along = 0.0 if slides[-1] else -float(frames[-1, 9:] @ frames[-1, 2:9:3])
        points = np.array([(0, 0, along), (0, 0, along + 1.0), (1.0, 0, along)])
        axes = np.eye(3) if mask & POSITION == POSITION else axes
    aims = aim + (points - a[9:]) @ turn.T
    levers = np.linalg.norm(points - a[9:], axis=1)
    slack = row[layout.CON_TRANSLATION_TOLERANCE] + row[layout.CON_TRANSLATION_MISFIT]
    slack = slack / s.length[0] + row[layout.CON_ROTATION_TOLERANCE] * levers + ROUNDING
    boxes = ranges[:, None]
    for _ in range(HALVINGS):
        middle, half = boxes.mean(axis=0), 0.5 * (boxes[1] - boxes[0])
        near, places = half < 0.5 * np.pi, np.tile(points, (len(half), 1, 1))
        turned = np.where(near, np.cos(half), 0.0) * np.exp(1j * middle)
        spread, growth = (
            np.where(near, np.sin(half), 1.0),
            np.zeros((len(path), *places.shape[:2])),
        )
        for j in range(len(path) - 1, -1, -1):
            across, z = places[..., 0] + 1j * places[..., 1], places[..., 2]
            if slides[j]:
                growth[j], z = half[:, j, None], z + middle[:, j, None]
            else:
                growth[j], across = abs(across) * spread[:, j, None], across * turned[:, j, None]
            places = np.stack((across.real, across.imag, z), axis=2)
            places = places @ frames[j, :9].reshape(3, 3).T + frames[j, 9:]
        gaps = np.linalg.norm((aims - places) @ axes, axis=2) - growth.sum(axis=0) - slack
        left = (gaps <= 0.0).all(axis=1)
        if not left.any():
            return True
        if 2 * left.sum() > MOST_BOXES:
            break
        boxes, score = boxes[:, left], (growth[:, left] @ SHARES[: len(points)]).T
        cut = score.argmax(axis=1)
        each, upper = np.arange(len(cut)), boxes.copy()
        upper[0, each, cut] = boxes[1, each, cut] = middle[left][each, cut]
        boxes = np.concatenate((boxes, upper), axis=1)
    return False


def _ranges(
    s: Workspace, path: list[int], slides: NDArray[np.bool_], q: Array, joints: Array
) -> Array:
    """Return the ranges (2, n) of the values of columns [rad or L]; a whole turn is -pi to pi."""
    v, limits = s.var[path], joints[[layout.JOINT_LOWER, layout.JOINT_UPPER]]
    ends = np.where(joints[layout.JOINT_WINDOW] > 0.0, limits, q)
    units = np.where(v < 0, np.where(slides, s.length[0], 1.0), s.unit[v])
    ends = ends[:, np.where(v < 0, s.column_q[path], s.var_q[v])] / units
    factors = s.coefficients.reshape(-1, s.width)[path].T
    factors[:, v < 0] = np.eye(s.width)[:, 1:2]
    unknown = factors[2:].any(axis=0) | ~np.isfinite(ends).all(axis=0)
    ranges = np.sort(factors[0] + factors[1] * np.where(unknown, 0.0, ends), axis=0)
    whole = unknown | (~slides & (np.ptp(ranges, axis=0) >= 2.0 * np.pi))
    widest = np.where(slides, np.inf, np.pi)
    return np.where(whole, (-widest, widest), ranges)
