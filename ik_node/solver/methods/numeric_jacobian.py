"""The Jacobian by finite differences: for comparing, and for those who mistrust the other."""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import TYPE_CHECKING

from ik_node.model.rotation import quat_conjugate, quat_multiply, quat_to_rotation_vector
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ik_node.solver.methods.iterate import Iterate

Array = NDArray[np.float64]


def numeric_jacobian(here: Iterate) -> Array:
    """
    Return d residual / d variable by one-sided differences, shape (nr, nv).

    Every variable is moved once, by `translation_step` or `rotation_step`, away from the bound
    that is nearer if it would be passed. Columns of variables that cannot move are zero.

    Notes
    -----
    A full orientation's three rows are a rotation vector phi. Their difference is taken as
    log(exp(phi') exp(phi)^T), the turn between the two: the angular velocity, as in the analytic
    Jacobian, which does not jump at half a turn.

    """
    x, residual = here.x.copy(), here.residual.copy()
    columns = np.zeros((x.size, residual.size))
    sizes = away_from_bounds(here)
    for v in range(x.size):
        step = np.zeros(x.size)
        step[v] = sizes[v]
        if here.move(step) > 0.0:
            columns[v] = _difference(here, residual) / sizes[v]
        here.place(x)
    return np.ascontiguousarray(columns.T)


def away_from_bounds(here: Iterate) -> Array:
    """Return `step_sizes`, negative where the upper bound is in the way, 0 where both are."""
    sizes = here.step_sizes()
    up, down = here.upper - here.x >= sizes, here.x - here.lower >= sizes
    free = here.free_ball == 1
    return np.where(up | free, sizes, np.where(down, -sizes, 0.0))


def _difference(here: Iterate, before: Array) -> Array:
    change = here.residual - before
    for block in here.blocks:
        if block.is_rotation and block.last - block.first == 3:
            rows = slice(block.first, block.last)
            inverse = quat_conjugate(_quat_of(before[rows]))
            turn = quat_multiply(_quat_of(here.residual[rows]), inverse)
            change[rows] = quat_to_rotation_vector(turn)
    return change


def _quat_of(rotation_vector: Array) -> Array:
    """Return the unit quaternion (xyzw) of axis times angle [rad]."""
    angle = sqrt(float(rotation_vector @ rotation_vector))
    share = 0.5 if angle < 1e-12 else sin(0.5 * angle) / angle
    return np.append(share * rotation_vector, cos(0.5 * angle))
