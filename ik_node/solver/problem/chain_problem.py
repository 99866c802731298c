# flake8: noqa: E203
"""One independent chain, ready to be solved again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from ik_node.errors import ShapeError
from ik_node.kernels.external_step import linearise
from ik_node.kernels.layout import (
    begin_of,
    BLOCK,
    CON_COLUMNS,
    CON_POSE,
    JOINT_WINDOW,
    make_workspace,
    RECORD,
    SIZES,
)
from ik_node.kernels.solve import advance
from ik_node.model.chains import Chain, Support
from ik_node.model.characteristic_length import characteristic_length
from ik_node.model.flatten import FlatChain, flatten
from ik_node.model.redundancy import Redundancy
from ik_node.model.request import Request
from ik_node.model.tree import Tree
from ik_node.solver.pose import refuse_q, unit_pose
from ik_node.solver.result import ChainAnswer, ChainNames
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Positions and quaternions of goals for `advance`; without any, those of the table count.
AS_THEY_ARE = (np.zeros((0, 3)), np.zeros((0, 4)))
# A call of the kernel ends after so many steps times variables, so that Python can serve Ctrl-C: a
# few hundredths of a second, and more than most solves take.
SLICE_WORK, LEAST_SLICE = 50_000, 10
# A singular value below this share of the largest counts as zero.
RANK_TOLERANCE = 1e-6


@dataclass
class ChainProblem:
    """One chain with its names, its constraint table and its workspace."""

    length: float  # characteristic length that was asked for [m], 0 = the chain's own
    tree: Tree
    requests: tuple[Request, ...]
    redundancies: tuple[Redundancy, ...]  # of its closures
    flat: FlatChain
    names: ChainNames
    table: Array
    work_ints: NDArray[np.int64]
    work_floats: Array
    arrays: tuple[NDArray[np.int64], Array, NDArray[np.int64], Array]  # these four, for a call
    record: Array  # view of the workspace: what a solve leaves, see `ChainAnswer.record`

    def answer(self, joints: Array, packed: Array) -> ChainAnswer:
        """Copy what the kernel left in the workspace."""
        return ChainAnswer(self, self.record.copy(), joints, packed)

    @cached_property
    def slice_steps(self) -> int:
        """Return the steps of one call of the kernel, so that Python can serve an interrupt."""
        return max(LEAST_SLICE, SLICE_WORK // max(1, len(self.names.values)))

    def with_own_workspace(self) -> ChainProblem:
        """Return the same chain with a copy of its table and workspace."""
        copies = (self.work_ints.copy(), self.work_floats.copy())
        return _with_workspace(
            self.length,
            self.tree,
            self.requests,
            self.redundancies,
            self.flat,
            self.names,
            *copies,
        )

    def go_on(self, q: Array, joints: Array, packed: Array, steps: int | None = None) -> int:
        """Go on with a solve for some steps, a slice by default; return what `advance` returns."""
        most = self.slice_steps if steps is None else steps
        return advance(*self.arrays, q, joints, packed, *AS_THEY_ARE, most)

    @property
    def errors(self) -> Array:
        """Residual norms of every constraint, a view (2 nc,) of the workspace [m], [rad]."""
        return self.record[RECORD : RECORD + 2 * len(self.names.constraints)]

    @property
    def characteristic_length(self) -> float:
        """Return what counts as much as one radian [m]."""
        return self.flat.length

    def q_of(self, x: Array) -> Array:
        """Return values (nv,) as kernels count them, in [rad or m]."""
        return x * self.flat.units

    def linearise(
        self, q: Array, joints: Array, packed: Array, table: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """
        Return what stands at q, without touching the workspace.

        Lengths count in metres; see `linearise_by_size` for what does not depend on the size.

        Parameters
        ----------
        q : ndarray, shape (nq,)
            [rad or m]
        joints : ndarray, shape (8, nq)
            Limits and locks.
        packed : ndarray
            Options.
        table : ndarray, shape (nc, 12), optional
            Of closures and goals; the present one by default.

        Returns
        -------
        residual : ndarray, shape (nr,)
            [m] and [rad]
        jacobian : ndarray, shape (nr, nv)
            By the free values. A ball joint without limits has its EX, EY, EZ columns per turn
            about the axes of its turned frame.
        errors : ndarray, shape (2 nc,)
            Residual norms of every constraint [m], [rad].

        """
        residual, jacobian, errors = self.linearise_by_size(q, joints, packed, table)
        units = self.flat.row_units
        return residual * units, jacobian * units[:, None] / self.flat.units, errors

    def linearise_by_size(
        self, q: Array, joints: Array, packed: Array, table: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Return the same with residual and Jacobian in characteristic lengths, not metres."""
        ints, floats = make_workspace(self.flat.ints)
        model = (self.flat.ints, self.flat.floats)
        at = begin_of(self.flat.ints, 'constraints')
        floats[at : at + self.table.size] = np.ravel(self.table if table is None else table)
        linearise(*model, ints, floats, q.copy(), joints, packed)
        residual, jacobian = (
            floats[begin_of(self.flat.ints, name) :] for name in ('residual', 'jac')
        )
        error = begin_of(self.flat.ints, 'error')
        return (
            residual[self.flat.rows],
            self.flat.dense(jacobian[: BLOCK * int(self.flat.ints[SIZES.index('ns')])]),
            floats[error : error + self.errors.size].copy(),
        )

    def refuse(self, q: Array, poses: tuple[Array, Array]) -> NoReturn:
        """
        Say which of the numbers that came in the kernel refused.

        Raises
        ------
        ShapeError

        """
        goals = [name for _, name in self.names.goals]
        for what, array, width in zip(('positions', 'quats_xyzw'), poses, (3, 4), strict=True):
            if len(poses[0]) > 0 and array.shape != (len(goals), width):
                raise ShapeError(what, f'shape ({len(goals)}, {width})', f'{array.shape}')
        for name, position, quat_xyzw in zip(goals, *poses, strict=False):
            unit_pose(name, position, quat_xyzw)
        for name, row in zip(self.names.constraints, self.table.tolist(), strict=True):
            unit_pose(name, row[CON_POSE : CON_POSE + 3], row[CON_POSE + 3 : CON_POSE + 7])
        refuse_q(self.tree.names, q)
        raise ShapeError('q and goals', 'finite numbers', 'others')

    def condition_number(self, q: Array, joints: Array, table: Array, packed: Array) -> float:
        """
        Return the condition number of all rows by all free values at q.

        As many singular values count as the rows have rank nearby: rows that are redundant
        everywhere, as in planar loops, are left out, those of a singular configuration are not.
        """
        free = joints[JOINT_WINDOW, self.flat.var_q] > 0.0
        rank = 0
        values: NDArray[np.floating[Any]] = np.zeros(0)
        random = np.random.default_rng(0)
        for size in (0.3, 0.3, 0.0):
            near = q.copy()
            step = self.q_of(size * random.uniform(-1.0, 1.0, free.size))
            near[self.flat.var_q] += step * free
            look = self.linearise_by_size if size > 0.0 else self.linearise
            _, jacobian, _ = look(near, joints, packed, table)
            values = np.linalg.svd(jacobian[:, free], compute_uv=False)
            if size > 0.0 and values.size:
                zero = max([RANK_TOLERANCE * values[0], *(r.slack for r in self.redundancies)])
                rank = max(rank, int(np.sum(values > zero)))
        if rank == 0:
            return 1.0
        smallest = values[rank - 1]
        return float(values[0] / smallest) if smallest > 1e-15 * values[0] else float('inf')


def make_chain_problem(
    tree: Tree,
    requests: Sequence[Request],
    supports: Sequence[Support],
    chain: Chain,
    before: ChainProblem | None,
    length: float = 0.0,
    redundancies: Sequence[Redundancy] = (),
) -> ChainProblem:
    """
    Flatten a chain; where it comes out as before, its arrays and workspace stay.

    The characteristic length [m] is that of the chain where `length` is 0.
    """
    asked = tuple(requests[at] for at in chain.requests)
    closures = {request.name for request in asked if not request.is_goal}
    own = tuple(each for each in redundancies if closures.issuperset(each.misfit))
    if before is not None and (before.length, before.redundancies) != (length, own):
        before = None
    # A chain without lengths of its own has that of the tree, any frame of which may have moved.
    size = length if length > 0.0 else characteristic_length(tree, requests, supports, chain)
    if before is not None and before.flat.length == size and _asked_the_same(before, tree, asked):
        before.tree, before.requests = tree, asked
        return before
    flat = flatten(tree, requests, supports, chain, size, own)
    names = ChainNames(
        tuple(r.name for r in asked),
        tuple(r.is_goal for r in asked),
        tuple((at, tree.names[at]) for at in flat.var_q.tolist()),
    )
    if before is not None and before.names == names and _same(before.flat, flat):
        before.tree, before.requests = tree, asked
        return before
    return _with_workspace(length, tree, asked, own, flat, names, *make_workspace(flat.ints))


def _with_workspace(
    length: float,
    tree: Tree,
    asked: tuple[Request, ...],
    redundancies: tuple[Redundancy, ...],
    flat: FlatChain,
    names: ChainNames,
    ints: NDArray[np.int64],
    floats: Array,
) -> ChainProblem:
    at_record, at_table = begin_of(flat.ints, 'record'), begin_of(flat.ints, 'constraints')
    end = at_table + CON_COLUMNS * len(asked)
    return ChainProblem(
        length=length,
        tree=tree,
        requests=asked,
        redundancies=redundancies,
        flat=flat,
        names=names,
        table=floats[at_table:end].reshape(-1, CON_COLUMNS),
        work_ints=ints,
        work_floats=floats,
        arrays=(flat.ints, flat.floats, ints, floats),
        record=floats[at_record:end],
    )


def _asked_the_same(before: ChainProblem, tree: Tree, asked: tuple[Request, ...]) -> bool:
    """Return whether a chain can be kept without laying it out anew to compare."""
    if tree.columns is not before.tree.columns or len(asked) != len(before.requests):
        return False
    for request, known in zip(asked, before.requests, strict=True):
        if request.kind == 'centre_of_mass' or not request.same_as(known):
            return False
        for frame in (request.link, request.base):
            if frame is not None:
                column, pose = tree.seat[frame]
                column_before, pose_before = before.tree.seat[frame]
                if column != column_before or not np.array_equal(pose, pose_before):
                    return False
    return True


def _same(one: FlatChain, other: FlatChain) -> bool:
    return np.array_equal(one.ints, other.ints) and np.array_equal(one.floats, other.floats)
