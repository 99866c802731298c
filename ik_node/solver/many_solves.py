"""What a solver does with goals by the thousand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ik_node.solver.graph_reader import GraphReader
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from ik_node.solver.batch.batch_solution import BatchSolution
    from ik_node.solver.batch.batch_work import BatchWork
    from ik_node.solver.batch.path_solution import PathSolution

Poses = tuple[ArrayLike, ArrayLike]


class ManySolves(GraphReader):
    """The part of `Solver` that takes arrays of poses: batches and paths."""

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
            start = self._values() if q0 is None else q0
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
            start = self._values() if q0 is None else q0
            if max_velocity is None:
                owner = self._structure.tree.owner
                max_velocity = [joint.max_velocity[dof] for joint, dof in owner]
        return solve_path(work, goals, start, dt, times, max_velocity, max_step, progress)

    def _work(
        self, goals: Iterable[str], max_step: ArrayLike | None, joints: Iterable[str] | None
    ) -> BatchWork:
        """Read what all solves have in common; the lock is held."""
        from ik_node.solver.batch.batch_work import BatchWork

        table = self._refresh().table
        problem = self._problem(tuple(goals))
        return BatchWork(problem, table, *self._packed, table.window(max_step, joints))
