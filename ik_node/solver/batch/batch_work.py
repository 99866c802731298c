"""What a batch or a path is solved with: all that a single solve looks up in every call."""

from __future__ import annotations

from ik_node.errors import OptionError
from ik_node.kernels.layout import (
    JOINT_LOWER,
    JOINT_TARGET,
    JOINT_TARGET_WEIGHT,
    JOINT_UPPER,
    JOINT_WINDOW,
)
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class BatchWork:
    """
    What stays the same from problem to problem.

    Parameters
    ----------
    problem : Problem
        Closures and goals.
    table : JointTable
        Limits, locks, wishes and couplings.
    options : SolverOptions
    packed : ndarray
        The same for kernels.
    window : ndarray, shape (nq,), optional
        Largest change of every value in one solve [rad or m].

    Attributes
    ----------
    names : list of str
        Of the values of q.

    Raises
    ------
    OptionError
        If the method is not the compiled one.

    """

    def __init__(
        self,
        problem: Problem,
        table: JointTable,
        options: SolverOptions,
        packed: Array,
        window: Array | None = None,
    ) -> None:
        if not options.in_kernel:
            chosen = (options.method, options.jacobian, options.use_svd)
            allowed = 'dls, analytic, without use_svd; or call solve_pose for each'
            raise OptionError('method, jacobian, use_svd of many solves', chosen, allowed)
        self.problem = problem
        self.names = list(problem.tree.names)
        self.options = options
        self.packed = packed.copy()
        self._table = table
        most = options.max_joint_step
        self._narrowed = window is not None or most < np.inf
        self._window = (
            np.full(len(self.names), most) if window is None else np.minimum(window, most)
        )

    @property
    def by_start(self) -> bool:
        """Whether the table of joints depends on where a solve begins."""
        table = self._table
        return bool(table.wishful_balls) or (self._narrowed and bool(table.followers))

    def rows(self, q: Array, window: Array | float = np.inf) -> Array:
        """
        Return the table of joints (8, nq) for a solve.

        Parameters
        ----------
        q : ndarray, shape (nq,)
            Where it begins [rad or m].
        window : ndarray, shape (nq,), or float
            Largest change of every value, beside that of all solves [rad or m].

        """
        rows, table = self._table.rows, self._table
        narrower = np.minimum(self._window, window)
        if narrower.min(initial=np.inf) < np.inf:
            q = np.clip(q, rows[JOINT_LOWER], rows[JOINT_UPPER])
            rows = table.narrowed(narrower, q)
        if table.wishful_balls:
            rows = table.nearest(rows, q)
        return rows.copy()

    def place(self, q: Array, rows: Array) -> None:
        """
        Bring starts to within limits, and what nothing else moves to its target, in place.

        Parameters
        ----------
        q : ndarray, shape (n, nq)
            [rad or m]
        rows : ndarray, shape (1, 8, nq) or (n, 8, nq)
            Tables of joints.

        """
        lower, upper = self._table.rows[JOINT_LOWER], self._table.rows[JOINT_UPPER]
        if self._narrowed or not self.problem.chains:  # else the kernel does it
            np.clip(q, lower, upper, out=q)
        if self._table.has_targets:
            wanted = rows[0, JOINT_TARGET_WEIGHT] > 0.0
            wanted[self.problem.moved] = False
            window = rows[:, JOINT_WINDOW]
            low = np.maximum(rows[:, JOINT_LOWER], q - window)
            high = np.minimum(rows[:, JOINT_UPPER], q + window)
            q[:, wanted] = np.clip(rows[:, JOINT_TARGET], low, high)[:, wanted]

    def follow(self, q: Array) -> None:
        """Set coupled values (n, nq) from their masters, in place."""
        rows = self._table.rows
        for follower, master, polynomial in self._table.followers:
            total: Array = np.zeros(len(q))
            for coefficient in reversed(polynomial):
                total = total * q[:, master] + coefficient
            low, high = rows[JOINT_LOWER, follower], rows[JOINT_UPPER, follower]
            q[:, follower] = np.minimum(np.maximum(total, low), high)
