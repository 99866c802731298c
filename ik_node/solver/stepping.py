# flake8: noqa: E203
"""A solve that is watched: one iteration at a time."""

from __future__ import annotations

from ik_node.kernels.counters import ITERATIONS, PHASE, PHASE_DONE, STARTS, STATUS_RUNNING
from ik_node.kernels.layout import begin_of
from ik_node.kernels.options import RESTARTS
from ik_node.kernels.solve import advance
from ik_node.solver.joint_table import JointTable
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem import AS_THEY_ARE, Problem
from ik_node.solver.result import ChainAnswer
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Stepping:
    """
    The state of a solve between two of its steps.

    Parameters
    ----------
    problem : Problem

    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._left: list[Array] = []
        self._state: list[tuple[NDArray[np.int64], Array]] = []
        self._options: SolverOptions | None = None
        self._start: Array = np.zeros(0)
        self._count = 0

    def step(
        self, q: Array, table: JointTable, options: SolverOptions, packed: Array
    ) -> list[ChainAnswer]:
        """
        Do one iteration of every chain.

        Parameters
        ----------
        q : ndarray, shape (nq,)
            Where it stands, and in place where it comes to [rad or m].
        table : JointTable
            Limits, locks, wishes and couplings.
        options : SolverOptions
            `restarts` do not apply.
        packed : ndarray
            The same for kernels.

        """
        joints = table.rows
        asked = [q, joints, packed, *(chain.table for chain in self.problem.chains)]
        goes_on = self._options is options and len(asked) == len(self._left)
        goes_on = goes_on and all(
            np.array_equal(*pair) for pair in zip(asked, self._left, strict=True)
        )
        self._options = options
        if not goes_on:
            self._start, self._count = q.copy(), 0
        self._count += 1
        answers = (
            self._kernel_step(q, joints, packed, goes_on)
            if options.in_kernel
            else self._method_step(q, joints, options)
        )
        table.follow(q)
        self._left = [q.copy(), *(array.copy() for array in asked[1:])]
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
            model = (chain.flat.ints, chain.flat.floats)
            status = advance(*model, ints, floats, q, joints, packed, *AS_THEY_ARE, 1)
            if status == STATUS_RUNNING:
                at = begin_of(chain.flat.ints, 'x')
                q[chain.flat.var_q] = floats[at : at + len(chain.flat.var_q)]
                status = Status.TIMEOUT
            answer = chain.answer(joints, packed)
            answer.record[:3] = status, ints[ITERATIONS], ints[STARTS]
            answer.table[:] = chain.table
            answers.append(answer.at(chain.linearise(q, joints, packed)[2]))
        return answers

    def _method_step(self, q: Array, joints: Array, options: SolverOptions) -> list[ChainAnswer]:
        """Go all the way from the start, one iteration further: what a method learned counts."""
        from ik_node.solver.methods import run_method

        q[:] = self._start
        return run_method(self.problem, q, joints, options, max_iterations=self._count)
