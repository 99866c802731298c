# flake8: noqa: E203
"""One set of goals, solved again and again for other poses."""

from __future__ import annotations

from typing import Any, Protocol

from ik_node.errors import ShapeError
from ik_node.kernels._jit import only_known_types
from ik_node.kernels.layout import CON_POSE
from ik_node.kernels.solve import advance
from ik_node.solver.problem import AS_THEY_ARE, Poses, Problem
from ik_node.solver.result import Solution
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class PosedSolver(Protocol):
    """What a prepared solve needs of its solver."""

    def warm(self) -> None:
        """Have the kernels compiled."""

    def problem_of(self, names: tuple[str, ...]) -> Problem:
        """Return the problem of goals, up to date with joints, goals and options."""

    def run(self, problem: Problem, q0: ArrayLike | None, poses: Poses) -> Solution:
        """Solve for poses."""


class PreparedSolve:
    """
    A callable for one set of goals: what `Solver.solve_pose` does, less the work of every call.

    Parameters
    ----------
    solver : Solver
    names : tuple of str
        Goals or links, as in `Solver.solve_pose`.

    """

    def __init__(self, solver: PosedSolver, names: tuple[str, ...]) -> None:
        self._solver = solver
        self._names = names
        solver.warm()
        only_known_types(advance)
        solver.problem_of(names)

    def __call__(
        self, positions: ArrayLike, quats_xyzw: ArrayLike, q0: ArrayLike | None = None
    ) -> Solution:
        """
        Solve for poses.

        Parameters
        ----------
        positions : array_like, shape (k, 3)
            [m], in the order of the names; for one goal (3,) will do.
        quats_xyzw : array_like, shape (k, 4)
            Likewise. C-contiguous arrays of float64 are the fastest.
        q0 : array_like, shape (nq,), optional
            Start; None = the joints' present values.

        Raises
        ------
        ShapeError
            If a shape is wrong, a number is not finite, or a quaternion is zero.

        """
        problem = self._solver.problem_of(self._names)
        if len(problem.chains) == 1:
            try:
                at: Any = positions
                turned: Any = quats_xyzw
                if len(self._names) == 1:
                    at, turned = at.reshape(1, 3), turned.reshape(1, 4)
                return self._solver.run(problem, q0, (at, turned))
            except (AttributeError, TypeError, ValueError):
                # Not arrays, or not of the one kind that kernels take.
                pass
        poses = self._tables(positions, quats_xyzw)
        if len(problem.chains) > 1:
            for k, name in enumerate(self._names):
                chain, row = problem.seat[name]
                chain.table[row, CON_POSE : CON_POSE + 3] = poses[0][k]
                chain.table[row, CON_POSE + 3 : CON_POSE + 7] = poses[1][k]
            poses = AS_THEY_ARE
        return self._solver.run(problem, q0, poses)

    def _tables(self, positions: ArrayLike, quats_xyzw: ArrayLike) -> Poses:
        """Return poses as kernels take them."""
        count, tables = len(self._names), []
        for name, values, width in (('positions', positions, 3), ('quats_xyzw', quats_xyzw, 4)):
            array = np.array(values, dtype=np.float64, order='C')
            if array.shape != (count, width) and (count, *array.shape) != (1, width):
                raise ShapeError(name, f'shape ({count}, {width})', f'{array.shape}')
            tables.append(array.reshape(count, width))
        return tables[0], tables[1]
