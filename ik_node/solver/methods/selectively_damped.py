# flake8: noqa: E203
"""Selectively damped least squares: a bound of its own for the step along each singular vector."""

from __future__ import annotations

from math import pi

from ik_node.solver.methods.iterate import Iterate
from ik_node.solver.methods.linear_rows import Held, linear_rows, LinearRows, step_within_bounds
from ik_node.solver.methods.progress import Progress
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Largest change of a joint in one step [rad or L]: gamma_max of the paper.
_MOST = pi / 4.0
# Singular values below this share of the largest count as zero.
_ZERO = 1e-10


class SelectivelyDamped:
    """
    The method of Delta x = clamp(sum_i clamp((u_i . e) / sigma_i v_i, gamma_i), gamma_max).

    Parameters
    ----------
    here : Iterate
        The chain.

    Notes
    -----
    sigma_i, u_i and v_i are the singular values and vectors of J; e = -r, both weighted by
    W^(1/2). The bound of each part is gamma_i = min(1, N_i / M_i) gamma_max. N_i = sum_j |u_ji| is
    the motion of the end effectors that the part aims at, and M_i = 1 / sigma_i sum_j sum_l |v_li|
    |dp_j / dq_l| bounds the motion that it can cause. The rows of a constraint that have the same
    unit are one end effector j.

    References
    ----------
    Buss, Kim (2005), Selectively damped least squares for inverse kinematics, Journal of Graphics
    Tools 10(3).

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
        progress.record(moved)


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
