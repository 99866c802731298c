"""How evenly a link can be moved in all directions, with the loops closed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ik_node.kernels.layout import JOINT_LOWER, JOINT_UPPER, JOINT_WINDOW
from ik_node.model.dof import DOF
from ik_node.solver.graph_reader import RobotLike
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import RANK_TOLERANCE
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


# Configurations that are looked at together: their Jacobians take up memory.
_TOGETHER = 1000


def conditioning(
    solver: Solver,
    goal: str,
    q: Array,
    asked: Sequence[DOF],
    counted: Sequence[DOF],
    motors: Iterable[str] = (),
) -> Array:
    """
    Return the smallest over the largest speed of a link that joints of unit speed give it.

    Metres count in characteristic lengths, so that this does not depend on the size.

    Parameters
    ----------
    solver : Solver
        Of the robot.
    goal : str
        Name of a goal for a frame, its axes those of the world.
    q : ndarray, shape (N, nq)
        Configurations [rad or m] in which the loops are closed.
    asked : sequence of DOF
        Axes of the goal.
    counted : sequence of DOF
        Those of them in whose directions the link is moved. Turns that are asked for and not
        counted are held.
    motors : iterable of str
        Joints that drive; none = all that are free.

    Returns
    -------
    ndarray, shape (N,)
        From 0 (in some direction it cannot be moved, or a motor cannot hold it) to 1 (all are
        alike).

    Notes
    -----
    The inverse of the condition number of dx/ds, the link's velocity by that of the motors; over
    N, the null space of the closures and held turns, dx/ds = (J N) (S N)^+, where S picks the
    motors. Limits play no part.

    References
    ----------
    Gosselin & Angeles, A global performance index for the kinematic optimization of robotic
    manipulators, 1991, eq. 10 and 11.

    """
    chain, at = solver.problem_of((goal,)).seat[goal]
    table, packed = JointTable(solver.tree), SolverOptions().packed()
    places = chain.flat.var_q.tolist()
    free = table.rows[JOINT_WINDOW, places] > 0.0
    driven = {table.masters.get(place, place) for place in table.places(motors)}
    drives = np.array([place in driven for place in places])[free]
    if not drives.any():
        drives[:] = True
    ends = np.cumsum(chain.flat.row_counts)
    wanted = int(ends[at]) - len(asked) + np.array([asked.index(dof) for dof in counted], int)
    turns = [int(ends[at]) - len(asked) + k for k, dof in enumerate(asked) if dof.is_rotation]
    of_goal = range(int(ends[at]) - len(asked), int(ends[at]))
    held = [
        row for row in range(int(ends[-1])) if row not in of_goal or row in {*turns} - {*wanted}
    ]
    slack = max((each.slack for each in chain.redundancies), default=0.0)
    found: list[Array] = [np.zeros(0)]
    for first in range(0, len(q), _TOGETHER):
        jacobians = np.array(
            [chain.linearise_by_size(one, table.rows, packed)[1] for one in q[first:][:_TOGETHER]]
        )[:, :, free]
        found.append(_ratios(jacobians[:, held], jacobians[:, wanted], drives, slack))
    return np.concatenate(found)


def _ratios(held: Array, moved: Array, drives: NDArray[np.bool_], slack: float) -> Array:
    """Return the ratio for every (held rows, moved rows) by free values."""
    found = np.zeros(len(held))
    _, sizes, directions = np.linalg.svd(held, full_matrices=True)
    largest = sizes.max(axis=1, initial=1e-6)
    zero = np.maximum(RANK_TOLERANCE * largest, slack)
    ranks = np.sum(sizes > zero[:, None], axis=1)
    for rank in np.unique(ranks):
        some = np.flatnonzero(ranks == rank)
        motions = directions[some, rank:].swapaxes(1, 2)
        rates = moved[some] @ motions
        if not drives.all():
            rates = rates @ np.linalg.pinv(motions[:, drives])
        if 0 < rates.shape[1] <= rates.shape[2]:
            speeds = np.linalg.svd(rates, compute_uv=False)
            found[some] = speeds[:, -1] / np.maximum(speeds[:, 0], 1e-300)
    return found
