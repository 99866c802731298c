"""
A lower bound of the time per iteration: a damped step for one arm in plain Numba.

It has no limits, no stop test and no choice of damping, and arrays of fixed size: only arithmetic.
"""

from __future__ import annotations

from numba import njit
import numpy as np
from tasks.arms import panda, ur5
from tasks.judge import Array, forward, pose_matrix
from tasks.mechanism import Mechanism


@njit(fastmath=True, error_model='numpy')
def forward_and_jacobian(places: Array, q: Array, axes: Array, jac: Array, end: Array) -> None:
    """
    Write pose (12,) of the last frame and the Jacobian (6, n) in the base's axes.

    `places` (n + 1, 12): rotation by rows and position of every joint in the one before; all turn
    about z.
    """
    n = q.size
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    x, y, z = 0.0, 0.0, 0.0
    for i in range(n + 1):
        c = places[i]
        x += r00 * c[9] + r01 * c[10] + r02 * c[11]
        y += r10 * c[9] + r11 * c[10] + r12 * c[11]
        z += r20 * c[9] + r21 * c[10] + r22 * c[11]
        a00 = r00 * c[0] + r01 * c[3] + r02 * c[6]
        a01 = r00 * c[1] + r01 * c[4] + r02 * c[7]
        a10 = r10 * c[0] + r11 * c[3] + r12 * c[6]
        a11 = r10 * c[1] + r11 * c[4] + r12 * c[7]
        a20 = r20 * c[0] + r21 * c[3] + r22 * c[6]
        a21 = r20 * c[1] + r21 * c[4] + r22 * c[7]
        r02 = r00 * c[2] + r01 * c[5] + r02 * c[8]
        r12 = r10 * c[2] + r11 * c[5] + r12 * c[8]
        r22 = r20 * c[2] + r21 * c[5] + r22 * c[8]
        if i < n:
            cosine, sine = np.cos(q[i]), np.sin(q[i])
            axes[i, 0], axes[i, 1], axes[i, 2] = r02, r12, r22
            axes[i, 3], axes[i, 4], axes[i, 5] = x, y, z
            r00, r01 = a00 * cosine + a01 * sine, a01 * cosine - a00 * sine
            r10, r11 = a10 * cosine + a11 * sine, a11 * cosine - a10 * sine
            r20, r21 = a20 * cosine + a21 * sine, a21 * cosine - a20 * sine
        else:
            r00, r01, r10, r11, r20, r21 = a00, a01, a10, a11, a20, a21
    end[0], end[1], end[2] = r00, r01, r02
    end[3], end[4], end[5] = r10, r11, r12
    end[6], end[7], end[8] = r20, r21, r22
    end[9], end[10], end[11] = x, y, z
    for i in range(n):
        u, v, w = axes[i, 0], axes[i, 1], axes[i, 2]
        dx, dy, dz = x - axes[i, 3], y - axes[i, 4], z - axes[i, 5]
        jac[0, i], jac[1, i], jac[2, i] = v * dz - w * dy, w * dx - u * dz, u * dy - v * dx
        jac[3, i], jac[4, i], jac[5, i] = u, v, w


@njit(fastmath=True, error_model='numpy')
def damped_step(
    places: Array,
    q: Array,
    goal: Array,
    damping: float,
    axes: Array,
    jac: Array,
    end: Array,
    square: Array,
    error: Array,
) -> None:
    """Take one step of damped least squares towards a pose (12,), 6 x 6 Cholesky."""
    n = q.size
    forward_and_jacobian(places, q, axes, jac, end)
    for k in range(3):
        error[k] = goal[9 + k] - end[9 + k]
    # The rotation vector of goal times the transpose of what is reached.
    t = np.empty(9)
    for i in range(3):
        for j in range(3):
            t[3 * i + j] = (
                goal[3 * i] * end[3 * j]
                + goal[3 * i + 1] * end[3 * j + 1]
                + goal[3 * i + 2] * end[3 * j + 2]
            )
    vx, vy, vz = t[7] - t[5], t[2] - t[6], t[3] - t[1]
    sine = np.sqrt(vx * vx + vy * vy + vz * vz)
    angle = np.arctan2(sine, t[0] + t[4] + t[8] - 1.0)
    share = angle / sine if sine > 1e-12 else 0.5
    error[3], error[4], error[5] = share * vx, share * vy, share * vz
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += jac[i, k] * jac[j, k]
            square[i, j] = total
        square[i, i] += damping
    for j in range(6):
        pivot = square[j, j]
        for k in range(j):
            pivot -= square[j, k] * square[j, k]
        pivot = 1.0 / np.sqrt(pivot)
        square[j, j] = pivot
        for i in range(j + 1, 6):
            total = square[i, j]
            for k in range(j):
                total -= square[i, k] * square[j, k]
            square[i, j] = total * pivot
    for i in range(6):
        for k in range(i):
            error[i] -= square[i, k] * error[k]
        error[i] *= square[i, i]
    for i in range(5, -1, -1):
        for k in range(i + 1, 6):
            error[i] -= square[k, i] * error[k]
        error[i] *= square[i, i]
    for k in range(n):
        for i in range(6):
            q[k] += jac[i, k] * error[i]


@njit
def many_jacobians(
    count: int, places: Array, q: Array, axes: Array, jac: Array, end: Array
) -> None:
    """Repeat the evaluation for a time measurement."""
    for _ in range(count):
        forward_and_jacobian(places, q, axes, jac, end)
        q[0] += 1e-9 * end[0]


@njit
def many_steps(
    count: int,
    places: Array,
    q: Array,
    goal: Array,
    axes: Array,
    jac: Array,
    end: Array,
    square: Array,
    error: Array,
) -> None:
    """Repeat the step with a moving goal for a time measurement."""
    for _ in range(count):
        damped_step(places, q, goal, 1e-3, axes, jac, end, square, error)
        goal[9] += 1e-7


def places_of(arm: Mechanism) -> Array:
    """Return the pose of every joint in the one before, (n + 1, 12)."""
    found = []
    for joint in arm.joints:
        place = pose_matrix(joint.xyz, joint.rpy)
        found.append([*place[:3, :3].ravel(), *place[:3, 3]])
    return np.array(found)


class Limit:
    """An arm for measuring both functions."""

    def __init__(self, arm: Mechanism) -> None:
        n = len(arm.movable)
        self.places, self.q = places_of(arm), np.array(arm.home_q) + 0.1
        tool = forward(arm, self.q[None])['tool'][0]
        self.goal = np.array([*tool[:3, :3].ravel(), *tool[:3, 3]])
        self.room = (np.zeros((n, 6)), np.zeros((6, n)), np.zeros(12))
        self.more = (np.zeros((6, 6)), np.zeros(6))

    def jacobians(self, count: int) -> None:
        """Compute pose and Jacobian repeatedly."""
        many_jacobians(count, self.places, self.q, *self.room)

    def steps(self, count: int) -> None:
        """Make a number of steps."""
        many_steps(count, self.places, self.q, self.goal, *self.room, *self.more)


LIMITS = {'6R': ur5, '7R': panda}
