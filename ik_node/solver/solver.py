# flake8: noqa: E203
"""The solver: closures and goals of a graph of frames, solved by the kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import RLock
from time import perf_counter
from typing import Any, TYPE_CHECKING

from ik_node.kernels.batch import code_of_advance
from ik_node.kernels.layout import (
    CON_POSE,
    JOINT_LOWER,
    JOINT_REST_ON,
    JOINT_TARGET_WEIGHT,
    JOINT_UPPER,
    JOINT_WINDOW,
)
from ik_node.kernels.prepared_call import places_of
from ik_node.model.frame import Frame
from ik_node.model.redundancy import Redundancy
from ik_node.model.revision import Revision
from ik_node.model.tree import Tree
from ik_node.solver.drive import drive
from ik_node.solver.graph_reader import GraphReader, RobotLike
from ik_node.solver.method_dispatch import run_other
from ik_node.solver.options import SolverOptions
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

if TYPE_CHECKING:
    from ik_node.solver.batch.batch_solution import BatchSolution
    from ik_node.solver.batch.batch_work import BatchWork
    from ik_node.solver.batch.path_solution import PathSolution

Array = NDArray[np.float64]
Pose = tuple[ArrayLike, ArrayLike]
Poses = tuple[ArrayLike, ArrayLike]

_PREFERENCES = (JOINT_TARGET_WEIGHT, JOINT_REST_ON), slice(None)


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
    Everything may change between solves: values, limits, locks, targets, poses of goals and of
    any other frame, and the graph itself. Several threads may use one solver; each waits for the
    others, so that two solvers are faster. Copies and pickles take the graph along, and read it
    when they are first used.

    """

    def __init__(
        self, source: RobotLike | Frame | Iterable[Frame], options: SolverOptions | None = None
    ) -> None:
        self._set_up(source, SolverOptions() if options is None else options)
        self._graph.current()

    def _set_up(self, source: RobotLike | Frame | Iterable[Frame], options: SolverOptions) -> None:
        self._graph = GraphReader(source, options)
        self._reads = 0
        self._stepping: Stepping | None = None
        self._last_q: Array = np.zeros(0)

    def __getstate__(self) -> dict[str, Any]:
        return {'source': self._graph.source, 'options': self.options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # The graph may be a copy that is not finished yet: it is read when it is needed.
        self._set_up(state['source'], state['options'])

    @property
    def options(self) -> SolverOptions:
        """Return the options of the next solve."""
        return self._graph.options

    @options.setter
    def options(self, options: SolverOptions) -> None:
        self._graph.options = options

    @property
    def lock(self) -> RLock:
        """Return the lock that every call holds."""
        return self._graph.lock

    @property
    def revision(self) -> Revision:
        """Return the counters of changes to the graph and to the options."""
        return self._graph.revision

    # -- the graph

    def update_structure(self) -> None:
        """
        Read the graph anew; arrays of chains that have not changed are kept.

        Every call does so where the graph has changed, so that only what is not noticed, such as
        a link's mass, needs this one. The answer of the last solve is forgotten: the next one
        starts from the joints alone.

        Raises
        ------
        TopologyError
            If the graph cannot be solved; so will every solve, until it can.

        """
        with self.lock:
            self._graph.forget()

    @property
    def joint_names(self) -> list[str]:
        """Name of every value of q."""
        return list(self._graph.current().tree.names)

    @property
    def tree(self) -> Tree:
        """Return the graph as elementary motions."""
        return self._graph.current().tree

    @property
    def roots(self) -> list[Frame]:
        """Return the roots of all trees of the graph."""
        return self._graph.current().roots

    @property
    def chains(self) -> list[tuple[str, ...]]:
        """Names of the values that every independent chain of `solve` moves."""
        with self.lock:
            problem = self._graph.problem(self._graph.refresh().wanted)
        return [tuple(name for _, name in chain.names.values) for chain in problem.chains]

    @property
    def non_chain_joints(self) -> list[str]:
        """Names of the values that no closure or goal moves."""
        moved = {name for chain in self.chains for name in chain}
        return [name for name in self.joint_names if name not in moved]

    @property
    def has_wishes(self) -> bool:
        """Whether a solve goes on when all goals are met, to targets of joints or a rest pose."""
        with self.lock:
            return bool(self._graph.refresh().table.rows[_PREFERENCES].any())

    @property
    def redundancies(self) -> tuple[Redundancy, ...]:
        """Return which closures have rows that are redundant up to rounding."""
        with self.lock:
            return self._graph.refresh().redundancies(self._graph.values(), self.options)

    @property
    def q(self) -> Array:
        """All joint values [rad or m], read from the joints; a copy."""
        with self.lock:
            self._graph.current()
            return self._graph.values()

    @q.setter
    def q(self, values: ArrayLike) -> None:
        with self.lock:
            self._graph.current()
            self._graph.structure.write(self._graph.checked(values))

    def follow_masters(self) -> list[str]:
        """
        Set the values of coupled joints from those of their masters, within limits.

        Returns
        -------
        list of str
            What the couplings do to limits.

        """
        with self.lock:
            read = self._graph.refresh()
            read.write(read.table.settled(self._graph.values()))
            return read.table.notes

    def limits(self) -> tuple[Array, Array]:
        """
        Return the limits of all values, shape (nq,) each [rad or m]; infinite = none.

        They are those of the joints; of a coupled joint that its curve takes beyond them by a
        rounding, those that it has instead.
        """
        with self.lock:
            read = self._graph.refresh()
        owner = read.tree.owner
        lower = np.array([joint.min_dof_limit[dof] for joint, dof in owner])
        upper = np.array([joint.max_dof_limit[dof] for joint, dof in owner])
        for at, (low, high) in read.table.widened.items():
            lower[at], upper[at] = low, high
        return lower, upper

    def own_q(self, values: ArrayLike) -> Array:
        """
        Return q as a float array of its own, finite or not.

        Raises
        ------
        ShapeError
            If it has the wrong shape, or is no numbers.

        """
        with self.lock:
            self._graph.current()
            return self._graph.own(values)

    def checked_q(self, values: ArrayLike) -> Array:
        """
        Return q as a float array of its own.

        Raises
        ------
        ShapeError
            If it has the wrong shape, or a number is not finite or too large.

        """
        with self.lock:
            self._graph.current()
            return self._graph.checked(values)

    def _forget_earlier_graph(self) -> None:
        """Drop the state of earlier solves if the graph has been read again since."""
        if self._reads != self._graph.reads:
            self._reads = self._graph.reads
            self._stepping, self._last_q = None, self._graph.q_when_read

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
        self._graph.structure.write(solution.q)
        self.go_on_from(solution)

    def go_on_from(self, solution: Solution) -> None:
        """Take an answer for what the joints have been given since."""
        self._reads, self._last_q = self._graph.reads, solution.q

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
            problem, table = self._read_objects(), self._graph.structure.table
            rows = table.rows.copy()
            window = None if joints is None else table.only(joints)
            self._forget_earlier_graph()
            read_q, before = self._graph.values(), self._last_q.copy()
            moves = {} if joints is not None else self._moves_of_locked(before, read_q, rows)
            loops = problem
            if moves or not self.options.in_kernel:
                loops = self._graph.problem(())
                loops.refresh(self.options)

        def solve(stop: Sequence[bool] = (), start: Array | None = None) -> Solution:
            q = read_q.copy() if start is None else start.copy()
            with self.lock:
                if moves and start is None:
                    driven = drive(loops, table, before.copy(), moves, self._graph.packed[1])
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
            problem, table = self._read_objects(), self._graph.structure.table
            self._forget_earlier_graph()
            if self._stepping is None or self._stepping.problem is not problem:
                self._stepping = Stepping(problem)
            started = perf_counter()
            q = self._graph.values()
            answers = self._stepping.step(q, table, *self._graph.packed)
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
            problem, table = self.problem_of(tuple(goals)), self._graph.structure.table
            for name, (position, quat_xyzw) in goals.items():
                chain, at = problem.seat[name]
                chain.table[at, CON_POSE : CON_POSE + 7] = unit_pose(name, position, quat_xyzw)
            start = self._graph.values() if q0 is None else self._graph.own(q0)
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
            table = self._graph.refresh().table
            start = self._graph.values() if q0 is None else self._graph.checked(q0)
            wanted = table.driven(values)
            return drive(
                self._graph.problem(()), table, start, wanted, self._graph.packed[1], steps
            )

    def solve_batch(
        self,
        goals: Mapping[str, Poses],
        q0: ArrayLike | None = None,
        max_step: ArrayLike | None = None,
        joints: Iterable[str] | None = None,
        *,
        threads: int | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> BatchSolution:
        """
        Solve N problems on all cores, each as `solve_pose` would, to the last bit.

        Parameters
        ----------
        goals : mapping of str to (positions, quats_xyzw)
            Shapes (N, 3) [m] and (N, 4), keys as in `solve_pose`. Without any, the loops are
            closed from every row of q0.
        q0 : array_like, shape (nq,) or (N, nq), optional
            Start of all, or of each; None = the joints' present values.
        max_step, joints : optional
            As in `solve_pose`.
        threads : int, optional
            None = one for every core; the answers do not depend on it.
        progress : callable, optional
            Called now and then, by the calling thread, with how many are done and of how many.
            Ctrl-C, and what it raises, ends the batch.

        Raises
        ------
        UnknownFrameError, ShapeError
            As in `solve_pose`; the message says in which row.
        OptionError
            If `threads` is not a number from 1, or the method is not the compiled one.

        """
        from ik_node.solver.batch.batch_run import solve_batch

        with self.lock:
            work = self._work(goals, max_step, joints)
            start = self._graph.values() if q0 is None else q0
        return solve_batch(work, goals, start, threads, progress)

    def solve_path(
        self,
        goals: Mapping[str, Poses],
        q0: ArrayLike | None = None,
        dt: float = 0.01,
        *,
        times: ArrayLike | None = None,
        max_velocity: ArrayLike | None = None,
        max_step: float = 0.2,
        joints: Iterable[str] | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> PathSolution:
        """
        Follow a path of N poses: each is solved from the one before, and no joint jumps.

        Parameters
        ----------
        goals, joints, progress : optional
            As in `solve_batch`.
        q0 : array_like, shape (nq,), optional
            Where the first pose is solved from, with restarts if need be; None = the joints'
            present values. The way from there to the first pose is no part of the path.
        dt : float
            Time from point to point [s].
        times : array_like, shape (N,), optional
            In place of dt: when each point is wanted [s].
        max_velocity : array_like, shape (nq,), optional
            [rad/s or m/s]; None = the joints' `max_velocity`. Steps that would be faster take
            longer than asked.
        max_step : float
            Largest change of a joint in one solve [rad, or characteristic lengths of one that
            slides]; for a longer step, poses in between are gone through.

        Raises
        ------
        UnknownFrameError, ShapeError, OptionError
            As in `solve_batch`.

        """
        from ik_node.solver.batch.path import solve_path

        with self.lock:
            work = self._work(goals, None, joints)
            start = self._graph.values() if q0 is None else q0
            if max_velocity is None:
                owner = self._graph.structure.tree.owner
                max_velocity = [joint.max_velocity[dof] for joint, dof in owner]
        return solve_path(work, goals, start, dt, times, max_velocity, max_step, progress)

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
        self._graph.refresh()
        return self._graph.problem(names)

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
        problem, table = self.problem_of(names), self._graph.structure.table
        rows = table.rows if joints is None else table.rows_of(joints)
        options, packed = self._graph.packed
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
            read = self._graph.refresh()
            last = tuple(read.links)[-1:]
            self.direct(last)
            q, rows, (options, packed) = self._graph.values(), read.table.rows, self._graph.packed
            for chain in self._graph.problem(last).chains[:1]:
                chain.linearise(q, rows, packed)
                code_of_advance(*chain.arrays, q, rows, packed, *AS_THEY_ARE, SLICE)
                if options.in_kernel:
                    self.solve_batch(dict.fromkeys(last, (np.zeros((0, 3)), np.zeros((0, 4)))))
                else:
                    from ik_node.solver.methods.iterate import Iterate

                    Iterate(chain, q, rows, options)

    def _read_objects(self) -> Problem:
        """Read joints, closures and goals anew, and return the problem of all that take part."""
        read = self._graph.refresh()
        # Arrays of joints may have been written into, which counts nowhere.
        read.table.refresh()
        problem = self._graph.problem(read.wanted)
        problem.refresh(self.options)
        return problem

    def _moves_of_locked(self, before: Array, q: Array, rows: Array) -> dict[int, float]:
        """Return the places and values of locked joints, if they alone have been moved."""
        moved = before != q
        if not moved.any() or (moved & (rows[JOINT_WINDOW] > 0.0)).any():
            return {}
        masters = self._graph.structure.table.masters
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
        options, packed = self._graph.packed
        if options.in_kernel:
            answers = problem.run(q, rows, packed, options.time_budget, stop)
        else:
            loops = self._graph.problem(()) if loops is None else loops
            answers = run_other(problem, loops, q, rows, options, packed, stop)
        if table.followers:
            table.follow(q)
        return Solution(q, answers, perf_counter() - started)

    def _work(
        self, goals: Iterable[str], max_step: ArrayLike | None, joints: Iterable[str] | None
    ) -> BatchWork:
        """Read what all solves have in common; the lock is held."""
        from ik_node.solver.batch.batch_work import BatchWork

        table = self._graph.refresh().table
        problem = self._graph.problem(tuple(goals))
        return BatchWork(problem, table, *self._graph.packed, table.window(max_step, joints))
