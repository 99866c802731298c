"""The conditioning of a link: how evenly its joints can move it in all directions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ik_node.model.dof import DOF
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import zero_of
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.solver import Solver
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Number of configurations whose Jacobians are held in memory at once.
_TOGETHER = 1000


def conditioning(
    solver: Solver,
    goal: str,
    q: Array,
    axes: Sequence[DOF],
    counted: Sequence[DOF],
    motors: Iterable[str] = (),
) -> Array:
    """
    Return the ratio of the smallest to the largest speed of a link, over all unit motor speeds.

    Metres are divided by the characteristic length, so that the ratio does not depend on the size.

    `goal`: name of a goal of kind 'frame' with axes 'world'. `q` (N, nq): configurations with
    closed loops [rad or m]. `counted`: the axes along and about which the speed of the link
    counts, a subset of `axes`. Rotations of `axes` that do not count are kept at zero speed.
    `motors`: actuated joints; empty = all free joints. Returns shape (N,), from 0 (the link cannot
    move in some direction, or the motors cannot hold it) to 1 (isotropic).

    Notes
    -----
    The result is 1 / cond(dx/ds), where x is the pose of the link and s the motor values. With a
    basis N of the null space of the closures and the fixed rotations, and the matrix S that
    selects the motors, dx/ds = (J N) (S N)^+. Joint limits are not considered.

    References
    ----------
    Gosselin & Angeles, A global performance index for the kinematic optimization of robotic
    manipulators, 1991, eq. 10 and 11.

    """
    chain, at = solver.problem_for((goal,)).place_of_goal[goal]
    table, packed = JointTable(solver.tree), SolverOptions().packed()
    places = chain.flat.var_q.tolist()
    free = ~table.locked[places]
    driven = {table.masters.get(place, place) for place in table.places(motors)}
    drives = np.array([place in driven for place in places])[free]
    if not drives.any():
        drives[:] = True
    ends = np.cumsum(chain.flat.row_counts)
    target = int(ends[at]) - len(axes) + np.array([axes.index(dof) for dof in counted], int)
    turns = [int(ends[at]) - len(axes) + k for k, dof in enumerate(axes) if dof.is_rotation]
    of_goal = range(int(ends[at]) - len(axes), int(ends[at]))
    held = [
        row for row in range(int(ends[-1])) if row not in of_goal or row in {*turns} - {*target}
    ]
    ratios: list[Array] = [np.zeros(0)]
    for first in range(0, len(q), _TOGETHER):
        jacobians = np.array(
            [chain.linearise_by_size(one, table.rows, packed)[1] for one in q[first:][:_TOGETHER]]
        )[:, :, free]
        ratios.append(_ratios(jacobians[:, held], jacobians[:, target], drives, chain.slack))
    return np.concatenate(ratios)


def _ratios(held: Array, moved: Array, drives: NDArray[np.bool_], slack: float) -> Array:
    """
    Return the ratio for each configuration.

    `held`, `moved` (N, rows, free values): Jacobian of the rows that stay at zero speed, and of
    the rows that count; `drives` (free values,): True for the motors; `slack`: singular values of
    `held` below this are rounding.
    """
    result = np.zeros(len(held))
    _, sizes, directions = np.linalg.svd(held, full_matrices=True)
    ranks = np.sum(sizes > zero_of(sizes, slack)[:, None], axis=1)
    for rank in np.unique(ranks):
        some = np.flatnonzero(ranks == rank)
        motions = directions[some, rank:].swapaxes(1, 2)
        rates = moved[some] @ motions
        if not drives.all():
            rates = rates @ np.linalg.pinv(motions[:, drives])
        if 0 < rates.shape[1] <= rates.shape[2]:
            speeds = np.linalg.svd(rates, compute_uv=False)
            result[some] = speeds[:, -1] / np.maximum(speeds[:, 0], 1e-300)
    return result
