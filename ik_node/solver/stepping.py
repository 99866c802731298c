"""The solve in single iterations, for `Solver.step` and for the traces of `compare`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
import itertools
from time import perf_counter
from typing import NamedTuple

from ik_node.errors import UnknownFrameError
from ik_node.kernels import layout
from ik_node.kernels import options as option
from ik_node.kernels import solve_state as now
from ik_node.model.request import requests_of
from ik_node.model.tree import Tree
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem, TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.problem.workspace import Workspace
from ik_node.solver.result import ChainAnswer, Solution
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Step(NamedTuple):
    """
    An iteration of a chain: its values, in q (nq,) [rad or m], and its result.

    After the `last` iteration there is one more step, which is the answer.
    """

    q: Array
    answer: ChainAnswer
    last: bool


def steps_of(
    chain: ChainProblem, q: Array, joints: Array, options: SolverOptions
) -> Iterator[Step]:
    """
    Solve a chain in single iterations, in a workspace of its own; yield the start and each.

    `options.restarts` is ignored.
    """
    chain, q, joints = chain.with_own_workspace(), q.copy(), joints.copy()
    return (_kernel_steps if options.in_kernel else _method_steps)(chain, q, joints, options)


def _kernel_steps(
    chain: ChainProblem, q: Array, joints: Array, options: SolverOptions
) -> Iterator[Step]:
    packed, ints = options.packed(), chain.work_ints
    packed[option.RESTARTS] = 0.0
    ints[now.PHASE] = now.PHASE_DONE
    status = chain.kernels.advance(q, joints, packed, *TABLE_POSES, 0, 0)
    while True:
        last = status != now.STATUS_RUNNING
        if not last:
            status = Status.TIMEOUT
            q[chain.flat.var_q] = chain.q_of(Workspace(*chain.arrays).x)
        answer, count = chain.answer(joints, packed), ints[now.ITERATIONS] - ints[now.CLOSING]
        answer.record[: layout.RECORD] = status, count, ints[now.STARTS], ints[now.CLOSING], 0
        step = Step(q.copy(), answer.at(chain.linearise(q, joints, packed)[2]), last)
        yield step
        if last:
            yield step
            return
        status = chain.kernels.advance(q, joints, packed, *TABLE_POSES, 0, 1)


def _method_steps(
    chain: ChainProblem, q: Array, joints: Array, options: SolverOptions
) -> Iterator[Step]:
    from ik_node.solver.methods.loop import Run
    from ik_node.solver.methods.run import METHOD_TABLE

    # SLSQP does many iterations in one step and cannot be interrupted: each is yielded alone.
    seen = deque[Array]()
    method = METHOD_TABLE[options.method]
    run = Run(method, chain, q, joints, options, watch=lambda here: seen.append(here.x.copy()))
    here = run.here
    for count in itertools.count():
        if not seen:
            run.step()
        reached, x = here.x.copy(), seen.popleft()
        # To set a ball changes its last digits.
        moves = not np.array_equal(x, reached)
        if moves:
            here.go_to(x)
        last = not seen and run.status is not None
        yield Step(q.copy(), run.answer_of(Status.TIMEOUT, count), last)
        if last:
            answer = run.answer()  # it moves to the best iterate
            yield Step(q.copy(), answer, last)
            return
        if moves:
            here.go_to(reached)


class Stepping:
    """The solve of a problem between two calls of `Solver.step`."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._left: list[Array] = []
        self._options: SolverOptions | None = None
        self._runs: dict[int, Iterator[Step]] = {}

    def step(self, q: Array, table: JointTable, options: SolverOptions) -> list[ChainAnswer]:
        """
        Do one iteration of every chain from q [rad or m], and write the new values to q.

        The solve begins again if q, joints, options or constraints differ from those that the
        last call left. Returns an answer for each chain; TIMEOUT if it is not finished.
        """
        inputs = [q, table.rows, *(chain.table for chain in self.problem.chains)]
        if self._options is not options or not all(map(np.array_equal, inputs, self._left)):
            self._runs = {}
        start, answers = q.copy(), []
        for index, chain in enumerate(self.problem.chains):
            run = self._runs.pop(index, None)
            at_start = False
            if run is None:
                run = steps_of(chain, start, table.rows, options)
                at_start = next(run).last
            step = next(run)
            if step.last and not at_start:
                step = next(run)
            if not step.last:
                self._runs[index] = run
            q[chain.flat.var_q] = step.q[chain.flat.var_q]
            answers.append(step.answer)
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
        if name not in problem.place_of_goal:
            raise UnknownFrameError(name, [*problem.place_of_goal], 'goal')
        problem.set_goal(name, pose)
    table, q = JointTable(tree), np.array(q0, dtype=np.float64)
    points, answers, started = list[TracePoint](), list[ChainAnswer](), perf_counter()
    if watched:
        for number, chain in enumerate(problem.chains):
            *steps, end = steps_of(chain, q, table.rows, options)
            for step in steps:
                worst = step.answer.errors.max(axis=0, initial=0.0).tolist()
                points.append(TracePoint(number, step.answer.iterations, step.q, *worst))
            q[chain.flat.var_q] = end.q[chain.flat.var_q]
            answers.append(end.answer)
    elif options.in_kernel:
        answers = problem.run(q, table.rows, options.packed(), options.time_budget)
    else:
        answers = run_method(problem, q, table.rows, options)
    table.follow(q)
    return Trace(Solution(q, answers, perf_counter() - started, tree.names), tuple(points))
