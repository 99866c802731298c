# flake8: noqa: E203
"""The trace of a solve: configuration, time and residual after every iteration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

from ik_node.errors import UnknownFrameError
from ik_node.kernels.layout import begin_of, CON_POSE
from ik_node.kernels.solve_state import ITERATIONS, PHASE, PHASE_DONE, STATUS_RUNNING
from ik_node.model.request import requests_of
from ik_node.model.tree import Tree
from ik_node.solver.methods.iterate import blocks_of
from ik_node.solver.methods.progress import Observe
from ik_node.solver.methods.run import run_method
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import unit_pose
from ik_node.solver.problem.chain_problem import TABLE_POSES
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import ChainAnswer, Solution
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class TracePoint(NamedTuple):
    """
    The state of a chain after an iteration.

    Attributes
    ----------
    chain : int
        Index of the chain.
    iteration : int
        Number of the iteration; 0 = the start.
    seconds : float
        Time since the start of the solve [s].
    q : ndarray, shape (nq,)
        Joint values [rad or m].
    position, orientation : float
        Largest residuals of any closure or goal of the chain [m], [rad].

    """

    chain: int
    iteration: int
    seconds: float
    q: Array
    position: float
    orientation: float


@dataclass(frozen=True)
class Trace:
    """
    A solution and the iterations that led to it.

    Attributes
    ----------
    solution : Solution
        The result.
    points : tuple of TracePoint
        The iterations, chain by chain, in order.

    """

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
    Solve all enabled closures and goals of a tree, and record every iteration.

    Parameters
    ----------
    tree : Tree
        Tree of the graph, `Solver.tree`.
    q0 : array_like, shape (nq,)
        Start [rad or m].
    options : SolverOptions
        Options of the solve. Where `options.in_kernel` is true, the compiled solver is used.
    goals : mapping of str to (position, quat_xyzw), optional
        Name of a goal -> position [m] and orientation that replace its own.
    watched : bool
        False: record no points, which saves time.

    Returns
    -------
    Trace
        The solution and the recorded iterations.

    Raises
    ------
    UnknownFrameError
        If a goal does not exist.
    ShapeError
        If a pose cannot be used.
    OptionError
        As for `run_method`.

    """
    chosen = [request for request in requests_of(tree) if request.takes_part]
    problem = Problem(tree, chosen, length=options.characteristic_length)
    problem.refresh(options)
    for name, pose in (goals or {}).items():
        known = [request.name for request in problem.requests if request.is_goal]
        if name not in known:
            raise UnknownFrameError(name, known, 'goal')
        chain, at = problem.place_of_goal[name]
        chain.table[at, CON_POSE : CON_POSE + 7] = unit_pose(name, pose, chain.requests[at])
    table = JointTable(tree)
    q, points = np.array(q0, dtype=np.float64), list[TracePoint]()

    def observe(
        chain: int, iteration: int, seconds: float, q: Array, position: float, orientation: float
    ) -> None:
        points.append(TracePoint(chain, iteration, seconds, q, position, orientation))

    started = perf_counter()
    if options.in_kernel:
        answers = _run_compiled(problem, q, table.rows, options, observe if watched else None)
    else:
        answers = run_method(problem, q, table.rows, options, (), observe if watched else None)
    table.follow(q)
    solution = Solution(q, answers, perf_counter() - started, tree.names)
    return Trace(solution, tuple(points))


def _run_compiled(
    problem: Problem, q: Array, rows: Array, options: SolverOptions, observe: Observe | None
) -> list[ChainAnswer]:
    """Solve as `Problem.run` does, one step at a time, and report each step."""
    packed = options.packed()
    if observe is None:
        return problem.run(q, rows, packed, options.time_budget)
    started, answers = perf_counter(), []
    for number, chain in enumerate(problem.chains):
        ints, w = chain.flat.ints, chain.work_floats
        blocks = blocks_of(ints)
        residual = w[begin_of(ints, 'residual') :]
        x = w[begin_of(ints, 'x') : begin_of(ints, 'x') + chain.flat.var_q.size]
        chain.work_ints[PHASE] = PHASE_DONE
        status, slice_ = STATUS_RUNNING, 0
        while status == STATUS_RUNNING:
            status = chain.kernels.advance(q, rows, packed, *TABLE_POSES, 0, slice_)
            slice_ = 1
            there = q.copy()
            there[chain.flat.var_q] = chain.q_of(x)
            worst = [0.0, 0.0]
            rows_here = residual[chain.flat.rows] * chain.flat.row_units
            for block in blocks:
                size = float(np.linalg.norm(rows_here[block.first : block.last]))
                worst[block.is_rotation] = max(worst[block.is_rotation], size)
            iteration = int(chain.work_ints[ITERATIONS])
            observe(number, iteration, perf_counter() - started, there, worst[0], worst[1])
        answers.append(chain.answer(rows, packed))
    return answers
