"""One set of goals, solved again and again for other poses."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import NamedTuple, Protocol

from ik_node.errors import ShapeError
from ik_node.kernels.counters import STATUS_REFUSED, STATUS_RUNNING
from ik_node.kernels.direct import advance_direct
from ik_node.kernels.layout import Ints
from ik_node.model.revision import Revision
from ik_node.solver.chain_problem import ChainProblem
from ik_node.solver.options import SolverOptions
from ik_node.solver.result import Solution
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_NO_POSITIONS: Array = np.zeros((0, 3))
_NO_QUATS: Array = np.zeros((0, 4))


class Direct(NamedTuple):
    """What one call of the kernel takes where no Python need stand between."""

    at: int  # address of places
    places: Ints
    chain: ChainProblem
    record: Array
    joints: Array
    packed: Array


class PosedSolver(Protocol):
    """What a prepared solve needs of its solver."""

    options: SolverOptions
    readings: int

    @property
    def q(self) -> Array:
        """Return all joint values, a copy."""

    def warm(self) -> None:
        """Have the kernels compiled."""

    def direct(self, names: tuple[str, ...], joints: tuple[str, ...] | None) -> Direct | None:
        """Return what solves goals in one call of the kernel; None = that would not do."""

    def solve_pose(
        self,
        goals: Mapping[str, tuple[ArrayLike, ArrayLike]],
        q0: ArrayLike | None,
        *,
        joints: tuple[str, ...] | None,
    ) -> Solution:
        """Solve for poses."""


class PreparedSolve:
    """
    A callable for one set of goals: what `Solver.solve_pose` does, less the work of every call.

    Parameters
    ----------
    solver : Solver
    names : tuple of str
        Goals or links, as in `Solver.solve_pose`.
    joints : tuple of str, optional
        Joints that may move.

    """

    __slots__ = (
        '_asks',
        '_direct',
        '_joints',
        '_names',
        '_options',
        '_readings',
        '_settings',
        '_solver',
    )

    def __init__(
        self, solver: PosedSolver, names: tuple[str, ...], joints: tuple[str, ...] | None = None
    ) -> None:
        self._solver = solver
        self._names = names
        self._joints = joints
        solver.warm()
        self._look_up()

    def __call__(
        self,
        positions: ArrayLike = _NO_POSITIONS,
        quats_xyzw: ArrayLike = _NO_QUATS,
        q0: ArrayLike | None = None,
    ) -> Solution:
        """
        Solve for poses; without goals, close the loops.

        Parameters
        ----------
        positions : array_like, shape (k, 3)
            [m], in the order of the names; for one goal (3,) will do.
        quats_xyzw : array_like, shape (k, 4)
            Likewise. C-contiguous arrays of float64 are the fastest.
        q0 : array_like, shape (nq,), optional
            Start; None = the joints' present values.

        Raises
        ------
        ShapeError
            If a shape is wrong, a number is not finite, or a quaternion is zero.

        """
        started, solver = perf_counter(), self._solver
        if (
            self._settings != Revision.settings
            or self._asks != Revision.asks
            or self._readings != solver.readings
            or self._options is not solver.options
        ):
            self._look_up()
        if self._direct is not None:
            at, _, chain, record, joints, packed = self._direct
            start = solver.q if q0 is None else q0
            try:
                # What is no array, or not of the kind that kernels take, is seen to below; so is
                # what they refuse.
                q: Array = start.copy()  # type: ignore[union-attr]
                status = advance_direct(at, q, positions, quats_xyzw)  # type: ignore[arg-type]
            except (AttributeError, TypeError):
                status = STATUS_REFUSED
            while status == STATUS_RUNNING:
                status = chain.go_on(q, joints, packed)
            if status != STATUS_REFUSED:
                answer = (chain, record.copy(), joints, packed)
                return Solution(q, (answer,), perf_counter() - started)
        count = len(self._names)
        p = _table('positions', positions, count, 3)
        r = _table('quats_xyzw', quats_xyzw, count, 4)
        goals = {name: (p[k], r[k]) for k, name in enumerate(self._names)}
        return solver.solve_pose(goals, q0, joints=self._joints)

    def _look_up(self) -> None:
        """Look everything up anew that stays the same from call to call."""
        # Counted first: what another thread changes meanwhile is looked up the next time.
        self._settings, self._asks = Revision.settings, Revision.asks
        self._readings, self._options = self._solver.readings, self._solver.options
        self._direct = self._solver.direct(self._names, self._joints)


def _table(what: str, values: ArrayLike, count: int, width: int) -> Array:
    """
    Return numbers as an array (count, width).

    Raises
    ------
    ShapeError
        If they have another shape, or are no numbers.

    """
    wanted = f'shape ({count}, {width})'
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(what, wanted, repr(values)) from None
    if array.shape != (count, width) and (count, *array.shape) != (1, width):
        raise ShapeError(what, wanted, f'{array.shape}')
    return array.reshape(count, width)
