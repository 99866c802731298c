"""The residual, Jacobian and variables of one chain at a configuration, for the methods."""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import NamedTuple

from ik_node.kernels.layout import (
    BLOCK,
    CON_LEVEL,
    CON_ROTATION_TOLERANCE,
    CON_ROW_TOLERANCE,
    CON_TRANSLATION_TOLERANCE,
    JOINT_TURNS,
    JOINT_WINDOW,
)
from ik_node.kernels.options import RESTARTS
from ik_node.kernels.solve_state import COST, LAST_LEVEL, LEVEL, STATUS_REFUSED
from ik_node.kernels.start import LEAST_REACH_WEIGHT
from ik_node.model.rotation import quat_conjugate, quat_multiply, quat_to_rotation_vector
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem, TABLE_POSES
from ik_node.solver.problem.workspace import Workspace
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# A finite window, wider than any motion [rad]: the kernel steps a ball with a finite window by its
# Euler angles.
_ALMOST_NO_WINDOW = 1e200


class Block(NamedTuple):
    """Rows first to last - 1 of one constraint, all in [rad] (is_rotation) or lengths [L]."""

    constraint: int
    first: int
    last: int
    is_rotation: bool


def blocks_of(workspace: Workspace) -> tuple[Block, ...]:
    """Return the blocks of a packed chain in the order of its rows."""
    blocks, first = [], 0
    ends = zip(workspace.angular.tolist(), workspace.row_end.tolist(), strict=True)
    for c, (angular, row_end) in enumerate(ends):
        turn, last = first + angular - BLOCK * c, first + row_end - BLOCK * c
        blocks += [
            Block(c, first, turn, is_rotation=False),
            Block(c, turn, last, is_rotation=True),
        ]
        first = last
    return tuple(block for block in blocks if block.first < block.last)


class Iterate:
    """
    A chain at a configuration, in the workspace of its problem.

    Lengths are multiples of the characteristic length [L], except in `q` and `errors`. The arrays
    are views of the workspace.

    x, lower and upper (nv,) are the variables and their bounds [rad or L]; free_ball is 1 for
    those of a ball that is stepped by rotations about the axes of its turned frame. With `euler`
    all balls are stepped by their Euler angles, so that variables are independent numbers.
    `prismatic` is True for variables in [L], and `turns` for angles of which full turns do not
    count. `weight` (nr,) are the squared weights w_r^2 of the rows, the diagonal of W, at least
    `LEAST_REACH_WEIGHT`; `errors` (nc, 2) the residual norms of every constraint [m], [rad].
    `preference` is the kind of preference of each variable, PREFERS_*. For those chosen by
    `settle_on`, `preferred_step` is x* - x, `gain` the share g of it to take in a step, and `pull`
    its weight, see theory.md, eq. (9).
    """

    def __init__(
        self,
        chain: ChainProblem,
        q: Array,
        joints: Array,
        options: SolverOptions,
        *,
        euler: bool = False,
    ) -> None:
        if euler:
            joints = joints.copy()
            joints[JOINT_WINDOW] = np.minimum(joints[JOINT_WINDOW], _ALMOST_NO_WINDOW)
        self.chain, self.q, self.options, self.packed = chain, q, options, options.packed()
        # Without restarts the kernel does not wrap angles around from one bound to the other.
        self.packed[RESTARTS] = 0.0
        self._arguments = (q, joints, self.packed)
        flat, workspace = chain.flat, Workspace(*chain.arrays)
        self.workspace = workspace
        self.variable_count: int = workspace.nv
        self.row_count = flat.rows.size

        self.x, self.lower, self.upper = workspace.x, workspace.lower, workspace.upper
        self.gain, self.pull, self._step = workspace.gain, workspace.pull, workspace.step
        self.preferred_step = workspace.preferred_step
        self._numbers, self._residual = workspace.jac, workspace.residual
        self.errors = chain.errors.reshape(-1, 2)
        self.free_ball, self.preference = workspace.free_ball, workspace.preference
        self.prismatic = np.isin(flat.var_q, workspace.column_q[workspace.prismatic == 1])
        self.turns = joints[JOINT_TURNS, flat.var_q] > 0.0
        self.blocks = blocks_of(workspace)
        self._loops = chain.table[:, CON_LEVEL] == 0.0
        self.is_closure = np.zeros(self.row_count, dtype=bool)
        for block in self.blocks:
            self.is_closure[block.first : block.last] = self._loops[block.constraint]
        self._tolerances = chain.table[:, [CON_TRANSLATION_TOLERANCE, CON_ROTATION_TOLERANCE]]
        by_row = chain.table[:, CON_ROW_TOLERANCE : CON_ROW_TOLERANCE + BLOCK]
        by_row = np.where(by_row[:, :1] >= 0.0, by_row, np.inf).ravel()[flat.rows]
        self._row_tolerances = by_row / flat.row_units
        if chain.kernels.linearise(*self._arguments) == STATUS_REFUSED:
            chain.refuse(q, TABLE_POSES)
        weight = workspace.weight[flat.rows]
        self.weight = np.maximum(weight, LEAST_REACH_WEIGHT)
        self.go_to(self.x.copy())

    # -- moving

    def move(self, step: Array) -> float:
        """
        Take a step, clamped to the bounds; return the largest actual change [rad or L].

        The step has shape (nv,) [rad or L]; for a free ball it is a rotation vector [rad] in the
        turned frame.
        """
        before = self.x.copy()
        self._step[:] = step
        self.chain.kernels.external_step(*self._arguments)
        change = np.where(self.free_ball == 1, step, self.x - before)
        return float(np.abs(change).max(initial=0.0))

    def move_one(self, variable: int, change: float) -> float:
        """Move one variable [rad or L], clamped to its bounds; return its actual change."""
        step = np.zeros(self.variable_count)
        step[variable] = change
        return self.move(step)

    def go_to(self, x: Array) -> None:
        """Set the variables, shape (nv,) [rad or L], clamped to the bounds."""
        self.x[:] = x
        self._step[:] = 0.0
        self.chain.kernels.external_step(*self._arguments)

    def settle_on(self, wanted: int) -> None:
        """Choose the preferences of `preferred_step`: joint targets or rest pose, PREFERS_*."""
        counts = self.chain.work_ints
        counts[LEVEL] = counts[LAST_LEVEL] + wanted
        self.go_to(self.x.copy())

    # -- values at the configuration

    @property
    def residual(self) -> Array:
        """Return the residual r, shape (nr,) [L or rad]."""
        rows: Array = self._residual[self.chain.flat.rows]
        # A limit of a rotation counts only beyond it.
        return np.where(self.chain.flat.one_sided, np.maximum(rows, 0.0), rows)

    @property
    def cost(self) -> float:
        """Return the cost f = r^T W r / 2, theory.md, eq. (5)."""
        return float(self.chain.work_floats[COST])

    @property
    def within_tolerance(self) -> bool:
        """Return True if every closure and goal is within its tolerance."""
        by_axis = np.abs(self.residual) <= self._row_tolerances
        return bool((self.errors <= self._tolerances).all() and by_axis.all())

    @property
    def closures_met(self) -> bool:
        """Return True if every closure is within its tolerance."""
        return bool((self.errors <= self._tolerances)[self._loops].all())

    @property
    def worst(self) -> tuple[float, float]:
        """Return the largest position [m] and orientation residual [rad] of all constraints."""
        position, orientation = self.errors.max(axis=0, initial=0.0).tolist()
        return position, orientation

    @property
    def locked(self) -> NDArray[np.bool_]:
        """Return True for each variable that cannot move, shape (nv,)."""
        return np.asarray(self.lower == self.upper)

    def difference_steps(self) -> Array:
        """
        Return the step of each variable for finite differences, shape (nv,) [rad or L].

        It is negative where the upper bound is too near, and 0 where both bounds are.
        """
        options = self.options
        sizes = np.where(self.prismatic, options.translation_step, options.rotation_step)
        up, down = self.upper - self.x >= sizes, self.x - self.lower >= sizes
        return np.where(up | (self.free_ball == 1), sizes, np.where(down, -sizes, 0.0))

    def jacobian(self) -> Array:
        """
        Return the Jacobian J = dr/dx, shape (nr, nv), analytic or numeric by the option.

        The three rows of a full orientation contain the angular velocity, see `kernels.rows`.
        """
        if self.options.jacobian != 'numeric':
            return self.analytic_jacobian()
        x, residual = self.x.copy(), self.residual.copy()
        columns = np.zeros((x.size, residual.size))
        for v, size in enumerate(self.difference_steps().tolist()):
            if self.move_one(v, size) > 0.0:
                columns[v] = self._difference(residual) / size
            self.go_to(x)
        return np.ascontiguousarray(columns.T)

    def analytic_jacobian(self) -> Array:
        """Return the Jacobian computed by the kernel, shape (nr, nv)."""
        jacobian = self.chain.flat.dense(self._numbers)
        inside = self.chain.flat.one_sided & (self._residual[self.chain.flat.rows] <= 0.0)
        return np.where(inside[:, None], 0.0, jacobian)

    def _difference(self, before: Array) -> Array:
        """
        Return the change of the residual.

        For a full orientation, a rotation vector phi, it is log(exp(phi') exp(phi)^T), which does
        not jump at half a turn, and whose rate is the angular velocity (theory.md, section 3).
        """
        after = self.residual
        change = after - before
        for _, first, last, is_rotation in self.blocks:
            if is_rotation and last - first == 3:
                inverse = quat_conjugate(_quat_of(before[first:last]))
                turn = quat_multiply(_quat_of(after[first:last]), inverse)
                change[first:last] = quat_to_rotation_vector(turn)
        return change


def _quat_of(rotation_vector: Array) -> Array:
    """Return the unit quaternion (xyzw) of a rotation vector [rad]."""
    angle = sqrt(float(rotation_vector @ rotation_vector))
    share = 0.5 if angle < 1e-12 else sin(0.5 * angle) / angle
    return np.append(share * rotation_vector, cos(0.5 * angle))
