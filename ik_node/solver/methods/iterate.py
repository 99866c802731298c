# flake8: noqa: E203
"""The residual, Jacobian and variables of one chain at a configuration, for the methods."""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import NamedTuple

from ik_node.kernels.layout import (
    begin_of,
    BLOCK,
    CON_LEVEL,
    CON_ROTATION_TOLERANCE,
    CON_ROW_TOLERANCE,
    CON_TRANSLATION_TOLERANCE,
    JOINT_TURNS,
    JOINT_WINDOW,
    SIZES,
)
from ik_node.kernels.options import RESTARTS
from ik_node.kernels.solve_state import COST, LAST_LEVEL, LEVEL, STATUS_REFUSED
from ik_node.kernels.start import LEAST_REACH_WEIGHT
from ik_node.model.rotation import quat_conjugate, quat_multiply, quat_to_rotation_vector
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import ChainProblem, TABLE_POSES
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Block(NamedTuple):
    """
    The rows of one constraint that have the same unit.

    Attributes
    ----------
    constraint : int
        Index of the constraint in the chain.
    first, last : int
        The rows are first to last - 1.
    is_rotation : bool
        True for rows in [rad], False for lengths [L]. Three rows in [rad] are a full orientation.

    """

    constraint: int
    first: int
    last: int
    is_rotation: bool


def blocks_of(ints: Ints) -> tuple[Block, ...]:
    """Return the blocks of a packed chain in the order of its rows."""
    row_end, angular = begin_of(ints, 'row_end'), begin_of(ints, 'angular')
    blocks, first = [], 0
    for c in range(int(ints[SIZES.index('nc')])):
        turn = first + int(ints[angular + c]) - BLOCK * c
        last = first + int(ints[row_end + c]) - BLOCK * c
        if first < turn:
            blocks.append(Block(c, first, turn, is_rotation=False))
        if turn < last:
            blocks.append(Block(c, turn, last, is_rotation=True))
        first = last
    return tuple(blocks)


def numeric_jacobian(here: Iterate) -> Array:
    """
    Return the Jacobian J = dr/dx by one-sided differences, shape (nr, nv).

    Each variable is moved by `translation_step` or `rotation_step`; in the negative direction if
    it would pass its upper bound otherwise. Columns of variables that cannot move are zero.

    Notes
    -----
    The three rows of a full orientation are a rotation vector phi. Their difference is
    log(exp(phi') exp(phi)^T), the rotation between the two, which does not jump at half a turn.
    Its rate is the angular velocity, as in the analytic Jacobian (theory.md, section 3).

    """
    x, residual = here.x.copy(), here.residual.copy()
    columns = np.zeros((x.size, residual.size))
    sizes = away_from_bounds(here)
    for v in range(x.size):
        step = np.zeros(x.size)
        step[v] = sizes[v]
        if here.move(step) > 0.0:
            columns[v] = _difference(here, residual) / sizes[v]
        here.go_to(x)
    return np.ascontiguousarray(columns.T)


def away_from_bounds(here: Iterate) -> Array:
    """Return `step_sizes`, negated where the upper bound is too near, 0 where both are."""
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
    """Return the unit quaternion (xyzw) of a rotation vector [rad]."""
    angle = sqrt(float(rotation_vector @ rotation_vector))
    share = 0.5 if angle < 1e-12 else sin(0.5 * angle) / angle
    return np.append(share * rotation_vector, cos(0.5 * angle))


Ints = NDArray[np.int64]

# A finite window, wider than any motion [rad]: the kernel steps a ball with a finite window by its
# Euler angles.
_ALMOST_NO_WINDOW = 1e200


class Iterate:
    """
    A chain at a configuration, in the workspace of its problem.

    Lengths are multiples of the characteristic length [L], except in `q` and `errors`.

    Parameters
    ----------
    chain : ChainProblem
        The chain, whose workspace is used.
    q : ndarray, shape (nq,)
        All joint values [rad or m]; the start, updated in place.
    joints : ndarray, shape (8, nq)
        Limits, locks and preferences, see `JointTable.rows`.
    options : SolverOptions
        Options of the solver.
    euler : bool
        True: ball joints without limits are stepped by their Euler angles, so that variables are
        independent numbers. False: by rotations about the axes of their turned frame.

    Attributes
    ----------
    x, lower, upper : ndarray, shape (nv,)
        Variables x and their bounds [rad or L]. Like all arrays here they are views.
    free_ball : ndarray, shape (nv,)
        1 for variables of a ball that is stepped by rotations, else 0.
    residual : ndarray, shape (nr,)
        Residual r [L or rad].
    weight : ndarray, shape (nr,)
        Squared weights w_r^2 of the rows, the diagonal of W, at least `LEAST_REACH_WEIGHT`.
    errors : ndarray, shape (nc, 2)
        Residual norms of every constraint [m], [rad].
    preference : ndarray, shape (nv,)
        PREFERS_*: the kind of preference of each variable.
    preferred_step, gain, pull : ndarray, shape (nv,)
        x* - x for the preferences chosen by `settle_on` [rad or L], the share g of it to take in
        a step, and its weight, see theory.md, eq. (9).
    prismatic, turns : ndarray of bool, shape (nv,)
        True for variables in [L], and for angles of which full turns do not count.
    blocks : tuple of Block
        The rows by constraint and unit.
    is_closure : ndarray of bool, shape (nr,)
        True for rows of closures.

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
        # The methods have no restarts, and without restarts the kernel does not wrap angles
        # around from one bound to the other.
        self.packed[RESTARTS] = 0.0
        ints, w = chain.flat.ints, chain.work_floats
        self._arguments = (q, joints, self.packed)
        sizes = dict(zip(SIZES, ints[: len(SIZES)].tolist(), strict=True))
        self.variable_count, self.row_count = sizes['nv'], chain.flat.rows.size
        self._width = sizes['width']

        def view(name: str, count: int) -> Array:
            at = begin_of(ints, name)
            return w[at : at + count]

        nv = sizes['nv']
        self.x, self.lower, self.upper = view('x', nv), view('lower', nv), view('upper', nv)
        self.preferred_step, self.gain, self.pull = (
            view('preferred_step', nv),
            view('gain', nv),
            view('pull', nv),
        )
        self._step, self._numbers = view('step', nv), view('jac', BLOCK * sizes['ns'])
        self._frames = view('frame', 12 * sizes['n'])
        self._residual = view('residual', sizes['nr'])
        self.errors = chain.errors.reshape(-1, 2)
        self.free_ball, self.preference = (
            chain.work_ints[begin_of(ints, name) : begin_of(ints, name) + nv]
            for name in ('free_ball', 'preference')
        )
        self.prismatic = _prismatic(ints, sizes)
        self.turns = joints[JOINT_TURNS, chain.flat.var_q] > 0.0
        self.blocks = blocks_of(ints)
        self.is_closure = np.zeros(self.row_count, dtype=bool)
        for block in self.blocks:
            self.is_closure[block.first : block.last] = (
                chain.table[block.constraint, CON_LEVEL] == 0.0
            )
        self._tolerances = chain.table[:, [CON_TRANSLATION_TOLERANCE, CON_ROTATION_TOLERANCE]]
        by_row = chain.table[:, CON_ROW_TOLERANCE : CON_ROW_TOLERANCE + BLOCK]
        by_row = np.where(by_row[:, :1] >= 0.0, by_row, np.inf).ravel()[chain.flat.rows]
        self._row_tolerances = by_row / chain.flat.row_units
        if chain.kernels.linearise(*self._arguments) == STATUS_REFUSED:
            chain.refuse(q, TABLE_POSES)
        self.weight = np.maximum(view('weight', sizes['nr'])[chain.flat.rows], LEAST_REACH_WEIGHT)
        self.go_to(self.x.copy())

    # -- moving

    def move(self, step: Array) -> float:
        """
        Take a step, clamped to the bounds.

        Parameters
        ----------
        step : ndarray, shape (nv,)
            Change of the variables [rad or L]; for a free ball a rotation vector [rad] in its
            turned frame.

        Returns
        -------
        float
            Largest actual change of a variable [rad or L].

        """
        before = self.x.copy()
        self._step[:] = step
        self.chain.kernels.external_step(*self._arguments)
        change = np.where(self.free_ball == 1, step, self.x - before)
        return float(np.abs(change).max(initial=0.0))

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
        loops = self.chain.table[:, CON_LEVEL] == 0.0
        return bool((self.errors <= self._tolerances)[loops].all())

    @property
    def worst(self) -> tuple[float, float]:
        """Return the largest position [m] and orientation residual [rad] of all constraints."""
        largest = self.errors.max(axis=0, initial=0.0)
        return float(largest[0]), float(largest[1])

    @property
    def locked(self) -> NDArray[np.bool_]:
        """Return True for each variable that cannot move, shape (nv,)."""
        return np.asarray(self.lower == self.upper)

    def step_sizes(self) -> Array:
        """Return the step of each variable for finite differences, shape (nv,) [rad or L]."""
        options = self.options
        return np.where(self.prismatic, options.translation_step, options.rotation_step)

    def jacobian(self) -> Array:
        """
        Return the Jacobian J = dr/dx, shape (nr, nv), analytic or numeric by the option.

        The three rows of a full orientation contain the angular velocity, see `kernels.rows`.
        """
        if self.options.jacobian == 'numeric':
            return numeric_jacobian(self)
        return self.analytic_jacobian()

    def column_frame(self, column: int) -> Array:
        """Return the frame of a column after its motion, a view of shape (12,), root frame."""
        return self._frames[12 * column : 12 * column + 12]

    def is_uncoupled(self, column: int) -> bool:
        """Return True if the value of a column is its variable, and not a polynomial of it."""
        ints, width = self.chain.flat.ints, self._width
        at = begin_of(ints, 'coefficients') + width * column
        identity = np.eye(width)[1]
        return bool((self.chain.flat.floats[at : at + width] == identity).all())

    def analytic_jacobian(self) -> Array:
        """Return the Jacobian computed by the kernel, shape (nr, nv)."""
        jacobian = self.chain.flat.dense(self._numbers)
        inside = self.chain.flat.one_sided & (self._residual[self.chain.flat.rows] <= 0.0)
        return np.where(inside[:, None], 0.0, jacobian)


def _prismatic(ints: Ints, sizes: dict[str, int]) -> NDArray[np.bool_]:
    """Return True for each variable that is a length: its column, by index in q, is prismatic."""
    var_q, column_q, kind = (
        ints[begin_of(ints, name) : begin_of(ints, name) + sizes[count]]
        for name, count in (('var_q', 'nv'), ('column_q', 'n'), ('prismatic', 'n'))
    )
    of_place = dict(zip(column_q.tolist(), kind.tolist(), strict=True))
    return np.array([of_place[place] == 1 for place in var_q.tolist()], dtype=bool)
