"""The prepared solve of one set of goals, to be called many times with different poses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from ik_node.display import public_names
from ik_node.errors import listed, ShapeError
from ik_node.kernels.solve_state import STATUS_REFUSED, STATUS_RUNNING
from ik_node.model.given import ARRAY, FLOAT, numbers
from ik_node.model.pose_forms import position_and_quat
from ik_node.model.revision import Revision
from ik_node.solver.pose import Values
from ik_node.solver.problem.chain_problem import ChainProblem
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import Solution
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_NO_POSITIONS: Array = np.zeros((0, 3))
_NO_QUATS: Array = np.zeros((0, 4))


class PreparedCall(NamedTuple):
    """The arguments of a solve that is a single call of the kernel, without Python around it."""

    chain: ChainProblem
    advance: Callable[..., int]
    record: Array
    joints: Array
    packed: Array
    goals: int
    first: int  # steps of the first slice of a new solve, as a negative number
    names: Sequence[str]  # of all joint values


class PosedSolver(Protocol):
    """The part of `Solver` that a prepared solve uses."""

    @property
    def lock(self) -> RLock:
        """Return the lock of the solver's arrays."""

    @property
    def revision(self) -> Revision:
        """Return the counters of changes to the graph and to the options."""

    @property
    def q(self) -> Array:
        """Return a copy of all joint values [rad or m]."""

    def copied_q(self, values: Values) -> Array:
        """Return a copy of q as a float array."""

    def problem_for(self, names: tuple[str, ...]) -> Problem:
        """Return the problem of all closures and the named goals."""

    def warm(self) -> None:
        """Compile or load the kernels."""

    def prepared_call(
        self, names: tuple[str, ...], joints: tuple[str, ...] | None
    ) -> PreparedCall | None:
        """Return the arguments of the kernel's prepared call; None = it cannot be used."""

    def solve_pose(
        self, goals: Mapping[str, Any], q0: Values | None, *, joints: tuple[str, ...] | None
    ) -> Solution:
        """Solve for the given poses."""


class PreparedSolve:
    """
    A callable that solves for one set of goals, as `Solver.solve_pose` does, but faster.

    It reads goals, joints and options only when they have changed. Made by `Solver.prepare`.

    Parameters
    ----------
    solver : Solver
        The solver.
    names : tuple of str
        Goals or links, as in `Solver.solve_pose`.
    joints : tuple of str, optional
        Joints that may move; None = all that are not locked.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> call = ik.Solver(robot).prepare(['tool_link'])
    >>> call((0.5, 0.2, 0.5), (0, 0, 0, 1)).converged
    True

    """

    __slots__ = ('_call', '_edits', '_joints', '_lock', '_names', '_revision', '_solver')

    def __init__(
        self, solver: PosedSolver, names: tuple[str, ...], joints: tuple[str, ...] | None = None
    ) -> None:
        self._solver = solver
        self._names = names
        self._joints = joints
        self._lock = solver.lock
        solver.warm()
        with self._lock:
            self._prepare()

    __dir__ = public_names

    def __repr__(self) -> str:
        moved = '' if self._joints is None else f'; joints that may move: {listed(self._joints)}'
        return f'PreparedSolve(goals: {listed(self._names)}{moved})'

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparedSolve, (self._solver, self._names, self._joints)

    def __call__(
        self,
        positions: ArrayLike = _NO_POSITIONS,
        quats_xyzw: ArrayLike = _NO_QUATS,
        q0: Values | None = None,
    ) -> Solution:
        """
        Solve for poses; without goals, close the loops.

        Parameters
        ----------
        positions : array_like, shape (k, 3)
            Positions [m], in the order of the names; for one goal also (3,).
        quats_xyzw : array_like, shape (k, 4), or scipy Rotation
            Orientations in the same order; for one goal also (4,). Arrays of float64 are fastest.
            It may be left out if no goal has an orientation, or if `positions` are matrices,
            shape (k, 4, 4), or a scipy RigidTransform.
        q0 : array_like, shape (nq,), or mapping of str to float, optional
            Start [rad or m]; None = the joints' present values. By name, as in
            `Solver.solve_pose`.

        Raises
        ------
        ShapeError
            If a shape is wrong, a number is not finite, or a quaternion is zero.

        """
        started, solver = perf_counter(), self._solver
        with self._lock:
            revision = self._revision
            if self._edits != revision.edits or (revision.lent and self._edits != revision.look()):
                self._prepare()
            if q0.__class__ is ARRAY and q0.dtype is FLOAT:
                q: Array = q0.copy()
            else:
                q = solver.q if q0 is None else solver.copied_q(q0)
            if self._call is not None:
                chain, advance, record, joints, packed, count, first, names = self._call
                try:
                    status = advance(q, joints, packed, positions, quats_xyzw, count, first)
                except TypeError:  # to be converted first, or of a wrong shape
                    q, poses = solver.copied_q(q), self._taken(positions, quats_xyzw)
                    status = advance(q, joints, packed, *poses, count, first)
                while status == STATUS_RUNNING:
                    status = chain.go_on(q, joints, packed)
                if status != STATUS_REFUSED:
                    answer = (chain, record.copy(), joints, packed)
                    return Solution(q, (answer,), perf_counter() - started, names)
            named = zip(self._names, *self._taken(positions, quats_xyzw), strict=True)
            goals = {name: (position, turn) for name, position, turn in named}
            return solver.solve_pose(goals, q, joints=self._joints)

    def _taken(self, positions: ArrayLike, quats_xyzw: ArrayLike) -> tuple[Array, Array]:
        """Return poses as the kernels take them, shapes (k, 3) and (k, 4)."""
        count = len(self._names)
        if hasattr(quats_xyzw, 'as_quat'):
            quats_xyzw = quats_xyzw.as_quat()
        if quats_xyzw is _NO_QUATS and count:
            problem = self._solver.problem_for(self._names)
            turns = any(problem.request_of_goal(name).uses_orientation for name in self._names)
            if hasattr(positions, 'as_matrix'):  # scipy's RigidTransform
                positions = positions.as_matrix()
            given = numbers('positions', positions)
            many = given.ndim > (2 if given.shape[-1:] == (4,) else 1)
            positions, quats_xyzw = position_and_quat('poses', given, turns=turns, many=many)
        return _table('positions', positions, count, 3), _table('quats_xyzw', quats_xyzw, count, 4)

    def _prepare(self) -> None:
        """Prepare everything that stays the same from call to call."""
        # The count is taken first, so that changes by another thread meanwhile are read next time.
        revision = self._solver.revision
        edits = revision.edits
        self._call = self._solver.prepared_call(self._names, self._joints)
        self._revision, self._edits = revision, edits


def _table(what: str, values: ArrayLike, count: int, width: int) -> Array:
    """
    Return an array of shape (count, width).

    Raises ShapeError if the values have another shape, or are not numbers.
    """
    shape = (count, width)
    array = numbers(what, values, shape)
    if array.shape != shape and (count, *array.shape) != (1, width):
        raise ShapeError(what, f'shape {shape}', f'shape {array.shape}')
    return array.reshape(shape)
