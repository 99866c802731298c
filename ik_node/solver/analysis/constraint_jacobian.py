"""The rows of a problem and their Jacobian as dense arrays."""

from __future__ import annotations

from ik_node.solver.problem.problem import Problem
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rows_and_jacobian(
    problem: Problem, q: Array, joints: Array, packed: Array
) -> tuple[Array, Array, list[str]]:
    """
    Return all residual rows at q and their derivatives by the free values.

    Parameters
    ----------
    problem : Problem
        Closures and goals.
    q : ndarray, shape (nq,)
        [rad or m]
    joints : ndarray, shape (8, nq)
        Limits and locks.
    packed : ndarray
        Options.

    Returns
    -------
    residual : ndarray, shape (nr,)
        [m] and [rad]
    jacobian : ndarray, shape (nr, nq)
        Zero in columns of coupled values: their masters have the whole derivative. Balls without
        limits as in `ChainProblem.linearise`.
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
