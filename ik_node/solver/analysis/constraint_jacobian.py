"""The residual of a problem and its Jacobian as dense arrays."""

from __future__ import annotations

from ik_node.solver.problem.problem import Problem
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rows_and_jacobian(
    problem: Problem, q: Array, joints: Array, packed: Array
) -> tuple[Array, Array, list[str]]:
    """
    Return the residual of all chains at q and its Jacobian, with one column per joint value.

    Parameters
    ----------
    problem : Problem
        Closures and goals.
    q : ndarray, shape (nq,)
        Joint values [rad or m].
    joints : ndarray, shape (8, nq)
        Limits and locks, see `JointTable.rows`.
    packed : ndarray
        Options, see `SolverOptions.packed`.

    Returns
    -------
    residual : ndarray, shape (nr,)
        Residual [m, rad].
    jacobian : ndarray, shape (nr, nq)
        Derivatives by the values. Columns of coupled values are zero, because the columns of
        their masters contain the total derivative. For ball joints see `ChainProblem.linearise`.
    owners : list of str
        Name of the closure or goal of every row.

    """
    residuals: list[Array] = [np.zeros(0)]
    blocks: list[Array] = [np.zeros((0, len(q)))]
    owners: list[str] = []
    for chain in problem.chains:
        residual, jacobian, _ = chain.linearise(q, joints, packed)
        wide = np.zeros((len(residual), len(q)))
        wide[:, chain.flat.var_q] = jacobian
        residuals.append(residual)
        blocks.append(wide)
        for name, rows in zip(chain.names.constraints, chain.flat.row_counts, strict=True):
            owners += [name] * rows
    return np.concatenate(residuals), np.vstack(blocks), owners
