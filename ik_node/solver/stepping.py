"""The solve in single iterations, for `Solver.step` and for the traces of `compare`."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import NamedTuple, Protocol

from ik_node.errors import UnknownFrameError
from ik_node.kernels.layout import CON_POSE, RECORD
from ik_node.kernels.options import RESTARTS
from ik_node.kernels.solve_state import (
    CLOSING,
    ITERATIONS,
    PHASE,
    PHASE_DONE,
    STARTS,
    STATUS_RUNNING,
)
from ik_node.model.request import requests_of
from ik_node.model.tree import Tree
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import unit_pose
from ik_node.solver.problem.chain_problem import ChainProblem, TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.workspace import Workspace
from ik_node.solver.result import ChainAnswer, Solution
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Steps(Protocol):
    """A solve of one chain, one iteration per call, in a workspace of its own."""

    @property
    def done(self) -> bool:
        """Return True if the solve has ended."""

    def step(self, q: Array) -> ChainAnswer:
        """Do an iteration and write its values to q [rad or m]; the first call gives the start."""

    def end(self, q: Array) -> ChainAnswer:
        """Write the answer to q [rad or m] and return it."""


class _KernelSteps:
    def __init__(self, chain: ChainProblem, joints: Array, options: SolverOptions) -> None:
        self._chain, self._joints = chain.with_own_workspace(), joints.copy()
        self._packed = options.packed()
        self._packed[RESTARTS] = 0.0
        self._chain.work_ints[PHASE] = PHASE_DONE
        self._slice, self.done = 0, False

    def step(self, q: Array) -> ChainAnswer:
        chain, joints, packed = self._chain, self._joints, self._packed
        ints, flat = chain.work_ints, chain.flat
        status = chain.kernels.advance(q, joints, packed, *TABLE_POSES, 0, self._slice)
        self._slice = 1
        if status == STATUS_RUNNING:
            status = Status.TIMEOUT
            q[flat.var_q] = chain.q_of(Workspace(*chain.arrays).x)
        else:
            self.done = True
        answer = chain.answer(joints, packed)
        count = ints[ITERATIONS] - ints[CLOSING]
        answer.record[:RECORD] = status, count, ints[STARTS], ints[CLOSING], 0
        self._answer = answer.at(chain.linearise(q, joints, packed)[2])
        return self._answer

    def end(self, q: Array) -> ChainAnswer:
        return self._answer


def steps_of(chain: ChainProblem, q: Array, joints: Array, options: SolverOptions) -> Steps:
    """Return a solve of a chain from q in single iterations; `options.restarts` is ignored."""
    if options.in_kernel:
        return _KernelSteps(chain, joints, options)
    from ik_node.solver.methods.loop import SteppedRun
    from ik_node.solver.methods.run import METHODS

    return SteppedRun(METHODS[options.method], chain, q, joints, options)


class Stepping:
    """The solve of a problem between two calls of `Solver.step`."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._left: list[Array] = []
        self._options: SolverOptions | None = None
        self._runs: dict[int, Steps] = {}

    def step(self, q: Array, table: JointTable, options: SolverOptions) -> list[ChainAnswer]:
        """
        Do one iteration of every chain from q [rad or m], and write the new values to q.

        The solve begins again if q, joints, options or constraints differ from those that the
        last call left. Returns an answer for each chain; TIMEOUT if it is not finished.
        """
        inputs = [q, table.rows, *(chain.table for chain in self.problem.chains)]
        goes_on = self._options is options and all(map(np.array_equal, inputs, self._left))
        if not goes_on:
            self._runs = {}
        start, answers = q.copy(), []
        for at, chain in enumerate(self.problem.chains):
            if at not in self._runs or self._runs[at].done:
                self._runs[at] = steps_of(chain, start, table.rows, options)
                self._runs[at].step(q)
            run = self._runs[at]
            answer = run.end(q) if run.done else run.step(q)
            answers.append(run.end(q) if run.done else answer)
        table.follow(q)
        self._options, self._left = options, [array.copy() for array in inputs]
        return answers


class TracePoint(NamedTuple):
    """
    The state of a chain after an iteration.

    Iteration 0 is the start. q (nq,) are all joint values [rad or m]; position [m] and orientation
    [rad] the largest residuals of any closure or goal of the chain.
    """

    chain: int
    iteration: int
    q: Array
    position: float
    orientation: float


class Trace(NamedTuple):
    """A solution and the iterations that led to it, chain by chain."""

    solution: Solution
    points: tuple[TracePoint, ...]


def trace(
    tree: Tree,
    q0: ArrayLike,
    options: SolverOptions,
    goals: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    *,
    watched: bool = True,
) -> Trace:
    """
    Solve all enabled closures and goals of a tree from one start, and record every iteration.

    The tree is `Solver.tree`, q0 (nq,) the start [rad or m], and `goals` the poses (position [m],
    quat_xyzw) that replace those of goals. Where `options.in_kernel` is true, the compiled solver
    is used. With `watched=False` no points are recorded, which saves time.

    Raises
    ------
    UnknownFrameError
        If a goal does not exist.
    ShapeError
        If a pose cannot be used.
    OptionError
        As for `run_method`.

    """
    from ik_node.solver.methods.run import run_method

    chosen = [request for request in requests_of(tree) if request.takes_part]
    problem = Problem(tree, chosen, length=options.characteristic_length)
    problem.refresh(options)
    for name, pose in (goals or {}).items():
        known = [request.name for request in problem.requests if request.is_goal]
        if name not in known:
            raise UnknownFrameError(name, known, 'goal')
        chain, at = problem.place_of_goal[name]
        chain.table[at, CON_POSE : CON_POSE + 7] = unit_pose(name, pose, chain.requests[at])
    table, q = JointTable(tree), np.array(q0, dtype=np.float64)
    points, answers, started = list[TracePoint](), list[ChainAnswer](), perf_counter()
    if watched:
        for number, chain in enumerate(problem.chains):
            run = steps_of(chain, q, table.rows, options)
            while not run.done:
                answer = run.step(q)
                worst = answer.errors.max(axis=0, initial=0.0).tolist()
                points.append(TracePoint(number, answer.iterations, q.copy(), *worst))
            answers.append(run.end(q))
    elif options.in_kernel:
        answers = problem.run(q, table.rows, options.packed(), options.time_budget)
    else:
        answers = run_method(problem, q, table.rows, options)
    table.follow(q)
    return Trace(Solution(q, answers, perf_counter() - started, tree.names), tuple(points))
