# flake8: noqa: E203
"""One chain at a configuration, as a method that chooses steps sees it."""

from __future__ import annotations

from ik_node.kernels.external_step import apply
from ik_node.kernels.layout import (
    begin_of,
    BLOCK,
    CON_LEVEL,
    CON_ROTATION_TOLERANCE,
    CON_TRANSLATION_TOLERANCE,
    JOINT_WINDOW,
    SIZES,
)
from ik_node.kernels.linearise import linearise
from ik_node.kernels.options import RESTARTS
from ik_node.kernels.solve_state import COST, LAST_LEVEL, LEVEL, STATUS_REFUSED
from ik_node.kernels.start import LEAST_REACH_WEIGHT
from ik_node.solver.methods.blocks import blocks_of
from ik_node.solver.methods.numeric_jacobian import numeric_jacobian
from ik_node.solver.options import SolverOptions
from ik_node.solver.problem.chain_problem import AS_THEY_ARE, ChainProblem
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

# Wider than any window, and narrower than none: such a ball is stepped by its Euler angles.
_ALMOST_NO_WINDOW = 1e200


class Iterate:
    """
    A chain at a configuration, over the workspace of its problem.

    As in kernels, lengths count in characteristic lengths of the chain [L], but for q and errors.

    Parameters
    ----------
    chain : ChainProblem
    q : ndarray, shape (nq,)
        All joint values [rad or m]: the start, and kept up to date in place.
    joints : ndarray, shape (8, nq)
        Limits, locks and wishes.
    options : SolverOptions
    euler : bool
        Whether balls without limits are stepped by their Euler angles, too, so that every
        variable is a number by itself; else by turns about the axes of their turned frame.

    Attributes
    ----------
    x, lower, upper : ndarray, shape (nv,)
        Variables and their bounds [rad or L]. Views, as all arrays here.
    free_ball : ndarray, shape (nv,)
        1 = part of a ball that is stepped by turns.
    residual, weight : ndarray, shape (nr,)
        Rows [L or rad] and their squared weights, none of them negligible.
    errors : ndarray, shape (nc, 2)
        Residual norms of every constraint [m], [rad].
    wants : ndarray, shape (nv,)
        WANTS_*: whether a variable has a joint target or a rest pose.
    wish, gain, pull : ndarray, shape (nv,)
        The way to what the present stage is about, see `settle_on`, the share of it to take in a
        step, and its weight.
    prismatic : ndarray of bool, shape (nv,)
        Whether a variable counts in [L].
    blocks : tuple of Block
    is_closure : ndarray of bool, shape (nr,)
        Whether a row belongs to a closure.

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
        # Methods have none, and no angle that comes in again at its other bound.
        self.packed[RESTARTS] = 0.0
        ints, w = chain.flat.ints, chain.work_floats
        self._arguments = (ints, chain.flat.floats, chain.work_ints, w, q, joints, self.packed)
        sizes = dict(zip(SIZES, ints[: len(SIZES)].tolist(), strict=True))
        self.variable_count, self.row_count = sizes['nv'], chain.flat.rows.size
        self._width = sizes['width']

        def view(name: str, count: int) -> Array:
            at = begin_of(ints, name)
            return w[at : at + count]

        nv = sizes['nv']
        self.x, self.lower, self.upper = view('x', nv), view('lower', nv), view('upper', nv)
        self.wish, self.gain, self.pull = view('wish', nv), view('gain', nv), view('pull', nv)
        self._step, self._numbers = view('step', nv), view('jac', BLOCK * sizes['ns'])
        self._frames = view('frame', 12 * sizes['n'])
        self._residual = view('residual', sizes['nr'])
        self.errors = chain.errors.reshape(-1, 2)
        self.free_ball, self.wants = (
            chain.work_ints[begin_of(ints, name) : begin_of(ints, name) + nv]
            for name in ('free_ball', 'wants')
        )
        self.prismatic = _prismatic(ints, sizes)
        self.blocks = blocks_of(ints)
        self.is_closure = np.zeros(self.row_count, dtype=bool)
        for block in self.blocks:
            self.is_closure[block.first : block.last] = (
                chain.table[block.constraint, CON_LEVEL] == 0.0
            )
        self._tolerances = chain.table[:, [CON_TRANSLATION_TOLERANCE, CON_ROTATION_TOLERANCE]]
        if linearise(*self._arguments) == STATUS_REFUSED:
            chain.refuse(q, AS_THEY_ARE)
        self.weight = np.maximum(view('weight', sizes['nr'])[chain.flat.rows], LEAST_REACH_WEIGHT)
        self.place(self.x.copy())

    # -- moving

    def move(self, step: Array) -> float:
        """
        Take a step, kept within the bounds.

        Parameters
        ----------
        step : ndarray, shape (nv,)
            Change of the variables [rad or L]; for a free ball a turn [rad] about the axes of
            its turned frame.

        Returns
        -------
        float
            Largest change of a variable [rad or L] that came of it.

        """
        before = self.x.copy()
        self._step[:] = step
        apply(*self._arguments)
        change = np.where(self.free_ball == 1, step, self.x - before)
        return float(np.abs(change).max(initial=0.0))

    def place(self, x: Array) -> None:
        """Go to a configuration, kept within the bounds."""
        self.x[:] = x
        self._step[:] = 0.0
        apply(*self._arguments)

    def settle_on(self, wanted: int) -> None:
        """Let `wish` be about joint targets or about the rest pose, WANTS_*."""
        counts = self.chain.work_ints
        counts[LEVEL] = counts[LAST_LEVEL] + wanted
        self.place(self.x.copy())

    # -- what there is here

    @property
    def residual(self) -> Array:
        """Rows [L or rad]."""
        rows: Array = self._residual[self.chain.flat.rows]
        return rows

    @property
    def cost(self) -> float:
        """Half the weighted sum of squares of all rows."""
        return float(self.chain.work_floats[COST])

    @property
    def within_tolerance(self) -> bool:
        """Whether every closure and goal is met."""
        return bool((self.errors <= self._tolerances).all())

    @property
    def closures_met(self) -> bool:
        """Whether every closure is met."""
        loops = self.chain.table[:, CON_LEVEL] == 0.0
        return bool((self.errors <= self._tolerances)[loops].all())

    @property
    def worst(self) -> tuple[float, float]:
        """Largest position [m] and orientation residual [rad] of any closure or goal."""
        largest = self.errors.max(axis=0, initial=0.0)
        return float(largest[0]), float(largest[1])

    @property
    def locked(self) -> NDArray[np.bool_]:
        """Whether a variable cannot move at all."""
        return np.asarray(self.lower == self.upper)

    def step_sizes(self) -> Array:
        """Return the change of every variable for finite differences [rad or L], (nv,)."""
        options = self.options
        return np.where(self.prismatic, options.translation_step, options.rotation_step)

    def jacobian(self) -> Array:
        """
        Return d residual / d variable, shape (nr, nv), analytic or numeric as the options say.

        The three rows of a full orientation hold the angular velocity, see `kernels.rows`.
        """
        if self.options.jacobian == 'numeric':
            return numeric_jacobian(self)
        return self.analytic_jacobian()

    def column_frame(self, column: int) -> Array:
        """Return the frame of a column after its motion along or about its z, a view (12,)."""
        return self._frames[12 * column : 12 * column + 12]

    def drives_itself(self, column: int) -> bool:
        """Whether a column's value is its variable, and not a polynomial of it."""
        ints, width = self.chain.flat.ints, self._width
        at = begin_of(ints, 'coefficients') + width * column
        identity = np.eye(width)[1]
        return bool((self.chain.flat.floats[at : at + width] == identity).all())

    def analytic_jacobian(self) -> Array:
        """Return what the kernel left, shape (nr, nv)."""
        return self.chain.flat.dense(self._numbers)


def _prismatic(ints: Ints, sizes: dict[str, int]) -> NDArray[np.bool_]:
    """Return which variables count in metres: by the column that has the same place in q."""
    var_q, column_q, kind = (
        ints[begin_of(ints, name) : begin_of(ints, name) + sizes[count]]
        for name, count in (('var_q', 'nv'), ('column_q', 'n'), ('prismatic', 'n'))
    )
    of_place = dict(zip(column_q.tolist(), kind.tolist(), strict=True))
    return np.array([of_place[place] == 1 for place in var_q.tolist()], dtype=bool)
