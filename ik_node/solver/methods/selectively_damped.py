# flake8: noqa: E203
"""Selectively damped least squares: every singular vector with a bound of its own."""

from __future__ import annotations

from math import pi

from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.linear_rows import Held, linear_rows, LinearRows, step_within_bounds
from ik_node.solver.methods.progress import Progress
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Largest change of a joint in one step [rad or L], gamma_max of the paper.
_MOST = pi / 4.0
# Singular values below this share of the largest are zero.
_ZERO = 1e-10


class SelectivelyDamped:
    """
    Steps along each singular vector only as far as the linear model can be trusted.

    Parameters
    ----------
    here : Iterate

    Notes
    -----
    For the singular value sigma_i with its vectors u_i, v_i, the part of the step along v_i is
    (u_i . e) / sigma_i v_i, cut to gamma_i = min(1, N_i / M_i) gamma_max, where N_i = sum_j
    |u_ji| is how far the goals should go along u_i, and M_i = 1 / sigma_i sum_j sum_l |v_li|
    |dp_j / dq_l| how far they might go at most while they do. The rows of a constraint that count
    in one unit are one end effector j. The sum over i is cut to gamma_max.

    References
    ----------
    Buss & Kim (2005), Selectively Damped Least Squares for Inverse Kinematics.

    """

    def __init__(self, here: Iterate) -> None:
        self._here = here
        self.pending, self.extra, self.near = False, 0.0, False

    def step(self, progress: Progress) -> None:
        """Take one step."""
        rows = linear_rows(self._here)

        def choose(jacobian: Array, _: Held) -> Array:
            return _selectively_damped(rows._replace(jacobian=jacobian))

        moved = self._here.move(step_within_bounds(self._here, rows.jacobian, choose))
        progress.look(moved)


def _selectively_damped(rows: LinearRows) -> Array:
    u, sigma, vt = np.linalg.svd(rows.jacobian, full_matrices=False)
    kept = sigma > _ZERO * max(float(sigma.max(initial=0.0)), 1e-300)
    u, sigma, vt = u[:, kept], sigma[kept], vt[kept]
    wanted, reach = np.zeros(sigma.size), np.zeros(vt.shape[1])
    for block in rows.blocks:
        wanted += np.linalg.norm(u[block.first : block.last], axis=0)
        reach += np.linalg.norm(rows.jacobian[block.first : block.last], axis=0)
    possible = (np.abs(vt) @ reach) / sigma
    bounds = _MOST * np.minimum(1.0, wanted / np.maximum(possible, 1e-300))
    parts = ((u.T @ rows.shortfall) / sigma)[:, None] * vt
    longest = np.abs(parts).max(axis=1, initial=0.0)
    parts *= np.minimum(1.0, bounds / np.maximum(longest, 1e-300))[:, None]
    step = parts.sum(axis=0)
    most = float(np.abs(step).max(initial=0.0))
    return np.asarray(step * (_MOST / most) if most > _MOST else step)
