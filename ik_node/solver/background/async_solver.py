"""A solver that works beside its caller, in a thread of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from threading import RLock
from types import TracebackType
from typing import Any, NoReturn
import weakref

from ik_node.errors import IkError, OptionError, UnknownFrameError
from ik_node.model.frame import Frame
from ik_node.solver.background.solve_future import SolveFuture
from ik_node.solver.background.solve_worker import SolveJob, SolveWorker
from ik_node.solver.graph_reader import RobotLike
from ik_node.solver.options import SolverOptions
from ik_node.solver.result import SolveResult
from ik_node.solver.solver import Solver
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class AsyncSolver:
    """
    Solves closures and goals of a graph of frames in a worker thread; the caller goes on.

    Parameters
    ----------
    source : Robot, Frame or iterable of Frame
        As for `Solver`.
    options : SolverOptions, optional
        Change them with `update_solver_settings`.

    Notes
    -----
    The objects belong to the thread that calls: they are read inside `solve`,
    `update_frame_state` and `update_structure`, and the values found are written to the joints
    when that thread asks for results, by `results_ready`, `results`, `future.result()` or
    `await`, a whole configuration at once and the newest only. The worker touches no object, so
    nothing changes in the middle of a drawing, and of what the worker finds only `q` and
    `running` may be looked at from any other thread. Commands may come from any thread, one is
    done after the other.

    The latest `solve` wins: one that runs ends at its next slice and its future is cancelled.
    While a goal is dragged, `update_frame_state` is the better choice: the values found so far
    are kept and shown, however fast the updates come. Callbacks of futures run in the worker,
    and write nothing.

    The thread is started by the first `solve` and ended by `dispose`, by leaving the `with`
    block, or when nobody holds the solver or its future any more.

    Examples
    --------
    An arm of one link that is asked to point somewhere:

    >>> import ik_node as ik
    >>> base, joint, tip = ik.Link('base'), ik.Joint('shoulder'), ik.Link('tip')
    >>> joint.set_dof('EZ')
    >>> tip.set_position(1, 0, 0)
    >>> base.add_child(joint)
    >>> joint.add_child(tip)
    >>> goal = ik.Goal('hand')
    >>> goal.set_goal_dof('X', 'Y')
    >>> goal.make_closure(tip)
    >>> goal.set_position(0.6, 0.8, 0)
    >>> solver = ik.AsyncSolver([base, goal])
    >>> future = solver.solve()  # in asyncio: results = await solver.solve()
    >>> results = future.result(timeout=60.0)
    >>> results[0].status.name, round(joint.get_dof_value('EZ'), 6)
    ('CONVERGED', 0.927295)

    Once a frame of a window, or in a timer, with nothing to wait for:

    >>> def each_frame(x, y):
    ...     goal.set_position(x, y, 0)
    ...     if not solver.update_frame_state():  # nothing runs that could take it up
    ...         solver.solve()
    ...     if solver.results_ready:  # the joints have moved
    ...         print(solver.results[0].status.name)
    >>> each_frame(0.8, 0.6)  # shows what was found above, and has the next one sought
    CONVERGED
    >>> solver.dispose()

    """

    def __init__(
        self, source: RobotLike | Frame | Iterable[Frame], options: SolverOptions | None = None
    ) -> None:
        # Two solvers go through it, again with every new structure.
        self._source = list(source) if isinstance(source, Iterator) else source
        self._options = SolverOptions() if options is None else options
        self._solvers = self._new_solvers()
        self._future: SolveFuture | None = None
        self._disposed = False
        self._commands = RLock()
        self._worker = SolveWorker()
        self._close = weakref.finalize(self, self._worker.close)

    # -- commands

    def solve(self, until_done: bool = True) -> SolveFuture:
        """
        Read the objects as they are now and start to solve; what runs is cancelled.

        Parameters
        ----------
        until_done : bool
            True: after a TIMEOUT it goes on from where it is, and each answer on the way is
            shown, until it converges, stalls, is stopped, or a whole round is no help. Not where
            `time_budget` or `max_joint_step` say how far one solve may go. False: one round, as
            `Solver.solve` does.

        Returns
        -------
        SolveFuture
            To wait for the results, one per independent chain; also in `future`.

        Raises
        ------
        OptionError
            If `until_done` is no bool.
        IkError
            If the objects cannot be read: what `Solver.solve` raises then. What ran is cancelled
            all the same.

        """
        if until_done not in (True, False):
            allowed = 'True or False; poses are given to goals: goal.set_position(x, y, z)'
            raise OptionError('until_done', until_done, allowed)
        with self._commands:
            self._check()
            if self._future is not None:
                self._future.cancel()
            future = SolveFuture(self._take, self._worker.drop)
            job = self._read(until_done, weakref.ref(future))
            self._future = future
            self._worker.post(job)
            return future

    def stop(self) -> None:
        """
        End the solve that runs at its next slice.

        Its future resolves with the best so far: loops closed, residuals and status as they are.
        """
        with self._commands:
            self._check()
            self._worker.stop()

    def update_frame_state(self, *frames: Frame) -> bool:
        """
        Have the solve that runs go on with limits, locks, targets, rest pose, goals as they are.

        It goes on from the values that it has found, whatever those of the joints are except for
        locked ones, and its future stays. Options changed meanwhile take effect, too.

        Parameters
        ----------
        *frames : Frame
            Those that have changed. All are read in any case; naming them checks that they are
            part of what is solved.

        Returns
        -------
        bool
            Whether a solve has taken it up; False: nothing runs, `solve` will read it all.

        Raises
        ------
        UnknownFrameError
            If a frame is no part of what is solved; perhaps `update_structure` is due.
        IkError
            What `solve` raises; the solve that runs is cancelled then.

        """
        with self._commands:
            self._check()
            taken = self._take_over(keep=True)
            seats = self._idle.tree.seat
            for frame in frames:
                if frame not in seats:
                    raise UnknownFrameError(frame.name, [known.name for known in seats])
            return taken

    def update_structure(self) -> bool:
        """
        Begin anew with the graph as it is now.

        A solve that runs begins anew from the joints' values, its future stays. An answer that
        has not been written to the joints yet never will be.

        Returns
        -------
        bool
            Whether a solve ran.

        Raises
        ------
        TopologyError
            If the graph cannot be solved; everything stays as it was.
        IkError
            What `solve` raises; the solve that runs is cancelled then.

        """
        with self._commands:
            self._check()
            self._solvers = self._new_solvers()
            return self._take_over(keep=False)

    def update_solver_settings(self, **options: Any) -> None:
        """
        Change options, from the next `solve` on.

        Raises
        ------
        OptionError
            If there is no such option, or its value is not allowed; none is changed then.

        """
        with self._commands:
            self._check()
            known = [entry.name for entry in fields(SolverOptions)]
            for name, value in options.items():
                if name not in known:
                    raise OptionError(name, value, f'the options {", ".join(known)}')
            self._options = replace(self._options, **options)

    def dispose(self) -> None:
        """Cancel what runs and end the thread; anything but this raises an IkError from now on."""
        with self._commands:
            self._disposed = True
            future, self._future = self._future, None
            if future is not None:
                future.cancel()
            self._close()
        self._worker.join()

    def __enter__(self) -> AsyncSolver:
        self._check()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.dispose()

    # -- what there is

    @property
    def options(self) -> SolverOptions:
        """Return the options of the next solve."""
        self._check()
        return self._options

    @property
    def joint_names(self) -> list[str]:
        """Name of every value of q."""
        self._check()
        return self._idle.joint_names

    @property
    def future(self) -> SolveFuture | None:
        """Return the future of the latest `solve`; None before the first."""
        self._check()
        return self._future

    @property
    def running(self) -> bool:
        """Whether the worker is at it; False once it has really ended and its future is done."""
        self._check()
        future = self._future
        return self._worker.busy or not (future is None or future.done())

    @property
    def results_ready(self) -> bool:
        """Whether `results` are newer than when last looked at; writes them to the joints."""
        self._check()
        self._take()
        return self._worker.unseen

    @property
    def results(self) -> list[SolveResult]:
        """Return the newest results, one per chain, and write the values to the joints."""
        self._check()
        with self._commands, self._worker.lock:
            self._take()
            self._worker.unseen = False
            job = self._worker.latest
            return [] if job is None or job.answer is None else list(job.answer.chains)

    @property
    def q(self) -> Array:
        """
        Return the newest values found [rad or m], all of one answer, ordered as `joint_names`.

        Before the first answer, and after `update_structure`, those of the joints.
        """
        self._check()
        with self._worker.lock:
            job = self._worker.latest
            if job is not None and job.answer is not None and self._is_of_now(job):
                return job.answer.q.copy()
        return self._idle.q

    # -- inside

    def _check(self) -> None:
        if self._disposed:
            raise IkError('this AsyncSolver has been disposed of: make a new one')

    def _new_solvers(self) -> tuple[Solver, Solver]:
        """Make a solver that works and one that reads the objects meanwhile."""
        options = self._options
        return Solver(self._source, options), Solver(self._source, options)

    @property
    def _idle(self) -> Solver:
        """Return the solver that is not at work, which may read the objects."""
        current = self._worker.current
        busy = None if current is None else current.solver
        return next(solver for solver in self._solvers if solver is not busy)

    def __reduce__(self) -> NoReturn:
        raise IkError('an AsyncSolver has a thread: make a new one for a copy of its robot')

    def _read(self, until_done: bool, future: weakref.ReferenceType[SolveFuture]) -> SolveJob:
        """Read the objects with the solver that is not at work; none may be waiting to be."""
        solver = self._idle
        solver.options = self._options
        task, tree = solver.task(), solver.tree
        locked = np.array([joint.locked[dof] for joint, dof in tree.owner], dtype=bool)
        return SolveJob(solver, task, tree, solver.q, locked, until_done, future)

    def _take_over(self, keep: bool) -> bool:
        """Put a new reading in the place of what runs, for the same future."""
        running = self._worker.hand_on(keep)
        if running is None:
            return False
        try:
            job = self._read(running.until_done, running.future)
        except BaseException:
            future = running.future()
            if future is not None:
                future.cancel()
            raise
        if keep and job.tree.owner == running.tree.owner:
            job.before = running
        self._worker.post(job)
        return True

    def _take(self) -> None:
        """Write the newest answer to the joints, once."""
        if self._worker.is_here:
            return
        with self._commands, self._worker.lock:
            job = self._worker.latest
            if self._worker.unwritten and job is not None and job.answer is not None:
                self._worker.unwritten = False
                if self._is_of_now(job):
                    self._idle.accept(job.answer)
                    for solver in self._solvers:  # each goes on from there
                        solver.go_on_from(job.answer)

    def _is_of_now(self, job: SolveJob) -> bool:
        """Return whether the values of a job are those of the joints that there are."""
        return job.solver in self._solvers and job.tree.owner == self._idle.tree.owner
