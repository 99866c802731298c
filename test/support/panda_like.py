"""An arm with the table and the limits of a Franka Panda, and its kinematics in NumPy."""

import ik_node as ik
import numpy as np

QUARTER = np.pi / 2.0
# d [m], a [m], alpha [rad], theta [rad]; each says Rx(alpha) Tx(a) Rz(theta) Tz(d).
ROWS = (
    (0.333, 0.0, 0.0, 0.0),
    (0.0, 0.0, -QUARTER, 0.0),
    (0.316, 0.0, QUARTER, 0.0),
    (0.0, 0.0825, QUARTER, 0.0),
    (0.384, -0.0825, -QUARTER, 0.0),
    (0.0, 0.0, QUARTER, 0.0),
    (0.107, 0.088, QUARTER, 0.0),
)
LIMITS = np.array(
    (
        (-2.8973, 2.8973),
        (-1.7628, 1.7628),
        (-2.8973, 2.8973),
        (-3.0718, -0.0698),
        (-2.8973, 2.8973),
        (-0.0175, 3.7525),
        (-2.8973, 2.8973),
    )
)
HOME = (0.0, -np.pi / 4.0, 0.0, -3.0 * np.pi / 4.0, 0.0, QUARTER, np.pi / 4.0)


def panda_like():
    robot = ik.from_dh(ROWS, convention='modified', limits=LIMITS)
    robot.q = HOME
    return robot


def poses(q):
    """Return the flange at configurations (n, 7) as matrices (n, 4, 4)."""
    found = np.tile(np.eye(4), (len(q), 1, 1))
    for (d, a, alpha, theta), angle in zip(ROWS, np.asarray(q, dtype=float).T, strict=True):
        c, s = np.cos(angle + theta), np.sin(angle + theta)
        ca, sa = np.cos(alpha), np.sin(alpha)
        step = np.zeros((len(c), 4, 4))
        step[:, 0, 0], step[:, 0, 1], step[:, 0, 3] = c, -s, a
        step[:, 1, 0], step[:, 1, 1], step[:, 1, 2], step[:, 1, 3] = s * ca, c * ca, -sa, -sa * d
        step[:, 2, 0], step[:, 2, 1], step[:, 2, 2], step[:, 2, 3] = s * sa, c * sa, ca, ca * d
        step[:, 3, 3] = 1.0
        found = found @ step
    return found


def samples(count, seed=0):
    rng = np.random.default_rng(seed)
    q = rng.uniform(*LIMITS.T, (count, 7))
    ends = np.where(rng.random(q.shape) < 0.5, *LIMITS.T)
    return np.where(rng.random(q.shape) < 0.3, ends, q)
