# flake8: noqa: E203
"""The thin object over the kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
import math
from time import perf_counter
from typing import Protocol

from ik_node.errors import ShapeError, TopologyError, UnknownFrameError
from ik_node.kernels.layout import (
    CON_POSE,
    JOINT_LOWER,
    JOINT_TARGET,
    JOINT_TARGET_WEIGHT,
    JOINT_UPPER,
    JOINT_WINDOW,
)
from ik_node.model.constraint import Constraint
from ik_node.model.frame import Frame
from ik_node.model.goal import Goal
from ik_node.model.joint import Joint
from ik_node.model.link import Link
from ik_node.model.request import pose_request, Request, request_of
from ik_node.model.revision import Revision
from ik_node.model.topology import find_roots
from ik_node.model.tree import build_tree
from ik_node.solver.constraint_jacobian import rows_and_jacobian
from ik_node.solver.joint_table import JointTable
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import unit_pose
from ik_node.solver.problem import Problem
from ik_node.solver.result import Solution, SolveResult
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Pose = tuple[ArrayLike, ArrayLike]


class RobotLike(Protocol):
    """What a solver needs of a robot."""

    @property
    def roots(self) -> list[Frame]:
        """Return the roots of its graph."""

    @property
    def joint_order(self) -> list[Joint]:
        """Its joints in the description's order."""


class Solver:
    """
    Solves closures and goals of a graph of frames.

    Parameters
    ----------
    source : Robot, Frame or iterable of Frame
        Any frame of a system is enough to find the whole of it.
    options : SolverOptions, optional

    Attributes
    ----------
    options : SolverOptions
        May be replaced at any time.

    Notes
    -----
    Values, limits, locks, targets and poses of goals may change between solves. After changing
    the graph (frames, closures, goals, their axes or offsets) call `update_structure`. One solver
    is for one thread at a time; two solvers can work in two threads.

    """

    def __init__(
        self, source: RobotLike | Frame | Iterable[Frame], options: SolverOptions | None = None
    ) -> None:
        self._source = source
        self.options = SolverOptions() if options is None else options
        self.update_structure()

    # -- structure

    def update_structure(self) -> None:
        """Read the graph anew."""
        order: list[Joint] = []
        source = self._source
        if isinstance(source, Frame):
            frames = [source]
        elif isinstance(source, Iterable):
            frames = list(source)
        else:
            frames, order = source.roots, source.joint_order
        self.roots = find_roots(frames)
        self.tree = build_tree(self.roots, order)
        self.joint_names: list[str] = list(self.tree.names)
        self._links = {f.name: f for f in self.tree.seat if isinstance(f, Link)}
        self._requests: dict[str, Request] = {}
        for joint in self.tree.closers:
            if isinstance(joint, Constraint) and (not joint.enabled or joint.weight == 0.0):
                continue
            request = request_of(joint)
            if request.name in self._requests:
                raise TopologyError(
                    f'two closures or goals are named {request.name!r}: give each its own name'
                )
            self._requests[request.name] = request
        self._goals = {n: r for n, r in self._requests.items() if isinstance(r.source, Goal)}
        self._problems: dict[tuple[str, ...], Problem] = {}
        self._table = JointTable(self.tree)
        self._settings_seen = Revision.settings
        self._values_seen = -1
        self._q = np.zeros(len(self.joint_names))
        self._packed: tuple[SolverOptions, Array] = (self.options, self.options.packed())

    def _problem(self, keys: tuple[str, ...]) -> Problem:
        """Return the problem of all closures and the named goals, made once per set of names."""
        problem = self._problems.get(keys)
        if problem is None:
            asked = [r for r in self._requests.values() if not isinstance(r.source, Goal)]
            for key in keys:
                if key in self._goals:
                    asked.append(self._goals[key])
                elif key in self._links:
                    asked.append(pose_request(key, self._links[key]))
                else:
                    raise UnknownFrameError(key, [*self._goals, *self._links], 'goal or link')
            problem = Problem(self.tree, asked)
            problem.refresh(self.options)
            self._problems[keys] = problem
        return problem

    def _refresh(self) -> None:
        """Bring tables up to date with joints and options, if anything changed."""
        if Revision.settings != self._settings_seen:
            self._table.refresh()
            self._settings_seen = Revision.settings
        if self._packed[0] is not self.options:
            self._packed = (self.options, self.options.packed())
            for problem in self._problems.values():
                problem.refresh(self.options)

    # -- values

    @property
    def q(self) -> Array:
        """All joint values [rad or m], read from the joints; a copy."""
        if Revision.values != self._values_seen:
            for at, (joint, dof) in enumerate(self.tree.owner):
                self._q[at] = joint.dof_values[dof]
            self._values_seen = Revision.values
        return self._q.copy()

    @q.setter
    def q(self, values: ArrayLike) -> None:
        array = self.checked_q(values)
        for value, (joint, dof) in zip(array.tolist(), self.tree.owner, strict=True):
            if joint.dof_values[dof] != value:
                joint.set_dof_value(dof, value)

    def checked_q(self, values: ArrayLike) -> Array:
        """
        Return q as a float array of its own.

        Raises
        ------
        ShapeError
            If it has the wrong shape or is not finite.

        """
        array = np.array(values, dtype=np.float64)
        if array.shape != self._q.shape:
            raise ShapeError('q', f'shape {self._q.shape}', f'shape {array.shape}')
        if not math.isfinite(array.dot(array)):
            named = zip(self.joint_names, array.tolist(), strict=True)
            bad = [name for name, value in named if not math.isfinite(value)]
            if bad:
                raise ShapeError('q', 'finite numbers', f'NaN or infinity for {", ".join(bad)}')
        return array

    # -- solving

    def solve(self) -> list[SolveResult]:
        """
        Solve all closures and enabled goals and write the values back to the joints.

        Returns
        -------
        list of SolveResult
            One per independent chain; without goals the loops are closed.

        """
        self._table.refresh()
        problem = self._problem(tuple(self._goals))
        problem.refresh(self.options)
        solution = self._run(problem, self.q)
        self.q = solution.q
        return list(solution.chains)

    def solve_pose(
        self,
        goals: Mapping[str, Pose],
        q0: ArrayLike | None = None,
        max_step: ArrayLike | None = None,
    ) -> Solution:
        """
        Solve for poses given here; no object is read for them or written to.

        Parameters
        ----------
        goals : mapping of str to (position, quat_xyzw)
            A key is a goal's name, else a link's (all six axes); pose in the root frame, or in
            the goal's parent. Goals that are not named take no part.
        q0 : array_like, shape (nq,), optional
            Start; None = the joints' present values.
        max_step : array_like, shape (nq,), optional
            Largest change of every joint [rad or m].

        Raises
        ------
        UnknownFrameError
            If a key is neither a goal nor a link.
        ShapeError
            If a pose or q0 has the wrong shape, is not finite, or a quaternion is zero.

        """
        problem = self._problem(tuple(goals))
        # First, for it writes the objects' poses, too.
        self._refresh()
        for name, (position, quat_xyzw) in goals.items():
            chain, at = problem.seat[name]
            chain.table[at, CON_POSE : CON_POSE + 7] = unit_pose(name, position, quat_xyzw)
        window: Array | None = None
        if max_step is not None:
            window = np.asarray(max_step, dtype=np.float64)
            if window.shape != self._q.shape or not (window >= 0.0).all():
                got = f'shape {window.shape}, least {window.min(initial=0.0)}'
                raise ShapeError('max_step', f'shape {self._q.shape}, 0 or more', got)
        return self._run(problem, self.q if q0 is None else self.checked_q(q0), window)

    def prepare(
        self, keys: Iterable[str]
    ) -> Callable[[ArrayLike, ArrayLike, ArrayLike | None], Solution]:
        """
        Return a callable for one set of goals, to be called many times.

        Parameters
        ----------
        keys : iterable of str
            As in `solve_pose`.

        Returns
        -------
        callable
            Takes positions (k, 3) [m], quaternions (k, 4) xyzw in the order of `keys`, and q0; for
            one key (3,) and (4,) will do.

        """
        names = tuple(keys)
        self._problem(names)

        def solve(
            positions: ArrayLike, quats_xyzw: ArrayLike, q0: ArrayLike | None = None
        ) -> Solution:
            at = np.asarray(positions, dtype=np.float64)
            turned = np.asarray(quats_xyzw, dtype=np.float64)
            for name, array, width in (('positions', at, 3), ('quats_xyzw', turned, 4)):
                alone = len(names) == 1 and array.shape == (width,)
                if array.shape != (len(names), width) and not alone:
                    raise ShapeError(name, f'shape ({len(names)}, {width})', f'{array.shape}')
            poses = zip(at.reshape(-1, 3), turned.reshape(-1, 4), strict=True)
            return self.solve_pose(dict(zip(names, poses, strict=True)), q0)

        return solve

    def warm(self) -> None:
        """Compile the kernels, or load them from the cache, before the first solve."""
        self.solve_pose(dict.fromkeys(list(self._links)[-1:], ((0, 0, 0), (0, 0, 0, 1))))
        self.closure_jacobian()

    def closure_jacobian(self) -> tuple[Array, int]:
        """
        Return the closures' Jacobian at the present values by all free values, and their number.

        Returns
        -------
        jacobian : ndarray, shape (rows, free)
        free : int
            Values that are neither locked nor coupled.

        """
        self._refresh()
        problem = self._problem(())
        rows = self._table.rows
        _, jacobian, _ = rows_and_jacobian(problem, self.q, rows, self._packed[1])
        free = rows[JOINT_WINDOW] > 0.0
        free[[follower for follower, _, _ in self._table.followers]] = False
        return jacobian[:, free], int(np.count_nonzero(free))

    def _move_to_targets(self, problem: Problem, rows: Array, q: Array) -> None:
        """Move joints that no closure or goal moves to their targets, in place."""
        wanted = rows[JOINT_TARGET_WEIGHT] > 0.0
        wanted[problem.moved] = False
        low = np.maximum(rows[JOINT_LOWER], q - rows[JOINT_WINDOW])
        high = np.minimum(rows[JOINT_UPPER], q + rows[JOINT_WINDOW])
        q[wanted] = np.clip(rows[JOINT_TARGET], low, high)[wanted]

    def _run(self, problem: Problem, q: Array, window: Array | None = None) -> Solution:
        """Solve from q, which becomes the answer, within limits and the window around q."""
        started = perf_counter()
        rows = self._table.rows
        narrowed = window is not None or self.options.max_joint_step < np.inf
        if narrowed or not problem.chains:  # else the kernel does it
            np.clip(q, rows[JOINT_LOWER], rows[JOINT_UPPER], out=q)
        if narrowed:
            most = self.options.max_joint_step
            rows = self._table.narrowed(most if window is None else np.minimum(window, most), q)
        if self._table.has_targets:
            self._move_to_targets(problem, rows, q)
        answers = problem.run(q, rows, self._packed[1], self.options.time_budget)
        if self._table.followers:
            self._table.follow(q)
        return Solution(q, answers, perf_counter() - started)
