# flake8: noqa: E203
"""One independent chain, ready to be solved again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ik_node.kernels.counters import STARTS
from ik_node.kernels.layout import (
    begin_of,
    CON_COLUMNS,
    CON_ROTATION_TOLERANCE,
    CON_TRANSLATION_TOLERANCE,
    JOINT_WINDOW,
    make_workspace,
)
from ik_node.kernels.linearise import linearise
from ik_node.model.chains import Chain, Support
from ik_node.model.flatten import FlatChain, flatten
from ik_node.model.request import Request
from ik_node.model.tree import Tree
from ik_node.solver.result import ChainAnswer, ChainNames
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_STATUSES = tuple(Status)

# A singular value below this share of the largest counts as zero.
RANK_TOLERANCE = 1e-6


@dataclass
class ChainProblem:
    """One chain with its names, its constraint table and its workspace."""

    tree: Tree
    requests: tuple[Request, ...]
    flat: FlatChain
    names: ChainNames
    table: Array
    work_ints: NDArray[np.int64]
    work_floats: Array
    errors: Array  # view of the workspace: (2 nc,) residual norms [m], [rad]

    def answer(self, status: int, joints: Array, packed: Array) -> ChainAnswer:
        """Copy what the kernel left in the workspace."""
        _, _, iterations, starts = self.work_ints[: STARTS + 1].tolist()
        return ChainAnswer(
            _STATUSES[status],
            iterations,
            starts,
            self.errors.copy(),
            self.names,
            joints,
            self.recall(joints, packed),
        )

    def recall(self, joints: Array, packed: Array) -> Recall:
        """Keep what is asked at present."""
        return Recall(self, self.table.copy(), joints, packed)

    def linearise(
        self, q: Array, joints: Array, packed: Array, table: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """
        Return what stands at q, without touching the workspace.

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
        ints, floats = make_workspace(self.flat.ints)
        model = (self.flat.ints, self.flat.floats)
        asked = self.table if table is None else table
        linearise(*model, ints, floats, q.copy(), joints, asked, packed)
        count = sum(self.flat.row_counts)
        at = begin_of(self.flat.ints, 'residual')
        error = begin_of(self.flat.ints, 'error')
        return (
            floats[at : at + count].copy(),
            self._dense(floats, count),
            floats[error : error + self.errors.size].copy(),
        )

    def _dense(self, floats: Array, count: int) -> Array:
        ints = self.flat.ints
        slot0, slot_var = begin_of(ints, 'slot0'), begin_of(ints, 'slot_var')
        at, row = begin_of(ints, 'jac'), 0
        dense = np.zeros((count, len(self.flat.var_q)))
        for c, rows in enumerate(self.flat.row_counts):
            first, last = int(ints[slot0 + c]), int(ints[slot0 + c + 1])
            block = floats[at : at + rows * (last - first)].reshape(rows, last - first)
            dense[row : row + rows, ints[slot_var + first : slot_var + last]] = block
            at += block.size
            row += rows
        return dense


class Recall(NamedTuple):
    """What was asked of a chain, to look at an answer more closely later."""

    chain: ChainProblem
    table: Array
    joints: Array
    packed: Array

    @property
    def tolerances(self) -> Array:
        """Tolerances of every constraint, (nc, 2), [m] and [rad]."""
        return self.table[:, CON_TRANSLATION_TOLERANCE : CON_ROTATION_TOLERANCE + 1]

    def condition_number(self, q: Array) -> float:
        """
        Return the condition number of all rows by all free values at q.

        As many singular values count as the rows have rank nearby: rows that are redundant
        everywhere, as in planar loops, are left out, those of a singular configuration are not.
        """
        free = self.joints[JOINT_WINDOW, self.chain.flat.var_q] > 0.0
        rank = 0
        values: NDArray[np.floating[Any]] = np.zeros(0)
        random = np.random.default_rng(0)
        for size in (0.3, 0.3, 0.0):
            near = q.copy()
            near[self.chain.flat.var_q] += size * random.uniform(-1.0, 1.0, free.size) * free
            _, jacobian, _ = self.chain.linearise(near, self.joints, self.packed, self.table)
            values = np.linalg.svd(jacobian[:, free], compute_uv=False)
            if size > 0.0 and values.size:
                rank = max(rank, int(np.sum(values > RANK_TOLERANCE * values[0])))
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
) -> ChainProblem:
    """Flatten a chain; where it comes out as before, its arrays and workspace stay."""
    asked = tuple(requests[at] for at in chain.requests)
    if before is not None and _asked_the_same(before, tree, asked):
        before.tree, before.requests = tree, asked
        return before
    flat = flatten(tree, requests, supports, chain)
    names = ChainNames(
        tuple(r.name for r in asked),
        tuple(r.is_goal for r in asked),
        tuple((at, tree.names[at]) for at in flat.var_q.tolist()),
    )
    if before is not None and before.names == names and _same(before.flat, flat):
        before.tree, before.requests = tree, asked
        return before
    ints, floats = make_workspace(flat.ints)
    at_error = begin_of(flat.ints, 'error')
    return ChainProblem(
        tree=tree,
        requests=asked,
        flat=flat,
        names=names,
        table=np.zeros((len(asked), CON_COLUMNS)),
        work_ints=ints,
        work_floats=floats,
        errors=floats[at_error : at_error + 2 * len(asked)],
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
