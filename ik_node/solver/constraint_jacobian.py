# flake8: noqa: E203
"""The rows of a problem and their Jacobian as dense arrays."""

from __future__ import annotations

from ik_node.kernels.layout import begin_of
from ik_node.kernels.linearise import linearise
from ik_node.solver.problem import ChainProblem, Problem
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
    joints : ndarray, shape (7, nq)
        Limits and locks.
    packed : ndarray
        Options.

    Returns
    -------
    residual : ndarray, shape (nr,)
        [m] and [rad]
    jacobian : ndarray, shape (nr, nq)
        Zero in columns of coupled values: their masters have the whole derivative. A ball joint
        without limits has its EX, EY, EZ columns per turn about the axes of its turned frame.
    owners : list of str
        Name of the closure or goal of every row.

    """
    residuals, blocks, owners = [], [], []
    for chain in problem.chains:
        linearise(
            chain.flat.ints,
            chain.flat.floats,
            chain.work_ints,
            chain.work_floats,
            q.copy(),
            joints,
            chain.table,
            packed,
        )
        count = sum(chain.flat.row_counts)
        at = begin_of(chain.flat.ints, 'residual')
        residuals.append(chain.work_floats[at : at + count].copy())
        blocks.append(_dense(chain, count, len(q)))
        for name, rows in zip(chain.names.constraints, chain.flat.row_counts, strict=True):
            owners += [name] * rows
    if not blocks:
        return np.zeros(0), np.zeros((0, len(q))), []
    return np.concatenate(residuals), np.vstack(blocks), owners


def _dense(chain: ChainProblem, count: int, width: int) -> Array:
    ints, floats = chain.flat.ints, chain.work_floats
    slot0, slot_var = begin_of(ints, 'slot0'), begin_of(ints, 'slot_var')
    at, row = begin_of(ints, 'jac'), 0
    dense = np.zeros((count, width))
    for c, rows in enumerate(chain.flat.row_counts):
        first, last = int(ints[slot0 + c]), int(ints[slot0 + c + 1])
        columns = chain.flat.var_q[ints[slot_var + first : slot_var + last]]
        block = floats[at : at + rows * (last - first)].reshape(rows, last - first)
        dense[row : row + rows, columns] = block
        at += block.size
        row += rows
    return dense
