# flake8: noqa: E203
"""The thin object over the kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter

from ik_node.kernels.batch import code_of_advance
from ik_node.kernels.layout import CON_POSE, JOINT_LOWER, JOINT_UPPER, JOINT_WINDOW
from ik_node.kernels.prepared_call import places_of
from ik_node.model.frame import Frame
from ik_node.model.joint import Joint
from ik_node.solver.drive import drive
from ik_node.solver.many_solves import ManySolves
from ik_node.solver.method_dispatch import run_other
from ik_node.solver.pose import refuse_q, unit_pose
from ik_node.solver.prepared import Direct, PreparedSolve
from ik_node.solver.problem.chain_problem import AS_THEY_ARE
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem, SLICE
from ik_node.solver.result import Solution, SolveResult
from ik_node.solver.status import Status
from ik_node.solver.stepping import Stepping
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Pose = tuple[ArrayLike, ArrayLike]


class Solver(ManySolves):
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
    Everything may change between solves: values, limits, locks, targets, poses of goals and of
    any other frame, and the graph itself. Several threads may use one solver; each waits for the
    others, so that two solvers are faster. Copies and pickles take the graph along, and read it
    when they are first used.

    """

    def _take_graph(self, frames: Sequence[Frame], order: Sequence[Joint]) -> None:
        super()._take_graph(frames, order)
        # The next solve starts from the joints alone.
        self._stepping: Stepping | None = None
        self._last_q: Array = self._values()

    # -- solving

    def solve(self, joints: Iterable[str] | None = None) -> list[SolveResult]:
        """
        Solve all closures and enabled goals and write the values back to the joints.

        Parameters
        ----------
        joints : iterable of str, optional
            Joints that may move; None = all that are not locked. Joints that follow one of them
            move along.

        Returns
        -------
        list of SolveResult
            One per independent chain; without goals the loops are closed.

        Raises
        ------
        UnknownFrameError
            If there is no such joint.

        Notes
        -----
        Where locked joints, and they alone, have been set to other values since the last solve,
        the way there is gone in small steps with the loops closed, so that these stay in their
        branch.

        """
        with self.lock:
            solution = self.task(joints)()
            self.accept(solution)
            return list(solution.chains)

    def accept(self, solution: Solution) -> None:
        """Write an answer to the joints, and go on from there."""
        self._structure.write(solution.q)
        self.go_on_from(solution)

    def go_on_from(self, solution: Solution) -> None:
        """Take an answer for what the joints have been given since."""
        self._last_q = solution.q

    def task(self, joints: Iterable[str] | None = None) -> Callable[..., Solution]:
        """
        Read everything a solve needs from the objects, and return the solve to be done.

        Parameters
        ----------
        joints : iterable of str, optional
            As in `solve`.

        Returns
        -------
        callable
            Takes `stop`, a sequence of bool, looked at now and then when not empty: once stop[0]
            is true the loops are closed and the solve comes to its end; and `start`, the q to
            begin at instead of the one that was read. It touches no object, so that it may run
            in another thread, one at a time for a solver. `accept` writes its answer to the
            joints.

        """
        with self.lock:
            problem, table = self._read_objects(), self._structure.table
            rows = table.rows.copy()
            window = None if joints is None else table.only(joints)
            read_q, before = self._values(), self._last_q.copy()
            moves = {} if joints is not None else self._moves_of_locked(before, read_q, rows)
            loops = problem
            if moves or not self.options.in_kernel:
                loops = self._problem(())
                loops.refresh(self.options)

        def solve(stop: Sequence[bool] = (), start: Array | None = None) -> Solution:
            q = read_q.copy() if start is None else start.copy()
            with self.lock:
                if moves and start is None:
                    driven = drive(loops, table, before.copy(), moves, self._packed[1])
                    q = driven.q if driven.status is Status.CONVERGED else q
                return self._run(problem, table, q, rows, window, stop, loops)

        return solve

    def step(self) -> list[SolveResult]:
        """
        Do one iteration from where the joints are, without restarts, and write the values back.

        Called again and again it is a solve that can be watched. It begins anew when goals,
        joints or options have changed since the last step.

        Returns
        -------
        list of SolveResult
            One per independent chain; TIMEOUT where there is more to do.

        """
        with self.lock:
            problem, table = self._read_objects(), self._structure.table
            if self._stepping is None or self._stepping.problem is not problem:
                self._stepping = Stepping(problem)
            started = perf_counter()
            q = self._values()
            answers = self._stepping.step(q, table, *self._packed)
            solution = Solution(q, answers, perf_counter() - started)
            self.accept(solution)
            return list(solution.chains)

    def solve_pose(
        self,
        goals: Mapping[str, Pose],
        q0: ArrayLike | None = None,
        max_step: ArrayLike | None = None,
        joints: Iterable[str] | None = None,
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
        joints : iterable of str, optional
            Joints that may move; None = all that are not locked.

        Raises
        ------
        UnknownFrameError
            If a key is neither a goal nor a link, or there is no such joint.
        ShapeError
            If a pose or q0 has the wrong shape, is not finite, or a quaternion is zero.

        """
        with self.lock:
            problem, table = self.problem_of(tuple(goals)), self._structure.table
            for name, (position, quat_xyzw) in goals.items():
                chain, at = problem.seat[name]
                chain.table[at, CON_POSE : CON_POSE + 7] = unit_pose(name, position, quat_xyzw)
            start = self._values() if q0 is None else self._own(q0)
            return self._run(problem, table, start, table.rows, table.window(max_step, joints))

    def drive(
        self, values: Mapping[str, float], q0: ArrayLike | None = None, *, steps: int | None = None
    ) -> Solution:
        """
        Move joints to given values with the loops closed all along the way.

        The loops stay in the branch they are in at the start, where a solve for far-off values
        might land in another: cranks, motors of parallel robots, forward kinematics of closed
        chains. Only where the way leads through a singular pose, in which branches meet, they
        may come out in another one. No object is written to.

        Parameters
        ----------
        values : mapping of str to float
            Value of every driven joint [rad or m]; beyond a limit they stop there.
        q0 : array_like, shape (nq,), optional
            Start; None = the joints' present values. Loops that are open there are closed first.
        steps : int, optional
            Most steps on the way, each of up to 0.3 rad or characteristic lengths, without
            restarts; None = 1000, or `max_iterations` if that is more.

        Returns
        -------
        Solution
            CONVERGED when the loops are closed and the driven joints are where they shall be;
            TIMEOUT when the steps are spent: `q` is on the way, and the next call may go on there.

        Raises
        ------
        UnknownFrameError
            If there is no such joint.
        OptionError
            If a joint follows another one: drive that one.
        ShapeError
            If a value is not finite.

        """
        with self.lock:
            table = self._refresh().table
            start = self._values() if q0 is None else self._checked(q0)
            wanted = table.driven(values)
            return drive(self._problem(()), table, start, wanted, self._packed[1], steps)

    def prepare(self, keys: Iterable[str], joints: Iterable[str] | None = None) -> PreparedSolve:
        """
        Return a callable for one set of goals, to be called many times.

        Parameters
        ----------
        keys : iterable of str
            As in `solve_pose`; none = the loops alone are closed.
        joints : iterable of str, optional
            Joints that may move; None = all that are not locked. The others stay where q0 has
            them, as motors do in forward kinematics.

        Returns
        -------
        callable
            Takes positions (k, 3) [m], quaternions (k, 4) xyzw in the order of `keys`, and q0; for
            one key (3,) and (4,) will do.

        Raises
        ------
        UnknownFrameError
            If a key is neither a goal nor a link, or there is no such joint.

        """
        return PreparedSolve(self, tuple(keys), None if joints is None else tuple(joints))

    def problem_of(self, names: tuple[str, ...]) -> Problem:
        """
        Return the problem of all closures and some goals, up to date with the objects.

        Its arrays are the solver's own, for one thread at a time.
        """
        self._refresh()
        return self._problem(names)

    def direct(
        self, names: tuple[str, ...], joints: tuple[str, ...] | None = None
    ) -> Direct | None:
        """
        Return what solves goals in one call of the kernel; None where more is to be done.

        Raises
        ------
        UnknownFrameError
            If there is no such goal, link or joint.

        """
        problem, table = self.problem_of(names), self._structure.table
        rows = table.rows if joints is None else table.rows_of(joints)
        options, packed = self._packed
        more = table.wishful_balls or table.has_targets or table.followers
        limited = options.time_budget > 0.0 or options.max_joint_step < np.inf
        if more or limited or not options.in_kernel or len(problem.chains) != 1:
            return None
        chain = problem.chains[0]
        places = places_of(*chain.arrays, rows, packed, len(names), chain.slice_steps)
        if places is None:
            return None
        return Direct(places.ctypes.data, places, chain, chain.record, rows, packed)

    def warm(self) -> None:
        """Compile the kernels, or load them from the cache; nothing is solved."""
        with self.lock:
            read = self._refresh()
            last = tuple(read.links)[-1:]
            self.direct(last)
            q, rows, (options, packed) = self._values(), read.table.rows, self._packed
            for chain in self._problem(last).chains[:1]:
                chain.linearise(q, rows, packed)
                code_of_advance(*chain.arrays, q, rows, packed, *AS_THEY_ARE, SLICE)
                if options.in_kernel:
                    self.solve_batch(dict.fromkeys(last, (np.zeros((0, 3)), np.zeros((0, 4)))))
                else:
                    from ik_node.solver.methods.iterate import Iterate

                    Iterate(chain, q, rows, options)

    def _read_objects(self) -> Problem:
        """Read joints, closures and goals anew, and return the problem of all that take part."""
        read = self._refresh()
        # Arrays of joints may have been written into, which counts nowhere.
        read.table.refresh()
        problem = self._problem(read.wanted)
        problem.refresh(self.options)
        return problem

    def _moves_of_locked(self, before: Array, q: Array, rows: Array) -> dict[int, float]:
        """Return the places and values of locked joints, if they alone have been moved."""
        moved = before != q
        if not moved.any() or (moved & (rows[JOINT_WINDOW] > 0.0)).any():
            return {}
        masters = self._structure.table.masters
        return {int(at): float(q[at]) for at in np.flatnonzero(moved) if int(at) not in masters}

    def _run(
        self,
        problem: Problem,
        table: JointTable,
        q: Array,
        rows: Array,
        window: Array | None = None,
        stop: Sequence[bool] = (),
        loops: Problem | None = None,
    ) -> Solution:
        """Solve from q, which becomes the answer, within limits and the window around q."""
        started = perf_counter()
        if not problem.chains:  # else the kernel looks
            refuse_q(problem.tree.names, q)
        narrowed = window is not None or self.options.max_joint_step < np.inf
        if narrowed or not problem.chains:  # else the kernel does it
            np.clip(q, rows[JOINT_LOWER], rows[JOINT_UPPER], out=q)
        if narrowed:
            most = self.options.max_joint_step
            rows = table.narrowed(most if window is None else np.minimum(window, most), q)
        if table.wishful_balls:
            rows = table.nearest(rows, q)
        if table.has_targets:
            table.move_to_targets(problem.moved, rows, q)
        options, packed = self._packed
        if options.in_kernel:
            answers = problem.run(q, rows, packed, options.time_budget, stop)
        else:
            loops = self._problem(()) if loops is None else loops
            answers = run_other(problem, loops, q, rows, options, packed, stop)
        if table.followers:
            table.follow(q)
        return Solution(q, answers, perf_counter() - started)
