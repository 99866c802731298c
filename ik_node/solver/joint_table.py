"""Limits, locks, wishes and couplings of all joints, as the table that kernels take."""

from __future__ import annotations

from itertools import pairwise

from ik_node.errors import OptionError
from ik_node.kernels.layout import (
    JOINT_LOWER,
    JOINT_REST,
    JOINT_REST_ON,
    JOINT_ROWS,
    JOINT_TARGET,
    JOINT_TARGET_WEIGHT,
    JOINT_UPPER,
    JOINT_WINDOW,
)
from ik_node.model.tree import Tree
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class JointTable:
    """
    The (7, nq) table of `kernels.layout.JOINT_*`, read from the joints of a tree.

    Attributes
    ----------
    rows : ndarray, shape (7, nq)
        A coupled joint's limits are in its master's column: they bind the master.
    has_targets : bool
        Whether any joint has a target.
    followers : list of (int, int, tuple of float)
        Place in q of every coupled value, of its master, and the polynomial between them.

    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.has_targets = False
        self.rows: Array = np.zeros((JOINT_ROWS, len(tree.names)))
        self.followers = [
            (tree.q_of_column[at], tree.q_of_column[column.master], column.coefficients)
            for at, column in enumerate(tree.columns)
            if column.master != at
        ]
        self.refresh()

    def refresh(self) -> None:
        """Read limits, locks, targets and rest pose anew."""
        rows = self.rows
        for at, (joint, dof) in enumerate(self._tree.owner):
            rows[JOINT_LOWER, at] = joint.min_dof_limit[dof]
            rows[JOINT_UPPER, at] = joint.max_dof_limit[dof]
            rows[JOINT_WINDOW, at] = 0.0 if joint.locked[dof] else np.inf
            rows[JOINT_TARGET, at] = joint.dof_target[dof]
            rows[JOINT_TARGET_WEIGHT, at] = float(joint.target_set)
            rows[JOINT_REST, at] = joint.dof_rest_pose[dof]
            rows[JOINT_REST_ON, at] = float(joint.rest_pose_set)
        self.has_targets = bool(rows[JOINT_TARGET_WEIGHT].any())
        for follower, master, polynomial in self.followers:
            joint, dof = self._tree.owner[follower]
            low, high = _bound_master(
                polynomial,
                (joint.min_dof_limit[dof], joint.max_dof_limit[dof]),
                (rows[JOINT_LOWER, master], rows[JOINT_UPPER, master]),
            )
            if low > high:
                raise OptionError(
                    f'limits of {self._tree.names[follower]!r}',
                    (joint.min_dof_limit[dof], joint.max_dof_limit[dof]),
                    f'limits that leave {self._tree.names[master]!r}, which it follows, a value '
                    f'within its own',
                )
            rows[JOINT_LOWER, master], rows[JOINT_UPPER, master] = low, high
            rows[JOINT_WINDOW, master] = min(
                rows[JOINT_WINDOW, master], rows[JOINT_WINDOW, follower]
            )

    def narrowed(self, window: Array | float, q: Array) -> Array:
        """
        Return the rows with a window of movement around q; followers' windows bind masters.

        Parameters
        ----------
        window : ndarray, shape (nq,), or float
            Largest change of every value [rad or m].
        q : ndarray, shape (nq,)
            Where the movement starts.

        """
        rows = self.rows.copy()
        rows[JOINT_WINDOW] = np.minimum(rows[JOINT_WINDOW], window)
        for follower, master, polynomial in self.followers:
            width = rows[JOINT_WINDOW, follower]
            if np.isfinite(width):
                nearest = _nearest_crossings(polynomial, float(q[master]), float(width))
                rows[JOINT_LOWER, master] = max(rows[JOINT_LOWER, master], nearest[0])
                rows[JOINT_UPPER, master] = min(rows[JOINT_UPPER, master], nearest[1])
        return rows

    def follow(self, q: Array) -> None:
        """Set coupled values from their masters, in place."""
        for follower, master, polynomial in self.followers:
            total = 0.0
            for coefficient in reversed(polynomial):
                total = total * q[master] + coefficient
            q[follower] = total


def _bound_master(
    polynomial: tuple[float, ...], limits: tuple[float, float], own: tuple[float, float]
) -> tuple[float, float]:
    """Return the part of the master's own interval on which the follower keeps its limits."""
    low, high = own
    if len(polynomial) == 2 or not any(polynomial[2:]):
        c0, c1 = polynomial[:2]
        if c1 == 0.0:
            return own
        ends = sorted(((limits[0] - c0) / c1, (limits[1] - c0) / c1))
        return max(low, ends[0]), min(high, ends[1])
    # The longest stretch around the master's present middle that keeps the limits, found by the
    # roots of polynomial - limit.
    low, high = max(low, -1e6), min(high, 1e6)
    ends = [low, high]
    for limit in limits:
        if np.isfinite(limit):
            ends += [root for root in _crossings(polynomial, limit) if low < root < high]
    ends.sort()
    best = (own[1], own[0])
    for first, last in pairwise(ends):
        middle = np.polynomial.Polynomial(polynomial)(0.5 * (first + last))
        inside = limits[0] <= middle <= limits[1]
        if inside and (best[0] > best[1] or last - first > best[1] - best[0]):
            best = (first, last)
    return best


def _crossings(polynomial: tuple[float, ...], bound: float) -> list[float]:
    """Return where the master's value takes its follower to a bound."""
    shifted = np.polynomial.Polynomial(polynomial) - bound
    roots = np.asarray(shifted.roots(), dtype=complex)
    return [float(root) for root in roots.real[np.abs(roots.imag) < 1e-9]]


def _nearest_crossings(
    polynomial: tuple[float, ...], master: float, width: float
) -> tuple[float, float]:
    """Return how far the master may go down and up until its follower has moved by `width`."""
    value = float(np.polynomial.Polynomial(polynomial)(master))
    down, up = -np.inf, np.inf
    for bound in (value - width, value + width):
        for root in _crossings(polynomial, bound):
            if root < master:
                down = max(down, root)
            elif root > master:
                up = min(up, root)
    return down, up
