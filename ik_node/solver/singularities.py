"""Singular configurations of a chain, by Newton's method; theory.md, eq. (22)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ik_node.solver.modes import independent_rows, row_groups, smallest_pivot
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.workspace import Workspace
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The kinds of singularities, and their names in the literature.
KINDS = {'inverse': 'type I', 'direct': 'type II'}
# Singular vectors from which Newton's method starts, its iterations to a singularity and beside
# one, its residual at the end, and its first step beyond which the singularity is too far away
# [rad or characteristic lengths].
VECTORS, FROM_AFAR, BESIDE, TOLERANCE, FAR = 3, 15, 6, 1e-9, 5.0
# Longest step [rad or characteristic lengths], and that of differences.
LONGEST, DIFFERENCE = 0.15, 1e-6
# Singular values of the system below this are zero.
ZERO = 1e-7
# Steps along singularities to the nearest one, and one that is short enough to end them.
SLIDES, SHORT = 50, 1e-6


class Singularity(NamedTuple):
    """
    The nearest singular configuration that `Solver.nearest_singularity` found.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        Configuration with closed loops [rad or m].
    distance : float
        Its distance, the root of the sum of squares [rad or characteristic lengths]; infinite =
        none was found.
    block : int
        Which of the determinants vanishes, in the order of the label.

    """

    q: Array
    distance: float
    block: int


class SingularPoint(NamedTuple):
    """
    A singular configuration (nq,) with its null vector, and the tangents of the set there.

    `tangents` (m, free values and elements of the vector): orthonormal. `rates` (m,): speeds of a
    link along them, where one is followed [L].
    """

    q: Array
    vector: Array
    tangents: Array
    rates: Array = np.zeros(0)


class SingularSystem:
    """
    The equations of the singular configurations of a chain, and Newton's method for them.

    A singularity is a configuration q with a unit vector v for which A(q) v = 0. For type I, A is
    the transposed Jacobian of loops and goal by all joints, and v a force of the goal that no
    joint feels. For type II, A is the Jacobian of the loops by the joints without motor, and v a
    motion while all motors stand still. Newton's method solves for q and v together with the loops
    (Bohigas, Manubens & Ros, Singularities of Robot Mechanisms, 2017).

    The workspace of `chain` is used. Of `samples` (n, nq), with closed loops, the most regular one
    decides which rows are independent. `kinds`: those that the chain can have. `loops`, `fixed`,
    `every`: rows of the loops, those that Newton's method keeps, and those that type I is about.
    """

    def __init__(
        self, chain: ChainProblem, table: JointTable, motors: Sequence[str], samples: Array
    ) -> None:
        self.chain, flat, self._table = chain, chain.flat, table
        self._work, self._packed = Workspace(*chain.arrays), SolverOptions().packed()
        self._rows = table.without_free_balls(table.without_limits(table.rows))
        self._free = ~table.locked[flat.var_q]
        self.columns, self._units = flat.var_q[self._free], flat.units[self._free]
        moved = {table.masters.get(place, place) for place in table.places(motors)}
        self._passive = np.array([column not in moved for column in self.columns])
        self.reference = max((self.linear(q)[1] for q in samples), key=smallest_pivot)
        # As in `Modes`, rotations of a goal count as far as translations leave them free.
        loops, *goals = (np.flatnonzero(each).tolist() for each in row_groups(chain))
        self.fixed = self.loops = independent_rows(self.reference, (loops,))
        self.every = independent_rows(self.reference, (loops, *goals))
        # With fewer loops than passive joints, the motors never determine the motion.
        determined = motors and 0 < np.count_nonzero(self._passive) <= len(self.loops)
        self.kinds = [*['inverse'] * any(goals), *['direct'] * bool(determined)]

    def linear(self, q: Array) -> tuple[Array, Array]:
        """Return residual and Jacobian by the free values, in characteristic lengths."""
        self.chain.kernels.linearise(q.copy(), self._rows, self._packed)
        jacobian = self.chain.flat.dense(self._work.jac)[:, self._free]
        return self._work.residual[self.chain.flat.rows], jacobian

    def matrix(self, jacobian: Array, kind: str) -> Array:
        """Return the matrix A, whose columns depend on each other at a singularity."""
        if kind == 'inverse':
            return jacobian[self.every].T
        return jacobian[self.loops][:, self._passive]

    def moved(self, q: Array, step: Array) -> Array:
        """Return q after a step of the free values [rad or characteristic lengths]."""
        moved = q.copy()
        moved[self.columns] += step * self._units
        self._table.follow(moved)
        return moved

    def difference(self, one: Array, other: Array) -> Array:
        """Return by how much free values of one exceed those of the other, without full turns."""
        return np.asarray(self._table.difference(one, other)[self.columns] / self._units)

    def is_within(self, q: Array) -> bool:
        """Return True if q is within the limits."""
        return bool(((self._table.lower <= q) & (q <= self._table.upper)).all())

    def starts(self, q: Array, kind: str) -> Iterator[SingularPoint]:
        """Yield singular configurations within limits, to which Newton's method leads from q."""
        vectors = np.linalg.svd(self.matrix(self.linear(q)[1], kind))[2]
        for vector in vectors[::-1][:VECTORS]:
            found = self.correct(q, vector, kind, FROM_AFAR, FAR)
            if found is not None and self.is_within(found.q):
                yield found

    def correct(
        self, q: Array, vector: Array, kind: str, iterations: int = BESIDE, longest: float = np.inf
    ) -> SingularPoint | None:
        """Return what Newton's method finds from q; None = its first step is too long, or none."""
        for number in range(iterations):
            residual, jacobian = self.linear(q)
            fixed, matrix = jacobian[self.fixed], self.matrix(jacobian, kind)
            motions = np.linalg.qr(fixed.T, mode='complete')[0].T[len(fixed) :]
            close = -np.linalg.pinv(fixed, ZERO) @ residual[self.fixed]
            lost = matrix @ vector
            # The loops stay closed to first order along the motions.
            ahead = [self.linear(self.moved(q, DIFFERENCE * way))[1] for way in motions]
            slopes = [self.matrix(each, kind) @ vector - lost for each in ahead]
            system = np.zeros((len(lost) + 1, len(motions) + len(vector)))
            system[:-1, : len(motions)] = np.reshape(slopes, (len(motions), -1)).T / DIFFERENCE
            system[:-1, len(motions) :], system[-1, len(motions) :] = matrix, vector
            error = np.array([*lost, 0.5 * (vector @ vector - 1.0)])
            left, sizes, right = np.linalg.svd(system)
            rank = int(np.sum(sizes > ZERO))
            if max(np.abs(error).max(), np.abs(residual[self.fixed]).max(initial=0)) < TOLERANCE:
                ways = right[rank:]
                ways = np.hstack([ways[:, : len(motions)] @ motions, ways[:, len(motions) :]])
                return SingularPoint(q, vector, ways)
            step = -(left[:, :rank].T @ error / sizes[:rank]) @ right[:rank]
            if number == 0 and np.abs(step).max() > longest:
                return None
            move = close + step[: len(motions)] @ motions
            share = min(1.0, 2.0 * LONGEST / max(np.abs(move).max(), np.abs(step).max()))
            q, vector = self.moved(q, share * move), vector + share * step[len(motions) :]
        return None

    def nearest(self, q: Array, kind: str, others: Array) -> tuple[Array, float]:
        """Return the nearest singularity that is found from q and others, and its distance."""
        best, least = q, np.inf
        seeds = [q, *others] if kind in self.kinds else []
        for here in (start for seed in seeds for start in self.starts(seed, kind)):
            gap, share = self.difference(q, here.q), 1.0
            # Steps along the set lead to where its tangents are perpendicular to the way to q.
            for _ in range(SLIDES):
                ways = here.tangents[:, : len(gap)]
                step = share * (np.linalg.lstsq(ways.T, gap, rcond=ZERO)[0] @ here.tangents)
                if np.abs(step).max(initial=0.0) < SHORT:
                    break
                step *= min(1.0, LONGEST / np.abs(step).max())
                ahead = self.moved(here.q, step[: len(gap)])
                there = self.correct(ahead, here.vector + step[len(gap) :], kind)
                after = gap if there is None else self.difference(q, there.q)
                if there is not None and after @ after < gap @ gap and self.is_within(there.q):
                    here, gap, share = there, after, min(1.0, 2.0 * share)
                else:
                    share *= 0.5
            # The same angles without full turns.
            near, distance = self.moved(q, -gap), float(np.linalg.norm(gap))
            if distance < least and self.is_within(near):
                best, least = near, distance
        return best, least
