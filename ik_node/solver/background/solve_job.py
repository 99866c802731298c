"""What is handed to the thread that solves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import ReferenceType

from ik_node.model.tree import Tree
from ik_node.solver.background.solve_future import SolveFuture
from ik_node.solver.result import Solution
from ik_node.solver.solver import Solver
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A round that takes less than this share off the squared residuals of what timed out was no help.
LEAST_HELP = 1e-6


@dataclass(eq=False)
class SolveJob:
    """
    One reading of the objects, and how far its solve has come.

    Attributes
    ----------
    solver : Solver
        Which read the objects; it is in use until the job has ended.
    task : callable
        What `Solver.task` returned.
    tree : Tree
        The graph as it was then.
    read : ndarray, shape (nq,)
        The joints' values when it read them [rad or m].
    locked : ndarray, shape (nq,), bool
        Which of them no solve moves.
    until_done : bool
        Whether it goes on after a TIMEOUT, where no option says how far one solve may go.
    future : weak reference to SolveFuture
        Who waits for it; several jobs, one after another, may be due to one.
    before : SolveJob or None
        The job that it supersedes and goes on from.
    stop : list of one bool
        Whether it is to end at its next slice.
    stopped : bool
        ... because the user said so.
    handed_on : bool
        ... because another job goes on from its answer.
    dropped : bool
        ... and its answer is not wanted.
    start : ndarray, shape (nq,), or None
        Where its next round begins [rad or m]; None = where the joints were.
    answer : Solution or None
        The last one found.

    """

    solver: Solver
    task: Callable[..., Solution]
    tree: Tree
    read: Array
    locked: NDArray[np.bool_]
    until_done: bool
    future: ReferenceType[SolveFuture]
    before: SolveJob | None = None
    stop: list[bool] = field(default_factory=lambda: [False])
    stopped: bool = False
    handed_on: bool = False
    dropped: bool = False
    start: Array | None = None
    answer: Solution | None = None

    @property
    def found(self) -> Array | None:
        """Where it, or the one it goes on from, has come to [rad or m]; None = nowhere yet."""
        if self.answer is not None:
            return self.answer.q
        return None if self.before is None else self.before.found

    def run(self) -> Solution:
        """
        Do a round from where it has come to; nothing else may use its solver meanwhile.

        The first one begins where the job before it ended, but for locked joints.
        """
        found = None if self.before is None else self.before.found
        if found is not None:
            self.start = np.where(self.locked, self.read, found)
        self.before = None
        solution = self.task(self.stop, self.start)
        _ = solution.chains  # put into words here, not in the thread that looks at them
        self.start = solution.q
        return solution

    def goes_on(self, solution: Solution) -> bool:
        """Return whether another round is due after this answer."""
        options = self.solver.options
        limited = options.time_budget > 0.0 or options.max_joint_step < np.inf
        if limited or self.stop[0] or not self.until_done:
            return False
        if solution.status is not Status.TIMEOUT:
            return False
        before = np.inf if self.answer is None else _open_residual(self.answer)
        return _open_residual(solution) < (1.0 - LEAST_HELP) * before


def _open_residual(solution: Solution) -> float:
    """Sum the squared residuals of the chains that timed out."""
    return sum(
        error.position**2 + error.orientation**2
        for chain in solution.chains
        if chain.status is Status.TIMEOUT
        for errors in (chain.goal_errors, chain.closure_errors)
        for error in errors.values()
    )
