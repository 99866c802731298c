# flake8: noqa: E203
"""One chain of a batch: its poses, and room for what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from ik_node.kernels.layout import begin_of, CON_POSE, RECORD
from ik_node.kernels.solve_state import PHASE, PHASE_DONE
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import ChainAnswer
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Workspace = tuple[NDArray[np.int64], Array]


class BatchChain(NamedTuple):
    """
    Many problems of one chain.

    Attributes
    ----------
    chain : ChainProblem
    table : ndarray, shape (nc, 12)
        What is asked of every constraint, but for the poses of goals.
    positions, quats_xyzw : ndarray, shape (N, k, 3), (N, k, 4)
        Poses of its goals, in order.
    records : ndarray, shape (N, RECORD + 2 nc)
        RECORD_*, and residual norms [m], [rad] of every constraint.

    """

    chain: ChainProblem
    table: Array
    positions: Array
    quats_xyzw: Array
    records: Array

    @property
    def record_at(self) -> int:
        """Return where the record stands in the workspace."""
        return begin_of(self.chain.flat.ints, 'record')

    def workspace(self) -> Workspace:
        """Return a workspace of one's own, as each thread needs it."""
        ints, floats = self.chain.work_ints.copy(), self.chain.work_floats.copy()
        ints[PHASE] = PHASE_DONE
        return ints, floats

    def part(self, rows: slice) -> BatchChain:
        """Return some of the problems; what comes out is written to the same place."""
        arrays = (self.positions[rows], self.quats_xyzw[rows], self.records[rows])
        return BatchChain(self.chain, self.table, *arrays)

    def refuse(self, row: int, q: Array) -> NoReturn:
        """
        Say what the kernel refused.

        Raises
        ------
        ShapeError

        """
        self.chain.refuse(q[row], (self.positions[row], self.quats_xyzw[row]))

    def answer(self, row: int, joints: Array, packed: Array) -> ChainAnswer:
        """Return what came out for one problem as a single solve gives it."""
        table = self.table.copy()
        first = len(table) - self.positions.shape[1]
        table[first:, CON_POSE : CON_POSE + 3] = self.positions[row]
        table[first:, CON_POSE + 3 : CON_POSE + 7] = self.quats_xyzw[row]
        record = np.concatenate((self.records[row], table.ravel()))
        return ChainAnswer(self.chain, record, joints, packed)


def batch_chains(
    problem: Problem, poses: Mapping[str, tuple[Array, Array]], count: int
) -> list[BatchChain]:
    """Hand the poses of every goal to the chain that it is in."""
    return [_batch_chain(chain, poses, count) for chain in problem.chains]


def _batch_chain(
    chain: ChainProblem, poses: Mapping[str, tuple[Array, Array]], count: int
) -> BatchChain:
    goals = chain.names.goals
    positions, quats = np.zeros((count, len(goals), 3)), np.zeros((count, len(goals), 4))
    for k, (_, name) in enumerate(goals):
        positions[:, k], quats[:, k] = poses[name]
    records = np.zeros((count, RECORD + 2 * len(chain.names.constraints)))
    return BatchChain(chain, chain.table.copy(), positions, quats, records)
