# flake8: noqa: E203
"""The solve in single iterations, for `Solver.step`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ik_node.kernels.layout import begin_of, RECORD
from ik_node.kernels.options import RESTARTS
from ik_node.kernels.solve_state import (
    CLOSING,
    ITERATIONS,
    PHASE,
    PHASE_DONE,
    STARTS,
    STATUS_RUNNING,
)
from ik_node.native import bind
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import ChainAnswer
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ik_node.solver.methods.run import SteppedRun

Array = NDArray[np.float64]


class Stepping:
    """
    The state of a solve between two of its iterations.

    Parameters
    ----------
    problem : Problem
        Closures and goals.

    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._left: list[Array] = []
        self._state: list[tuple[NDArray[np.int64], Array]] = []
        self._options: SolverOptions | None = None
        self._runs: list[SteppedRun] = []

    def step(
        self, q: Array, table: JointTable, options: SolverOptions, packed: Array
    ) -> list[ChainAnswer]:
        """
        Do one iteration of every chain.

        The solve begins again if q, joints, options or constraints differ from those that the
        last call left.

        Parameters
        ----------
        q : ndarray, shape (nq,)
            Present configuration; overwritten with the next one [rad or m].
        table : JointTable
            Limits, locks, preferences and couplings.
        options : SolverOptions
            Options of the solver; `restarts` is ignored.
        packed : ndarray
            The same options packed for the kernels.

        Returns
        -------
        list of ChainAnswer
            One per chain; TIMEOUT if the chain is not finished.

        """
        joints = table.rows
        inputs = [q, joints, packed, *(chain.table for chain in self.problem.chains)]
        goes_on = self._options is options and len(inputs) == len(self._left)
        goes_on = goes_on and all(
            np.array_equal(*pair) for pair in zip(inputs, self._left, strict=True)
        )
        self._options = options
        answers = (
            self._kernel_step(q, joints, packed, goes_on)
            if options.in_kernel
            else self._method_step(q, joints, options, goes_on)
        )
        table.follow(q)
        self._left = [q.copy(), *(array.copy() for array in inputs[1:])]
        return answers

    def _kernel_step(
        self, q: Array, joints: Array, packed: Array, goes_on: bool
    ) -> list[ChainAnswer]:
        packed = packed.copy()
        packed[RESTARTS] = 0.0
        if not goes_on:
            self._state = [
                (chain.work_ints.copy(), chain.work_floats.copy()) for chain in self.problem.chains
            ]
            for ints, _ in self._state:
                ints[PHASE] = PHASE_DONE
        answers = []
        for chain, (ints, floats) in zip(self.problem.chains, self._state, strict=True):
            kernels = bind(chain.flat.ints, chain.flat.floats, ints, floats)
            status = kernels.advance(q, joints, packed, *TABLE_POSES, 0, 1)
            if status == STATUS_RUNNING:
                at = begin_of(chain.flat.ints, 'x')
                q[chain.flat.var_q] = chain.q_of(floats[at : at + len(chain.flat.var_q)])
                status = Status.TIMEOUT
            answer = chain.answer(joints, packed)
            steps = ints[ITERATIONS] - ints[CLOSING]
            answer.record[:RECORD] = status, steps, ints[STARTS], ints[CLOSING], 0
            answer.table[:] = chain.table
            answers.append(answer.at(chain.linearise(q, joints, packed)[2]))
        return answers

    def _method_step(
        self, q: Array, joints: Array, options: SolverOptions, goes_on: bool
    ) -> list[ChainAnswer]:
        from ik_node.solver.methods.run import SteppedRun

        if not goes_on or len(self._runs) != len(self.problem.chains):
            self._runs = []
        start, answers = q.copy(), []
        for at, chain in enumerate(self.problem.chains):
            if at == len(self._runs):
                self._runs.append(SteppedRun(chain, start, joints, options))
            elif self._runs[at].done:
                self._runs[at] = SteppedRun(chain, start, joints, options)
            answers.append(self._runs[at].step(q))
        return answers
