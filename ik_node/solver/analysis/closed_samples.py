"""Configurations drawn at random whose loops are closed."""

from __future__ import annotations

from ik_node.kernels.layout import JOINT_LOWER, JOINT_UPPER, JOINT_WINDOW
from ik_node.solver.graph_reader import RobotLike
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.solver import Solver
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Where a joint has no limit: half a turn, or so many characteristic lengths, to either side of
# where it is.
_UNLIMITED = np.pi


def closed_samples(source: RobotLike, count: int, seed: int = 0) -> Array:
    """
    Draw joint values between the limits, and close the loops from there.

    Parameters
    ----------
    source : Robot
        Locked joints stay where they are.
    count : int
        How many are drawn.
    seed : int
        Same seed, same samples.

    Returns
    -------
    ndarray, shape (at most count, nq)
        [rad or m]; those whose loops do not close are left out. They are not spread evenly.

    """
    solver = Solver(source, SolverOptions(restarts=2, seed=seed))
    here, rows = solver.q, JointTable(solver.tree).rows
    widest = _UNLIMITED * solver.problem_of(()).units
    low = np.maximum(rows[JOINT_LOWER], here - widest)
    high = np.minimum(rows[JOINT_UPPER], here + widest)
    # An interval that lies far from where the joint is has no place above.
    low = np.minimum(low, rows[JOINT_UPPER])
    high = np.maximum(high, low)
    drawn = np.random.default_rng(seed).uniform(low, high, (count, len(here)))
    locked = rows[JOINT_WINDOW] == 0.0
    drawn[:, locked] = here[locked]
    batch = solver.solve_batch({}, drawn)
    samples: Array = batch.q[batch.converged]
    return samples
