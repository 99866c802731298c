"""Singular curves: where in a plane a link loses a direction, or its motors lose control."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ik_node.analysis.conditioning import Held
from ik_node.analysis.reach.volume import KINDS, SingularCurve
from ik_node.kernels.layout import BLOCK, JOINT_LOWER, JOINT_UPPER
from ik_node.mechanism import Mechanism
from ik_node.model.dof import parse_dofs
from ik_node.model.rotation import matrix_to_quat
from ik_node.solver import Solver, SolverOptions
from ik_node.solver.modes import independent_rows
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.workspace import Workspace
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NAME = 'reach: singular'
# Configurations of which the most regular one decides which rows are independent. Configurations
# in a row without a new curve after which the search in a plane ends, and samples in a plane that
# has seeds from its neighbour. Each seed is so many points from the next one.
REFERENCES, FRUITLESS, FEWER, APART = 20, 60, 8, 15
# Singular vectors from which Newton's method starts, its iterations to a curve and along one, its
# residual at the end, and its first step beyond which the singularity is too far away [rad or
# characteristic lengths].
VECTORS, TO_CURVE, ALONG, TOLERANCE, FAR = 3, 15, 6, 1e-9, 5.0
# Longest step along a curve [rad or characteristic lengths], and that of differences; halvings of
# a step, and its longest correction, as a share of it.
LONGEST, DIFFERENCE, HALVINGS, CORRECTION = 0.15, 1e-6, 6, 0.5
# Singular values of the system below this are zero; most points of a curve to one side.
ZERO, MOST = 1e-7, 20_000


class _Point(NamedTuple):
    """A singular configuration with its null vector, and the tangent of the curve there."""

    q: Array
    vector: Array
    tangent: Array  # of the free values and of the vector
    rate: float  # speed of the link along it [characteristic lengths]


class SingularTracer:
    """
    The search for the singular curves of a link in planes.

    A singularity is a configuration q with a unit vector v for which A(q) v = 0. For type I, A is
    the transposed Jacobian of loops and goal by all joints, and v a force of the goal that no
    joint feels. For type II, A is the Jacobian of the loops by the joints without motor, and v a
    motion while all motors stand still. Newton's method solves for q and v together with the loops
    and the plane, and follows the curve along the null space of the system (Bohigas, Manubens &
    Ros, Singularities of Robot Mechanisms, 2017).

    `dof`: constrained axes of the link. `samples` (n, nq): configurations with closed loops, which
    meet the goals. `quat_xyzw`: orientation of the link, as far as it is constrained; None = that
    of the first sample. `held`: further goals and their poses.
    """

    def __init__(
        self,
        robot: Mechanism,
        link: str,
        dof: str,
        samples: Array,
        quat_xyzw: Array | None = None,
        held: Held | None = None,
    ) -> None:
        self._robot, self._link, self._samples = robot, link, samples
        pose = robot.forward(samples[0], link)
        self._home = pose[:3, 3].copy()
        self._quat = matrix_to_quat(pose[:3, :3]) if quat_xyzw is None else quat_xyzw
        robot.add_goal(link, name=NAME, dof=dof)
        try:
            solver = Solver(robot)
            self._problem = solver.problem_for((NAME, *(held or {})))
            table = JointTable(solver.tree)
        finally:
            robot.remove_goal(NAME)
        for name, target in (held or {}).items():
            self._problem.set_goal(name, target)
        self._chain, at = self._problem.place_of_goal[NAME]
        self._work, flat = Workspace(*self._chain.arrays), self._chain.flat
        self._table, self._packed = table, SolverOptions().packed()
        self._rows = table.without_free_balls(table.without_limits(table.rows))
        free = ~table.locked[flat.var_q]
        self._free, self._columns = free, flat.var_q[free]
        motors = {table.masters.get(place, place) for place in table.places(robot.actuated)}
        passive = np.array([column not in motors for column in self._columns])
        last, axes = int(np.cumsum(flat.row_counts)[at]), parse_dofs(dof)
        self._of_axis = {axis.name.lower(): last - len(axes) + k for k, axis in enumerate(axes)}
        self._others = sorted({*range(len(flat.rows))} - {*self._of_axis.values()})
        found = [self._linear(q)[1] for q in samples[:REFERENCES]]
        self._reference = max(found, key=lambda each: np.linalg.svd(each, compute_uv=False)[-1])
        loops = ~np.array(self._chain.names.are_goals)[flat.rows // BLOCK]
        self._loops = independent_rows(self._reference, [np.flatnonzero(loops).tolist()])
        self._passive = passive if robot.actuated else np.zeros(0, dtype=bool)

    def trace(
        self, plane: str, at: float | None, box: Array, step: float, seeds: Sequence[Array] = ()
    ) -> list[SingularCurve]:
        """
        Return the curves in a plane.

        `plane`: such as 'xy'. `at`: third coordinate [m]; None = any, for a projection. `box` (3,
        2): MIN and MAX of the coordinates [m]. `step`: distance of points [m]. `seeds`: singular
        configurations nearby, from which the search starts; it goes on from the samples.
        """
        target = self._home.copy()
        (third,) = {0, 1, 2} - {'xyz'.index(axis) for axis in plane}
        target[third] = target[third] if at is None else at
        self._problem.set_goal(NAME, (target, self._quat))
        moving = [self._of_axis[axis] for axis in plane]
        held = [row for axis, row in self._of_axis.items() if axis not in plane]
        self._fixed = independent_rows(self._reference, [self._others, held])
        self._every = independent_rows(self._reference, [self._fixed, moving])
        self._moving, self._box, self._step = moving, box, step / self._chain.flat.length
        curves: list[SingularCurve] = []
        for kind in KINDS:
            # With fewer loops than passive joints, the motors never determine the motion.
            if kind == 'direct' and not 0 < np.count_nonzero(self._passive) <= len(self._loops):
                continue
            known, fruitless = np.zeros((0, 3)), 0
            for seed in [*seeds, *self._samples]:
                for start in self._starts(seed, kind):
                    place = self._robot.forward(start.q, self._link)[:3, 3]
                    if (np.linalg.norm(known - place, axis=1) < step).any():
                        continue
                    q = self._follow(start, kind)
                    points = self._robot.forward(q, self._link)[:, :3, 3]
                    known = np.concatenate([known, points])
                    if np.ptp(points, axis=0).max() > step:
                        curves.append(SingularCurve(kind, points, q))
                        fruitless = 0
                fruitless += 1
                if fruitless > (FEWER + len(seeds) if len(seeds) else FRUITLESS):
                    break
        return curves

    def trace_layers(
        self, planes: Iterable[str], centres: Sequence[Array], step: float
    ) -> tuple[SingularCurve, ...]:
        """Return the curves in the planes at the middles of cells along x, y and z [m]."""
        box = np.array([(side[0] - 0.5 * step, side[-1] + 0.5 * step) for side in centres])
        found: list[SingularCurve] = []
        for plane in planes:
            (third,) = {0, 1, 2} - {'xyz'.index(axis) for axis in plane}
            seeds: list[Array] = []
            for at in centres[third]:
                curves = self.trace(plane, float(at), box, step, seeds)
                seeds = [q for curve in curves for q in curve.q[::APART]]
                found += curves
        return tuple(found)

    def _linear(self, q: Array) -> tuple[Array, Array]:
        """Return residual and Jacobian by the free values, in characteristic lengths."""
        self._chain.kernels.linearise(q.copy(), self._rows, self._packed)
        jacobian = self._chain.flat.dense(self._work.jac)[:, self._free]
        return self._work.residual[self._chain.flat.rows], jacobian

    def _matrix(self, jacobian: Array, kind: str) -> Array:
        """Return the matrix A, whose columns depend on each other at a singularity."""
        if kind == 'inverse':
            return jacobian[self._every].T
        return jacobian[self._loops][:, self._passive]

    def _moved(self, q: Array, step: Array) -> Array:
        """Return q after a step of the free values [rad or characteristic lengths]."""
        moved = q.copy()
        moved[self._columns] += step * self._problem.units[self._columns]
        self._table.follow(moved)
        return moved

    def _starts(self, q: Array, kind: str) -> Iterator[_Point]:
        """Yield singular configurations near q."""
        vectors = np.linalg.svd(self._matrix(self._linear(q)[1], kind))[2]
        for vector in vectors[::-1][:VECTORS]:
            start = self._correct(q, vector, kind, TO_CURVE, FAR)
            if start is not None and start.rate > ZERO and self._inside(start.q):
                yield start

    def _inside(self, q: Array) -> bool:
        """Return True if q is within the limits, and the link in the box."""
        lower, upper = self._table.rows[[JOINT_LOWER, JOINT_UPPER]]
        low, high = self._box.T
        place = self._robot.forward(q, self._link)[:3, 3]
        return bool(
            ((lower <= q) & (q <= upper)).all() and ((low <= place) & (place <= high)).all()
        )

    def _correct(
        self, q: Array, vector: Array, kind: str, iterations: int, longest: float = np.inf
    ) -> _Point | None:
        """
        Return the singular configuration that Newton's method finds from q; None = none.

        It gives up if its first step is longer than `longest`.
        """
        for number in range(iterations):
            residual, jacobian = self._linear(q)
            fixed, matrix = jacobian[self._fixed], self._matrix(jacobian, kind)
            basis, triangle = np.linalg.qr(fixed.T, mode='complete')
            rows, motions = len(fixed), basis.T[len(fixed) :]
            regular = triangle[:rows].T + ZERO * np.eye(rows)
            close = -basis[:, :rows] @ np.linalg.solve(regular, residual[self._fixed])
            lost = matrix @ vector
            # The loops stay closed to first order along the motions.
            ahead = [self._linear(self._moved(q, DIFFERENCE * way))[1] for way in motions]
            slopes = [self._matrix(each, kind) @ vector - lost for each in ahead]
            system = np.zeros((len(lost) + 1, len(motions) + len(vector)))
            system[:-1, : len(motions)] = np.reshape(slopes, (len(motions), -1)).T / DIFFERENCE
            system[:-1, len(motions) :], system[-1, len(motions) :] = matrix, vector
            error = np.array([*lost, 0.5 * (vector @ vector - 1.0)])
            left, sizes, right = np.linalg.svd(system)
            rank = int(np.sum(sizes > ZERO))
            if max(np.abs(error).max(), np.abs(residual[self._fixed]).max(initial=0)) < TOLERANCE:
                ways = right[rank:]
                ways = np.hstack([ways[:, : len(motions)] @ motions, ways[:, len(motions) :]])
                rates = jacobian[self._moving] @ ways[:, : len(self._columns)].T
                _, speeds, shares = np.linalg.svd(rates)
                # Of all tangents, the one along which the link moves fastest.
                return (
                    _Point(q, vector, shares[0] @ ways, float(speeds[0])) if speeds.size else None
                )
            step = -(left[:, :rank].T @ error / sizes[:rank]) @ right[:rank]
            if number == 0 and np.abs(step).max() > longest:
                return None
            move = close + step[: len(motions)] @ motions
            share = min(1.0, 2.0 * LONGEST / max(np.abs(move).max(), np.abs(step).max()))
            q, vector = self._moved(q, share * move), vector + share * step[len(motions) :]
        return None

    def _follow(self, start: _Point, kind: str) -> Array:
        """Return the configurations of a curve to both sides of one, shape (n, nq)."""
        halves: list[list[Array]] = []
        for sign in (1.0, -1.0):
            here, half = start._replace(tangent=sign * start.tangent), [start.q]
            while len(half) < MOST:
                there = self._step_along(here, kind)
                if there is None or not self._inside(there.q):
                    break
                here = there
                half.append(here.q)
                if len(half) > 3 and self._apart(here.q, start.q) < self._apart(*half[-2:]):
                    return np.array([*half, start.q])
            halves.append(half)
        return np.array(halves[1][:0:-1] + halves[0])

    def _step_along(self, here: _Point, kind: str) -> _Point | None:
        count = len(self._columns)
        size = min(self._step / max(here.rate, ZERO), LONGEST / np.abs(here.tangent).max())
        for _ in range(HALVINGS):
            step = size * here.tangent
            ahead = self._moved(here.q, step[:count])
            there = self._correct(ahead, here.vector + step[count:], kind, ALONG)
            if there is not None and self._apart(there.q, ahead) < CORRECTION * size:
                same = there.tangent @ here.tangent >= 0.0
                return there if same else there._replace(tangent=-there.tangent)
            size *= 0.5
        return None

    def _apart(self, one: Array, other: Array) -> float:
        """Return the distance of configurations, without full turns."""
        gap = (one - other) / self._problem.units
        turning = self._table.turning(self._table.rows)
        gap[turning] -= 2.0 * np.pi * np.round(gap[turning] / (2.0 * np.pi))
        return float(np.abs(gap).max())
