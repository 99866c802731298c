"""The solver of the closures and goals of a graph of frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from types import MappingProxyType
from typing import Any, TYPE_CHECKING

from ik_node.display import public_names
from ik_node.errors import IkError, listed, OptionError, ShapeError
from ik_node.kernels.layout import JOINT_WINDOW
from ik_node.kernels.options import SEED
from ik_node.kernels.solve_state import STATUS_REFUSED, STATUS_RUNNING
from ik_node.model.frame import Frame
from ik_node.model.given import ARRAY, FLOAT, numbers, one_of, whole_number
from ik_node.model.pose_forms import position_and_quat
from ik_node.model.redundancy import Redundancy
from ik_node.model.tree import Tree
from ik_node.native.library import library
from ik_node.solver.drive import drive, drive_freely, drive_in_parts
from ik_node.solver.graph_reader import GraphReader, RobotLike
from ik_node.solver.modes import main_link, ModeChange, Modes, PART, path_to_mode
from ik_node.solver.options import SolverOptions
from ik_node.solver.pose import check_mapping, many_q, names_in, refuse_q, Values
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.problem.problem import Problem
from ik_node.solver.result import MET, Requirement, Solution, SolveResult
from ik_node.solver.singularities import Singularity, SingularSystem
from ik_node.solver.status import Status
from ik_node.solver.velocity import solve_velocity, Twist, VelocitySolution
import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ik_node.solver.batch.batch_run import BatchWork
    from ik_node.solver.batch.batch_solution import BatchSolution, PathSolution, PathsSolution
    from ik_node.solver.methods import Stepping
    from ik_node.solver.solutions import Solutions

Array = NDArray[np.float64]
# A largest step of this size or more limits nothing: only the way is checked [rad or m].
ANY_STEP = 1e9

_NO_POSITIONS: Array = np.zeros((0, 3))
_NO_QUATS: Array = np.zeros((0, 4))
# Any of the forms of `position_and_quat`, for which there is no common type.
Pose = Any
Poses = Any
# Random starts for configurations at which the rows and columns of determinants are chosen, and
# how many of these are kept.
TRIES, REFERENCES = 100, 8
# No goals: only loops are closed.
NO_GOALS: Mapping[str, Pose] = MappingProxyType({})


class Solver(GraphReader):
    """
    A solver of the closures and goals of a graph of frames.

    The method is described in docs/theory.md.

    Parameters
    ----------
    source : Robot, Frame or iterable of Frame
        One frame of a connected system is enough to find all of it.
    options : SolverOptions, optional
        None = the defaults.

    Attributes
    ----------
    options : SolverOptions
        Options of the next solve; they may be replaced at any time.

    Raises
    ------
    TopologyError
        If the graph cannot be solved.

    Notes
    -----
    Everything may change between solves: values, limits, locks, targets, poses of goals and of
    any other frame, and the graph itself. Several threads may use one solver, but only one of
    them solves at a time; with one solver per thread they run in parallel. A copy or pickle
    contains the graph, and reads it when it is first used.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('arm6')
    >>> solver = ik.Solver(robot)
    >>> solution = solver.solve_pose({'tool_link': robot.forward(robot.q, 'tool_link')})
    >>> solution.converged
    True
    >>> solver.warm()  # compile or load the kernels before the first solve
    >>> solver.options, solver.joint_names == robot.joint_names, solver.q.shape, solver.roots
    (SolverOptions(), True, (6,), [Link('base_link', 40 kg)])
    >>> solver.chains, solver.non_chain_joints[:2], solver.has_preferences, solver.redundancies
    ([], ['j1', 'j2'], False, ())
    >>> solver.update_structure()  # forget the last result

    """

    def __init__(
        self, source: RobotLike | Frame | Iterable[Frame], options: SolverOptions | None = None
    ) -> None:
        self._set_up(source, SolverOptions() if options is None else options)
        self.current()

    def _set_up(self, source: RobotLike | Frame | Iterable[Frame], options: SolverOptions) -> None:
        super().__init__(source, options)
        self._stepping: Stepping | None = None
        self._modes: dict[tuple[str, ...], tuple[int, Modes]] = {}

    _internal = (
        *('accept', 'arrays_for', 'batch_work', 'checked_q', 'checked_rows', 'copied_q'),
        *('current', 'describe', 'follow_masters', 'go_on_from', 'lock', 'modes', 'packed'),
        *('last_q', 'plain', 'problem', 'problem_for', 'refresh', 'revision'),
        *('source', 'start_q', 'structure', 'task', 'tree', 'values'),
    )
    __dir__ = public_names

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self.describe()})'

    def describe(self) -> str:
        """Return the size of the graph, the goals and the changed options, as text."""
        try:
            read = self.current()
        except IkError as error:
            return str(error)
        closures = len(read.tree.closers) - len(read.goals)
        text = f'{len(read.tree.names)} joint values, closures: {closures}, '
        text += f'goals: {listed(read.goals)}'
        return f'{text}; {self.options.changes}' if self.options.changes else text

    def __getstate__(self) -> dict[str, Any]:
        return {'source': self.source, 'options': self.options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # The graph may be a copy that is not complete yet, so it is read at the first use.
        self._set_up(state['source'], state['options'])

    # -- the graph

    def update_structure(self) -> None:
        """
        Read the graph again; the arrays of unchanged chains are kept.

        Every call does this if the graph has changed, so that it is never needed for that. The
        solver also forgets its last result, so that the next solve starts from the joint values
        alone.

        Raises
        ------
        TopologyError
            If the graph cannot be solved. Every solve raises it until the graph is changed.

        """
        with self.lock:
            self._reread()
            self._revision.count_graph_edit()

    @property
    def joint_names(self) -> list[str]:
        """Return the name of each value of q."""
        return list(self.current().tree.names)

    @property
    def tree(self) -> Tree:
        """Return the graph as a tree of elementary motions."""
        return self.current().tree

    @property
    def roots(self) -> list[Frame]:
        """Return the roots of all trees of the graph."""
        return self.current().roots

    @property
    def chains(self) -> list[tuple[str, ...]]:
        """Return, for each independent chain of `solve`, the names of the values it moves."""
        with self.lock:
            problem = self.problem(self.refresh().wanted)
        return [tuple(name for _, name in chain.names.values) for chain in problem.chains]

    @property
    def non_chain_joints(self) -> list[str]:
        """Return the names of the values that do not affect any closure or goal."""
        moved = {name for chain in self.chains for name in chain}
        return [name for name in self.joint_names if name not in moved]

    @property
    def has_preferences(self) -> bool:
        """Return True if a joint has a target or a rest pose."""
        with self.lock:
            return self.refresh().table.has_preferences

    @property
    def redundancies(self) -> tuple[Redundancy, ...]:
        """Return the chains of closures whose rows are redundant up to rounding."""
        with self.lock:
            return self.refresh().redundancies(self.values(), self.options)

    @property
    def q(self) -> Array:
        """
        Return a copy of all joint values, shape (nq,) [rad or m].

        Examples
        --------
        >>> import ik_node as ik
        >>> solver = ik.Solver(ik.load_robot('fivebar'))
        >>> solver.q = solver.drive({'left_shoulder': 0.1}).q
        >>> solver.q.round(3).tolist()[:1]
        [0.1]

        """
        with self.lock:
            self.current()
            return self.values()

    @q.setter
    def q(self, values: Values) -> None:
        with self.lock:
            self.current().write(self.checked_q(values))

    def follow_masters(self) -> list[str]:
        """
        Set the values of coupled joints from those of their masters, within limits.

        Returns a sentence for each limit that the couplings change, see `JointTable.notes`.
        """
        with self.lock:
            read = self.refresh()
            read.write(read.table.with_couplings(self.values()))
            return read.table.notes

    def limits(self) -> tuple[Array, Array]:
        """
        Return the lower and the upper limits, shape (nq,) each [rad or m]; infinite = none.

        They are the limits of the joints, except for coupled joints whose limits the solver
        widens, see `JointTable.widened`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> solver = ik.Solver(robot)
        >>> lower, upper = solver.limits()
        >>> bool((lower < upper).all())
        True

        """
        with self.lock:
            read = self.refresh()
        owner = read.tree.owner
        lower = np.array([joint._min_dof_limit[dof] for joint, dof in owner])
        upper = np.array([joint._max_dof_limit[dof] for joint, dof in owner])
        for index, (low, high) in read.table.widened.items():
            lower[index], upper[index] = low, high
        return lower, upper

    def checked_rows(self, values: Any) -> Array | None:
        """
        Return many configurations, shape (n, nq), to be read; None if `values` is a single one.

        Raises ShapeError as in `checked_q`; the message names the row.
        """
        try:
            if isinstance(values, Mapping) or np.ndim(values) != 2:
                return None
        except ValueError:  # lists of different lengths
            return None
        with self.lock:
            names = self.current().tree.names
        return many_q('q', values, names)

    # -- solving

    def solve(self, joints: Iterable[str] | None = None) -> list[SolveResult]:
        """
        Solve all closures and enabled goals, and write the values to the joints.

        Without goals the loops are closed.

        Parameters
        ----------
        joints : iterable of str, optional
            Joints that may move; None = all that are not locked. Joints that follow one of them
            move too.

        Returns
        -------
        list of SolveResult
            One per independent chain.

        Raises
        ------
        UnknownFrameError
            If a joint does not exist.
        ShapeError
            If a joint value or the pose of a goal is not finite.

        Notes
        -----
        If only locked joints have been set to other values since the last solve, the solver first
        drives them there in small steps with the loops closed, as `drive` does, so that the loops
        stay in their assembly branch.

        A chain whose iterations were spent (TIMEOUT) and whose values have not been set since goes
        on with the damping and the random numbers of the last solve, also to another pose of a
        goal. `update_structure` makes the solver forget them.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> solver = ik.Solver(robot)
        >>> goal = robot.add_goal('tool_link', dof='X Y Z')
        >>> goal.set_position(0.5, 0.2, 0.5)
        >>> [result.converged for result in solver.solve()]
        [True]

        """
        with self.lock:
            solution = self.task(joints)()
            self.accept(solution)
            return list(solution.chains)

    def accept(self, solution: Solution) -> None:
        """Write a solution to the joints; later solves take it as their last result."""
        self.structure.write(solution.q)
        self.go_on_from(solution)

    def go_on_from(self, solution: Solution) -> None:
        """Record a solution as the last result, with which the next solve compares the joints."""
        self.last_q = solution.q

    def task(self, joints: Iterable[str] | None = None) -> Callable[..., Solution]:
        """
        Read everything that a solve needs from the objects, and return the solve as a function.

        `joints`: as in `solve`. Returns a function of `stop` and `start` that returns a Solution.
        `stop` is a sequence of bool that is checked between slices if it is not empty: once
        stop[0] is true, the loops are closed and the solve ends. `start` (nq,) [rad or m] replaces
        the joints' values as the start. The function reads and writes no objects, so that it may
        run in another thread; only one may run at a time per solver. `accept` writes the solution
        to the joints. Raises UnknownFrameError if a joint does not exist.
        """
        with self.lock:
            problem, table = self._read_objects(), self.structure.table
            rows = table.rows.copy()
            window = None if joints is None else table.window_of(joints)
            # Masters start within the limits of their followers, too.
            read_q = JointTable.clamped(rows, self.values())
            before = self.last_q.copy()
            moved = before != read_q
            moves: dict[int, float] = {}
            if joints is None and not (moved & JointTable.movable(rows)).any():
                places = np.flatnonzero(moved).tolist()
                moves = {k: float(read_q[k]) for k in places if k not in table.masters}
            loops = problem
            if moves or not self.options.in_kernel:
                loops = self.problem(())
                loops.refresh(self.options)

        def solve(stop: Sequence[bool] = (), start: Array | None = None) -> Solution:
            q = read_q.copy() if start is None else start.copy()
            with self.lock:
                if moves and start is None:
                    driven = drive(loops, table, before.copy(), moves, self.packed[1])
                    q = driven.q if driven.status is Status.CONVERGED else q
                return self._run(problem, table, q, rows, window, stop, loops, goes_on=True)

        return solve

    def step(self) -> list[SolveResult]:
        """
        Do one iteration from the joints' values, without restarts, and write the new values.

        Repeated calls are a solve whose iterations can be watched. The solve begins again when
        goals, joints or options have changed since the last call.

        Returns
        -------
        list of SolveResult
            One per independent chain; TIMEOUT if the chain is not finished.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> solver = ik.Solver(robot)
        >>> goal = robot.add_goal('tool_link', dof='X Y Z')
        >>> goal.set_position(0.5, 0.2, 0.5)
        >>> while not all(solver.step()):
        ...     pass

        """
        from ik_node.solver.methods import Stepping

        with self.lock:
            problem, table = self._read_objects(), self.structure.table
            if self._stepping is None or self._stepping.problem is not problem:
                self._stepping = Stepping(problem)
            started = perf_counter()
            q = JointTable.clamped(table.rows, self.values())
            answers = self._stepping.step(q, table, self.packed[0])
            problem.refuse_contact(q, answers)
            spent = perf_counter() - started
            solution = Solution(q, answers, spent, problem.tree.names, nearest=problem.near)
            self.accept(solution)
            return list(solution.chains)

    def solve_pose(
        self,
        goals: Mapping[str, Pose],
        q0: Values | None = None,
        max_step: ArrayLike | None = None,
        joints: Iterable[str] | None = None,
        *,
        mode: str | None = None,
    ) -> Solution:
        """
        Solve for given poses; the poses of the goals are not read, and no object is written to.

        Parameters
        ----------
        goals : mapping of str to pose
            Name of a goal, or else of a link (all six axes) -> its pose in the frame of the
            goal's parent, or in the root frame if it has none: (position (3,) [m], quat_xyzw
            (4,)), (position, scipy Rotation), a matrix (4, 4), a scipy RigidTransform, or the
            position alone if the goal has no orientation. None = the pose that the goal has. Goals
            that are not named take no part.
        q0 : array_like, shape (nq,), or mapping of str to float, optional
            Start [rad or m]; None = the joints' present values. By name, the other joints start
            at their present values.
        max_step : array_like, shape (nq,), optional
            Largest change of every joint value [rad or m].
        joints : iterable of str, optional
            Joints that may move; None = all that are not locked.
        mode : str, optional
            Label of the mode that the answer must have, see `mode_of`: of all solutions in it the
            one that is nearest to q0; None = any mode.

        Returns
        -------
        Solution
            Joint values, status and residuals.

        Raises
        ------
        UnknownFrameError
            If a key is neither a goal nor a link, or a joint does not exist.
        ShapeError
            If a pose or q0 has the wrong form, is not finite, a quaternion is zero, or a matrix
            is not a rotation.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> solver = ik.Solver(robot)
        >>> solution = solver.solve_pose({'tool_link': ((0.5, 0.2, 0.5), (0, 0, 0, 1))})
        >>> solution.converged
        True
        >>> robot.q = solution.q

        """
        if mode is not None:
            return self._solve_in_mode(goals, q0, joints, mode)
        started = perf_counter()
        with self.lock:
            if goals.__class__ is not dict:
                check_mapping('goals', goals, 'name of a goal or link: pose')
            problem, table = self.problem_for(tuple(goals)), self.structure.table
            for name, pose in goals.items():
                problem.set_goal(name, pose)
            start = self.values() if q0 is None else self.copied_q(q0)
            alone = problem.single if problem.avoidance is None else None
            if max_step is None and joints is None and self.plain and alone:
                answer = alone.solve(start, table.rows, self.packed[1])
                return Solution(start, answer, perf_counter() - started, problem.tree.names)
            return self._run(problem, table, start, table.rows, table.window(max_step, joints))

    def solve_all(
        self,
        goals: Mapping[str, Pose] = NO_GOALS,
        q0: Values | None = None,
        joints: Iterable[str] | None = None,
        *,
        resolution: float = 1e-4,
        miss: float = 1e-3,
        seconds: float | None = None,
        most: int = 1000,
        sort: str = 'distance',
        seed: int | None = None,
    ) -> Solutions:
        """
        Find every solution within the limits; no object is written to.

        With goals, these are all answers to a pose. Without goals, they are all ways in which the
        loops close: hold the motors with `joints` to get all assembly modes. See
        docs/library.md.

        Parameters
        ----------
        goals, joints : optional
            As in `solve_pose`; without goals, only the loops are closed.
        q0 : array_like, shape (nq,), or mapping of str to float, optional
            Values of the joints that do not move, and the place from which distances count
            [rad or m]; None = the joints' present values.
        resolution : float
            Two solutions are distinct if a joint differs by more than this, full turns removed
            [rad or characteristic lengths].
        miss : float
            The search ends when the probability that a solution has been missed is below this.
        seconds : float, optional
            Longest time [s]; None = no limit.
        most : int
            Solutions after which the search ends.
        sort : {'distance', 'condition', 'limits'}
            Nearest to q0, best conditioned, or farthest from the limits first.
        seed : int, optional
            Seed of the random starts; None = that of the options. Same seed, same bits.

        Returns
        -------
        Solutions
            Joint values, condition, residual, and the bound on the miss probability.

        Raises
        ------
        UnknownFrameError, ShapeError
            As in `solve_pose`.
        OptionError
            If another argument is not allowed.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> found = ik.Solver(robot).solve_all(joints=set(robot.joint_names) - {*robot.actuated})
        >>> len(found), found.stopped
        (1, 'complete')

        """
        from ik_node.solver.solutions import Found, Search, Solutions, SORTS

        one_of('sort', sort, SORTS)
        most = whole_number('most', most, 1)
        for name, value in (('resolution', resolution), ('miss', miss)):
            if not 0.0 < value < 1.0:
                raise OptionError(name, value, 'a number between 0 and 1')
        if seconds is not None and not seconds > 0.0:
            raise OptionError('seconds', seconds, 'a time above 0, or None')
        with self.lock:
            check_mapping('goals', goals, 'name of a goal or link: pose')
            problem, table = self.problem_for(tuple(goals)), self.structure.table
            for name, pose in goals.items():
                problem.set_goal(name, pose)
            q = self.start_q(q0)
            rows = table.rows if joints is None else table.rows_of(names_in('joints', joints))
            q = np.where(rows[JOINT_WINDOW] > 0.0, table.clamped(rows, q), q)
            packed = self.packed[1].copy()
            if seed is not None:
                packed[SEED] = whole_number('seed', seed)
            started, start, found = perf_counter(), (q, rows, packed), Found(q[None])
            ends = np.inf if seconds is None else started + seconds
            share = miss / max(1, len(problem.chains))
            for chain in problem.chains:
                if chain.search is None or chain.search.most != most:
                    chain.search = Search(chain, most)
                found = chain.search.run(chain, found, start, resolution, share, ends)
            table.follow_all(found.q)
            spent, modes = perf_counter() - started, partial(self.modes, tuple(goals))
            return Solutions(problem, start, found, sort, spent, modes)

    def modes(self, goals: tuple[str, ...] = ()) -> Modes:
        """
        Return the determinants whose signs are the modes of the mechanism; see `mode_of`.

        Inverse ones are those of the named goals, or of the enabled ones, or else of the pose of
        the link with most loops.
        """
        from ik_node.solver.states import closed_samples

        with self.lock:
            read, edits = self.refresh(), self.revision.edits
            if goals not in self._modes or self._modes[goals][0] != edits:
                link = main_link(read.links, read.tree.closers)
                names = goals or read.wanted or ((link,) if link else ())
                problem, table, packed = self.arrays_for(names)
                motors = table.places(getattr(self.source, 'actuated', []))
                closed = closed_samples(self._without_restarts(), TRIES)[:REFERENCES]
                references = closed if len(closed) else self.values()[None]
                made = Modes(problem, table.rows.copy(), packed.copy(), motors, references)
                self._modes[goals] = edits, made
            return self._modes[goals][1]

    def _without_restarts(self) -> Solver:
        return Solver(self.source, replace(self.options, restarts=0))

    def mode_of(self, q: Values | None = None, goals: Iterable[str] = ()) -> str:
        """
        Return the label of the mode of a configuration with closed loops.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float, optional
            [rad or m]; None = the joints' present values.
        goals : iterable of str
            Goals or links for the inverse determinants, as in `solve_pose`; none = the enabled
            goals, or else the pose of the link with most loops.

        Returns
        -------
        str
            Signs of the direct determinants, '/', signs of the inverse ones; '0' = singular. A
            direct determinant vanishes where the motors lose control (type II), an inverse one
            where the goals lose a direction (type I). Without a
            robot that knows its motors there are no direct ones.

        Examples
        --------
        >>> import ik_node as ik
        >>> solver = ik.Solver(ik.load_robot('fivebar'))
        >>> len(solver.mode_of())
        4

        """
        with self.lock:
            return self.modes(tuple(goals)).label(self.checked_q(q))

    def change_mode(self, mode: str, q0: Values | None = None) -> ModeChange:
        """
        Find a path of closed configurations to another mode that passes no type II singularity.

        Motors stay in control on the whole path. No object is written to.

        Parameters
        ----------
        mode : str
            Label of the mode, see `mode_of`.
        q0 : array_like, shape (nq,), or mapping of str to float, optional
            Start with closed loops [rad or m]; None = the joints' present values.

        Returns
        -------
        ModeChange
            Configurations on the way; or none, and which singularity separates the modes.

        Raises
        ------
        OptionError
            If there is no such label, or no joint is known to have a motor.

        Examples
        --------
        >>> import ik_node as ik
        >>> solver = ik.Solver(ik.load_robot('fivebar'))
        >>> bool(solver.change_mode(solver.mode_of()))
        False

        """
        with self.lock:
            return path_to_mode(self, mode, self.checked_q(q0))

    def nearest_singularity(self, q0: Values | None = None, kind: str = 'direct') -> Singularity:
        """
        Return the singularity nearest to a configuration with closed loops that Newton steps find.

        Parameters
        ----------
        q0 : array_like, shape (nq,), or mapping of str to float, optional
            [rad or m]; None = the joints' present values.
        kind : {'direct', 'inverse'}
            direct: the motors lose control (type II). inverse: the goal loses a direction (type
            I).

        Returns
        -------
        Singularity
            Its configuration and distance, and which determinant vanishes.

        Examples
        --------
        >>> import ik_node as ik
        >>> solver = ik.Solver(ik.load_robot('fivebar'))
        >>> solver.nearest_singularity().distance > 0.1
        True

        """
        one_of('kind', kind, ('direct', 'inverse'))
        with self.lock:
            start = self.checked_q(q0)
            modes = self.modes()
            motors = getattr(self.source, 'actuated', [])
            table, others = self.refresh().table, modes.references
            systems = [SingularSystem(chain, table, motors, others) for chain in modes.chains]
            found = [system.nearest(start, kind, others) for system in systems]
            best, least = min(found, key=lambda each: each[1], default=(start, np.inf))
            values = modes.values(best[None], getattr(modes, kind))
            block = int(np.argmin(np.abs(values[0]))) if least < np.inf else -1
            return Singularity(best, least, block)

    def _solve_in_mode(
        self, goals: Mapping[str, Pose], q0: Values | None, joints: Iterable[str] | None, mode: str
    ) -> Solution:
        """Return the solution in a mode that is nearest to q0, or why there is none."""
        result = self.solve_all(goals, q0, joints)
        own = np.flatnonzero(result.mode == mode)
        if own.size:
            nearest: Solution = result[int(own[0])]
            return nearest
        modes = listed(sorted(set(result.mode.tolist()))) or 'none'
        reason = f'no solution is in mode {mode}; modes of solutions: {modes}'
        close = self.solve_pose(goals, q0, joints=joints)
        more = Requirement(reason, Status.STALLED)
        return Solution(close.q, close._answers, result.solve_time, self.joint_names, more)

    def _drive_in_mode(self, targets: dict[int, float], q: Array, steps: int | None) -> Solution:
        """Drive in parts, and stop before the mode changes."""
        started, modes = perf_counter(), self.modes()
        start = self._drive({}, q).q
        own = modes.label(start)
        done, last = drive_in_parts(
            partial(self._drive, steps=steps),
            start,
            targets,
            self.problem(()).units,
            PART,
            lambda _, after: modes.label(after) == own,
        )
        if done and done[-1] is last:
            return last
        reason = f'the motion would leave mode {own}, for {modes.label(last.q)}'
        stopped = done[-1].q if done else start
        closed, more = self._drive({}, stopped.copy()), Requirement(reason, Status.STALLED)
        spent = perf_counter() - started
        return Solution(stopped, closed._answers, spent, self.joint_names, more)

    def _drive(
        self, targets: dict[int, float], start: Array, steps: int | None = None
    ) -> Solution:
        """Drive to values by their index in q, see `drive`."""
        table = self.refresh().table
        q = table.clamped(table.rows, start) if self.options.start_outside == 'clamp' else start
        return drive_freely(self.problem(()), table, q, targets, self.packed[1], steps)

    def velocity(
        self, goals: Mapping[str, Twist], q: Values | None = None, dt: float | None = None
    ) -> VelocitySolution:
        """
        Find the joint velocities that give goals their twists and keep the loops closed.

        The velocities keep every loop closed to first order, the largest speeds of the joints
        (`Joint.max_velocity`), position limits and locks. If not all twists are possible, goals
        count by priority and weight as for poses: within one priority, the weighted sum of
        squares of the missing velocities is minimised. Of all velocities that are left, the
        result is the one of least norm in [rad/s] and characteristic lengths per second, or the
        one that is nearest to (joint target - q) / dt, and to the share `rest_pose_factor` of
        (rest pose - q) / dt, if joints have a target or a rest pose; with dt = None, dt is 1 s
        for these. Near singular poses the velocities are damped:
        they stay bounded, and goals fall behind their twists. See theory.md, section 12. No object
        is written to.

        Parameters
        ----------
        goals : mapping of str to twist
            Name of a goal, or else of a link (all six axes) -> velocity of the goal's frame on
            the link: linear (3,) [m/s] of its origin and angular (3,) [rad/s], root axes. For a
            goal with a base link it is the velocity relative to that link. Also one array (6,), or
            the linear velocity alone if the goal has no orientation. Only the components along
            the goal's constrained axes count; with axes 'goal' those of its present pose. A goal
            of kind look_at or distance follows a target that moves with the linear velocity. For
            centre_of_mass, it is the velocity of the centre of mass.
        q : array_like, shape (nq,), or mapping of str to float, optional
            Configuration with closed loops [rad or m]; None = the joints' present values. Values
            beyond a limit are moved to it, and coupled values follow their masters.
        dt : float, optional
            Time [s] for which the velocities are to be applied: q + dt * velocity is within the
            position limits, and if collisions are avoided, all velocities are scaled so that no
            bodies come into contact. None = a joint at a limit does not move beyond it.

        Returns
        -------
        VelocitySolution
            Velocities, status and the missing part of every twist. CONVERGED means that no row of
            a goal deviates by more than a millionth of the largest component of the chain's
            twists, or by more than 1e-9 [rad/s or characteristic lengths per second]; otherwise
            the status is STALLED.

        Raises
        ------
        UnknownFrameError
            If a key is neither a goal nor a link, or a joint does not exist.
        ShapeError
            If a twist or q has the wrong form or is not finite, or a largest speed is not 0 or
            more.
        OptionError
            If dt is not a time above 0.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> solver = ik.Solver(robot)
        >>> found = solver.velocity({'tool_link': ((0.1, 0, 0), (0, 0, 0))})
        >>> found.converged
        True

        """
        with self.lock:
            if goals.__class__ is not dict:
                check_mapping('goals', goals, 'name of a goal or link: twist')
            problem, table = self.problem_for(tuple(goals)), self.structure.table
            start = self.values() if q is None else self.copied_q(q)
            packed = self.packed[1]
            return solve_velocity(problem, goals, start, table.rows, packed, dt)

    def drive(
        self,
        values: Mapping[str, float],
        q0: Values | None = None,
        *,
        steps: int | None = None,
        stay_in_mode: bool = False,
    ) -> Solution:
        """
        Move joints to given values in steps, with the loops closed after each step.

        This is forward kinematics of closed chains: cranks, and motors of parallel robots. The
        loops stay in the assembly branch of the start, whereas a solve for distant values could
        end in another branch. Only a motion through a singular pose, where branches meet, can end
        in another one. From a singular start the motion goes into the branch nearest to it, which
        the message names. No object is written to. See theory.md, section 9.

        Parameters
        ----------
        values : mapping of str to float
            Driven joint -> its value [rad or m]; values beyond a limit are clamped to it, or to
            the start if that is farther out.
        q0 : array_like, shape (nq,), or mapping of str to float, optional
            Start [rad or m]; None = the joints' present values. Loops that are open there are
            closed first.
        steps : int, optional
            Largest number of steps, each of up to 0.3 rad or characteristic lengths, without
            restarts; None = 1000, or `max_iterations` if it is larger.
        stay_in_mode : bool
            True: the motion stops, STALLED, before the label of its mode changes, see `mode_of`.

        Returns
        -------
        Solution
            CONVERGED if the loops are closed and the driven joints have their values. TIMEOUT if
            the steps are spent before; the next call may start from its `q`. STALLED if no step
            advances; its message gives the reason.

        Raises
        ------
        UnknownFrameError
            If a joint does not exist.
        OptionError
            If a joint has several values, or follows another joint; drive that one instead. If
            `steps` is not an integer from 1.
        ShapeError
            If a value is not finite, or q0 cannot be used.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> motor = robot.actuated[0]
        >>> solver = ik.Solver(robot)
        >>> solution = solver.drive({motor: solver.q[solver.joint_names.index(motor)] + 0.1})
        >>> solution.converged
        True

        """
        with self.lock:
            check_mapping('values', values, 'joint: value')
            if steps is not None:
                steps = whole_number('steps', steps, 1)
            targets = self.refresh().table.driven(values)
            move = self._drive_in_mode if stay_in_mode else self._drive
            return move(targets, self.start_q(q0), steps)

    def solve_batch(
        self,
        goals: Mapping[str, Poses],
        q0: Values | None = None,
        max_step: ArrayLike | None = None,
        joints: Iterable[str] | None = None,
        *,
        threads: int | None = None,
        executor: Executor | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> BatchSolution:
        """
        Solve N problems in parallel; each result equals that of `solve_pose` to the last bit.

        Parameters
        ----------
        goals : mapping of str to poses
            Keys, frames and forms as in `solve_pose`, with a further first axis: (positions
            (N, 3) [m], quats_xyzw (N, 4)), (positions, scipy Rotation), matrices (N, 4, 4) and
            so on. Without goals, the loops are closed from every row of q0.
        q0 : array_like, shape (nq,) or (N, nq), or mapping of str to float, optional
            One start for all problems, or one for each [rad or m]; None = the joints' present
            values. By name, one start as in `solve_pose`.
        max_step, joints : optional
            As in `solve_pose`.
        threads : int, optional
            Number of threads; None = one per core. The results do not depend on it. With an
            executor, the number of threads of each worker; None = 1.
        executor : concurrent.futures.Executor, optional
            Solves parts of the batch, in other processes or on other machines, with the same
            results: a `ProcessPoolExecutor`, `distributed.Client.get_executor()`, or an executor
            of `ik_node.solver.batch.engines.open_engine`; see docs/batch.md. It is not shut
            down. None = threads of this process.
        progress : callable, optional
            Called repeatedly by the calling thread with the number of problems that are solved
            and their total number. An exception that it raises ends the batch, as Ctrl-C does.

        Returns
        -------
        BatchSolution
            Arrays of joint values, statuses and residuals.

        Raises
        ------
        UnknownFrameError, ShapeError
            As in `solve_pose`; the message names the row.
        OptionError
            If `threads` is not an integer from 1, or the method is not the compiled one.
        EngineError
            If a worker of the executor fails; the message names the rows.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> solver = ik.Solver(robot)
        >>> poses = [(0.5, 0, 0.5), (0.5, 0.1, 0.5)], [(0, 0, 0, 1)] * 2
        >>> found = solver.solve_batch({'tool_link': poses})
        >>> found.q.shape
        (2, 6)

        """
        from ik_node.solver.batch.batch_run import solve_batch

        with self.lock:
            work = self.batch_work(goals, max_step, joints)
            start = self._start_of_many(q0)
        return solve_batch(work, goals, start, threads, executor, progress)

    def solve_path(
        self,
        goals: Mapping[str, Poses],
        q0: Values | None = None,
        dt: float = 0.01,
        *,
        times: ArrayLike | None = None,
        max_velocity: ArrayLike | None = None,
        max_step: float = 0.2,
        joints: Iterable[str] | None = None,
        stay_in_mode: bool = False,
        progress: Callable[[int, int], object] | None = None,
    ) -> PathSolution:
        """
        Solve a path of N poses one after the other, so that no joint jumps between two of them.

        Each pose is solved from the result of the one before.

        Parameters
        ----------
        goals, joints, progress : optional
            As in `solve_batch`.
        q0 : array_like, shape (nq,), or mapping of str to float, optional
            Start of the solve for the first pose [rad or m], which may restart; None = the
            joints' present values. The motion from q0 to the first pose is not part of the path.
        dt : float
            Time from point to point [s].
        times : array_like, shape (N,), optional
            Requested time of each point [s], instead of dt.
        max_velocity : array_like, shape (nq,), optional
            Largest speeds [rad/s or m/s]; None = the joints' `max_velocity`. A step that would be
            faster takes longer than requested.
        max_step : float
            Largest change of a joint in one solve [rad, or characteristic lengths of a prismatic
            joint], above 0 and at most 1. A longer step is solved through poses in between.
        stay_in_mode : bool
            True: points count as not solved from where the path leaves the mode of its first
            point, through a singularity; see `mode_of` and `PathSolution.left_mode`.

        Returns
        -------
        PathSolution
            Arrays of joint values, times, statuses and residuals.

        Raises
        ------
        UnknownFrameError, ShapeError, OptionError
            As in `solve_batch`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> solver = ik.Solver(robot)
        >>> line = [(0.5, 0.01 * k, 0.5) for k in range(5)]
        >>> path = solver.solve_path({'tool_link': (line, [(0, 0, 0, 1)] * 5)}, dt=0.1)
        >>> bool(path.converged.all())
        True

        """
        path = self.solve_paths(
            [goals],
            q0,
            dt,
            times=times,
            max_velocity=max_velocity,
            max_step=max_step,
            joints=joints,
            threads=1,
            progress=progress,
        )[0]
        if stay_in_mode:
            path._labels = self.modes(tuple(goals)).labels(path.q)
        return path

    def solve_paths(
        self,
        goals: Mapping[str, Poses] | Sequence[Mapping[str, Poses]],
        q0: Values | None = None,
        dt: float = 0.01,
        *,
        times: Any = None,
        max_velocity: ArrayLike | None = None,
        max_acceleration: ArrayLike | None = None,
        keep_times: bool = False,
        smoothing: float | None = None,
        max_step: float = 0.2,
        joints: Iterable[str] | None = None,
        threads: int | None = None,
        executor: Executor | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> PathsSolution:
        """
        Solve P paths at once; each result equals that of `solve_path` to the last bit.

        With the option `compromise`, goals need not agree: every frame ends at the least weighted
        residual near the frame before, with closed loops and within limits.

        Parameters
        ----------
        goals : mapping of str to poses, or sequence of P mappings
            One mapping for all paths: forms as in `solve_pose` with two further first axes, such
            as (positions (P, N, 3) [m], quats_xyzw (P, N, 4)). Or one mapping for each path, as
            for `solve_path`; their lengths may differ.
        q0 : array_like, shape (nq,) or (P, nq), or mapping of str to float, optional
            Start of all paths or of each [rad or m]; None = the joints' present values.
        dt : float
            Time from frame to frame [s].
        times : array_like, shape (N,), or sequence of P of them, optional
            Requested times of the frames [s], instead of dt.
        max_velocity, max_acceleration : array_like, shape (nq,), optional
            Largest speeds [rad/s or m/s], None = the joints' `max_velocity`, and accelerations
            [rad/s^2 or m/s^2], None = none, which need `keep_times`.
        keep_times : bool
            True: the times stay as requested, and joints lag behind where they would be too fast
            (`PathSolution.bounded`). False: a step that would be too fast takes longer.
        smoothing : float, optional
            Replaces the option of this name, which needs `compromise`.
        max_step : float
            As in `solve_path`.
        joints : optional
            As in `solve_pose`.
        threads, executor : optional
            As in `solve_batch`; workers of an executor take some paths at a time.
        progress : callable, optional
            Called repeatedly with the number of frames that are solved and their total number.

        Returns
        -------
        PathsSolution
            `PathSolution` of each path, and all joint values in one array.

        Raises
        ------
        UnknownFrameError, ShapeError, OptionError
            As in `solve_batch`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> solver = ik.Solver(robot)
        >>> line = [(0.5, 0.01 * k, 0.5) for k in range(5)]
        >>> paths = solver.solve_paths([{'tool_link': (line, [(0, 0, 0, 1)] * 5)}] * 2)
        >>> len(paths)
        2

        """
        from ik_node.solver.batch.batch_run import Request, solve_paths

        with self.lock:
            given: Any = goals
            if not isinstance(given, (Mapping, list, tuple)):
                raise OptionError('goals', goals, 'a mapping, or a list of one for each path')
            mappings = [goals] if isinstance(goals, Mapping) else goals
            work = self.batch_work(mappings[0] if mappings else {}, None, joints)
            start = self._start_of_many(q0)
            fastest = self.structure.tree.max_velocity
        speed = fastest if max_velocity is None else max_velocity
        request = Request(speed, max_acceleration, keep_times, smoothing, max_step)
        more = (threads, executor, progress)
        return solve_paths(work, goals, start, dt, times, request, *more)

    def prepare(self, keys: Iterable[str], joints: Iterable[str] | None = None) -> PreparedSolve:
        """
        Return a function that solves for one set of goals, to be called many times.

        Parameters
        ----------
        keys : iterable of str
            Goals or links as in `solve_pose`; none = only the loops are closed.
        joints : iterable of str, optional
            Joints that may move; None = all that are not locked. The others keep their values in
            q0, like motors in forward kinematics.

        Returns
        -------
        PreparedSolve
            Function of positions (k, 3) [m] and quaternions (k, 4) xyzw in the order of `keys`,
            and q0 (nq,) [rad or m]; for one key also (3,) and (4,).

        Raises
        ------
        UnknownFrameError
            If a key is neither a goal nor a link, or a joint does not exist.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> solver = ik.Solver(robot)
        >>> call = solver.prepare(['tool_link'])
        >>> call((0.5, 0.2, 0.5), (0, 0, 0, 1)).converged
        True

        """
        chosen = None if joints is None else names_in('joints', joints)
        return PreparedSolve(self, names_in('keys', keys), chosen)

    def problem_for(self, names: tuple[str, ...]) -> Problem:
        """
        Return the problem of all closures and the named goals, updated from the objects.

        The solver uses its arrays too, so the caller must hold `lock` while using them.
        """
        self.refresh()
        return self.problem(names)

    def arrays_for(self, names: tuple[str, ...]) -> tuple[Problem, JointTable, Array]:
        """
        Return the input of a solve of all closures and the named goals, updated from the objects.

        The solver uses these arrays too, so the caller must hold `lock` while using them.
        """
        problem = self.problem_for(names)
        return problem, self.structure.table, self.packed[1]

    def warm(self) -> None:
        """Load the kernels before the first solve, or build their library if there is none."""
        library()

    def _read_objects(self) -> Problem:
        """Read joints, closures and goals, and return the problem of all that take part."""
        read = self.refresh()
        problem = self.problem(read.wanted)
        problem.refresh(self.options)
        return problem

    def _run(
        self,
        problem: Problem,
        table: JointTable,
        q: Array,
        rows: Array,
        window: Array | None = None,
        stop: Sequence[bool] = (),
        loops: Problem | None = None,
        *,
        goes_on: bool = False,
    ) -> Solution:
        """Solve from q, which is overwritten; `goes_on` is that of `Problem.run`."""
        started = perf_counter()
        if not problem.chains:  # otherwise the kernel checks q
            refuse_q(problem.tree.names, q)
        options, packed = self.packed
        if options.start_outside == 'clamp':
            q = table.clamped(rows, q)
        if options.limits_steps:
            window = table.steps_of(options, window)
        steps = False
        if window is not None:
            if problem.avoidance is not None:
                steps = bool(np.isfinite(window[window > 0]).any())
                window = np.where(window < ANY_STEP, window, np.inf)
            rows = table.narrowed(window, q)
        if table.balls_with_preferences:
            rows = table.nearest(rows, q)
        if table.has_targets:
            table.move_to_targets(problem.moved, rows, q)
        if options.in_kernel:
            start = q.copy() if problem.avoidance is not None else q
            answers = problem.run(q, rows, packed, options.time_budget, stop, goes_on=goes_on)
            if problem.avoidance is not None and steps:

                def again(narrow: Array) -> bool:
                    answers[:] = problem.run(q, narrow, packed, 0.0)
                    return True

                # Near bodies, an answer that has no more time may be far away.
                late = problem.near and any(each.status is Status.TIMEOUT for each in answers)
                problem.avoidance.shorten(again, start, q, rows, fits=not late)
        else:
            from ik_node.solver.methods import run_method

            rows = table.with_start(rows, q)
            loops = self.problem(()) if loops is None else loops
            answers = run_method(problem, q, rows, options, stop, loops)
            problem.refuse_contact(q, answers)
        if table.followers:
            table.follow(q)
        spent = perf_counter() - started
        return Solution(q, answers, spent, problem.tree.names, nearest=problem.near)

    def _start_of_many(self, q0: Values | None) -> ArrayLike:
        """Return the start of a batch or path, which `many_q` checks if it is an array."""
        if q0 is None:
            return self.values()
        return self.copied_q(q0) if isinstance(q0, Mapping) else q0

    def batch_work(
        self,
        goals: Iterable[str],
        max_step: ArrayLike | None = None,
        joints: Iterable[str] | None = None,
    ) -> BatchWork:
        """
        Return the data that all solves of a batch or path share.

        The solver uses these arrays too, so the caller must hold `lock` while getting and using
        them, or not change the objects. `max_step`, `joints`: as in `solve_pose`.
        """
        from ik_node.solver.batch.batch_run import BatchWork

        check_mapping('goals', goals, 'name of a goal or link: poses')
        table = self.refresh().table
        problem = self.problem(tuple(goals))
        return BatchWork(problem, table, *self.packed, table.window(max_step, joints))


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
        self, solver: Solver, names: tuple[str, ...], joints: tuple[str, ...] | None = None
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
                chain, advance, record, joints, packed, count, first, names, avoid = self._call
                start = q if avoid is None else q.copy()
                try:
                    status = advance(q, joints, packed, positions, quats_xyzw, count, first)
                except TypeError:  # to be converted first, or of a wrong shape
                    q, poses = solver.copied_q(q), self._taken(positions, quats_xyzw)
                    status = advance(q, joints, packed, *poses, count, first)
                while status == STATUS_RUNNING:
                    status = chain.go_on(q, joints, packed)
                near = None if avoid is None else avoid.nearest(q)
                if avoid is not None and avoid.is_contact(near):
                    q = start
                elif status != STATUS_REFUSED:
                    answer = (chain, record.copy(), joints, packed)
                    return Solution(q, (answer,), perf_counter() - started, names, MET, near)
            named = zip(self._names, *self._taken(positions, quats_xyzw), strict=True)
            goals = {name: (position, rotation) for name, position, rotation in named}
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
        solver, revision = self._solver, self._solver.revision
        edits = revision.edits
        problem, table, packed = solver.arrays_for(self._names)
        rows = table.rows if self._joints is None else table.rows_of(self._joints)
        chain, self._call = problem.single, None
        # Otherwise one call of the kernel is not the whole solve.
        if chain is not None and solver.plain:
            self._call = (
                *(chain, chain.kernels.advance, chain.record, rows, packed, len(self._names)),
                # A negative number of steps starts a new solve.
                *(-chain.slice_steps, problem.tree.names, problem.avoidance),
            )
        self._revision, self._edits = revision, edits


def _table(what: str, values: ArrayLike, count: int, width: int) -> Array:
    """Return an array of shape (count, width)."""
    shape = (count, width)
    array = numbers(what, values, shape)
    if array.shape != shape and (count, *array.shape) != (1, width):
        raise ShapeError(what, f'shape {shape}', f'shape {array.shape}')
    return array.reshape(shape)
