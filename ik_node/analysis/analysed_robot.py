"""What the mechanism of a robot can do: closed loops, mobility and reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TYPE_CHECKING

from ik_node.analysis.assembly import Assembly, close_loops
from ik_node.analysis.file_pose import FileGap
from ik_node.description.description import Description
from ik_node.errors import IkError, listed, OptionError
from ik_node.mechanism import Mechanism
from ik_node.model.frame import Frame
from ik_node.model.given import one_of, whole_number
from ik_node.solver import Solver, SolverOptions
from ik_node.solver.modes import main_link
from ik_node.solver.states import BATCH, EMPTY, evenly, SPREADS, state_draws, SURPLUS
import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ik_node.analysis.mobility import Mobility
    from ik_node.analysis.reach.volume import ReachVolume

Array = NDArray[np.float64]


class AnalysedRobot(Mechanism):
    """The analysis of a `Robot`."""

    def __init__(self, source: Description | Frame | Iterable[Frame], name: str = 'robot') -> None:
        self.assembly: Assembly | None = None
        self.file_gaps: Mapping[str, FileGap] = {}
        super().__init__(source, name)

    def assemble(self) -> Assembly:
        """
        Close all loops, starting from the present values, within limits, and keep the result.

        Returns
        -------
        Assembly
            Result for all loops; `message` names every open loop and the reason.

        Examples
        --------
        >>> import ik_node as ik
        >>> ik.load_robot('hexapod', assemble=False).assemble().converged
        True

        """
        self.assembly = close_loops(self._solver)
        return self.assembly

    @property
    def mobility(self) -> Mobility:
        """
        Return the degrees of freedom at the present configuration with closed loops.

        It is the number of free values minus the rank of the closures' Jacobian; locked and
        coupled values are not free. The result is an int with details, see `Mobility`.
        """
        from ik_node.analysis.mobility import mobility_of

        return mobility_of(self._solver, self.closures)

    def sample(
        self,
        count: int,
        seed: int = 0,
        spread: str = 'joints',
        *,
        link: str | None = None,
        mode: str | None = None,
        avoid_collisions: bool | None = None,
        collision_margin: float = 0.0,
        threads: int | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Array:
        """
        Return configurations with closed loops within limits, for simulators and learning.

        They are spread over all assembly modes from which random starts close the loops, or over
        one mode.

        Parameters
        ----------
        count : int
            Number of configurations.
        seed : int
            Seed of the draws: same seed, same configurations.
        spread : {'joints', 'workspace'}
            joints: the motors (all joints, if none is known to be one) move towards uniform values
            within limits, as far as the loops close. workspace: the positions of a link are spread
            evenly.
        link : str, optional
            For the workspace; None = that of the first goal, or else the one with most loops.
        mode : str, optional
            Label of the mode that all are in, see `Solver.mode_of`; None = any mode.
        avoid_collisions, collision_margin : optional
            As in `SolverOptions`: no bodies are nearer than the margin [m].
        threads : int, optional
            Number of threads; None = one per core. The results do not depend on it.
        progress : callable, optional
            Called with the number of configurations so far and `count`.

        Returns
        -------
        ndarray, shape (count, nq)
            Joint values [rad or m].

        Raises
        ------
        OptionError
            If an argument is not allowed.
        IkError
            If loops close from too few starts.

        Examples
        --------
        >>> import ik_node as ik
        >>> ik.load_robot('fivebar').sample(10).shape
        (10, 4)

        """
        count, seed = whole_number('count', count, 1), whole_number('seed', seed)
        one_of('spread', spread, SPREADS)
        avoiding = SolverOptions(
            avoid_collisions=avoid_collisions, collision_margin=collision_margin
        )
        avoidance = Solver(self, avoiding).problem_for(()).avoidance
        solver = Solver(self, SolverOptions(restarts=0, seed=seed, avoid_collisions=False))
        random, seen = np.random.default_rng(seed), set[str]()

        def kept(q: Array) -> Array:
            """Return the configurations in the mode whose bodies are apart."""
            if mode is not None:
                labels = solver.modes().labels(q)
                seen.update(labels.tolist())
                if mode not in seen:
                    raise OptionError('mode', mode, f'one of {listed(sorted(seen))}')
                q = q[labels == mode]
            return q if avoidance is None else q[[avoidance.is_free(each) for each in q]]

        draw = state_draws(solver, self.actuated, random, threads, kept)
        wanted = count * SURPLUS if spread == 'workspace' else count
        parts, have, empty = list[Array](), 0, 0
        while have < wanted:
            parts.append(draw(min(BATCH, max(64, int(1.2 * (wanted - have))))))
            have += len(parts[-1])
            empty = 0 if len(parts[-1]) else empty + 1
            if empty >= EMPTY:
                raise IkError(f'only {have} such configurations with closed loops were found')
            if progress is not None:
                progress(min(count, have * count // wanted), count)
        q = np.concatenate(parts)[:wanted]
        if spread == 'joints':
            return q
        if link is None:
            goals = [goal.child for goal in self.goals.values() if goal.child is not None]
            link = goals[0].name if goals else main_link(self.links, self.closures.values())
        return q[evenly(self.forward(q, link)[:, :3, 3], count, random)]

    def reach(
        self,
        link: str,
        *,
        cell: float = 0.025,
        extent: ArrayLike | None = None,
        orientations: int | ArrayLike | None = None,
        goals: Mapping[str, Any] | None = None,
        restarts: int = 20,
        singularities: bool = False,
        threads: int | None = None,
        executor: Executor | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> ReachVolume:
        """
        Return a map of the positions that a link reaches, in any or in several orientations.

        The search starts at the present configuration and at random ones, see docs/reach.md.

        Parameters
        ----------
        link : str
            Its name.
        cell : float
            Side of the cells [m]. A cell is reached if the link's origin reaches a position in it,
            with an orientation one at most half a cell from its middle.
        extent : array_like, shape (3, 2), optional
            MIN and MAX of the middles of the cells along x, y and z [m], root frame; None = all
            reachable positions.
        orientations : int or array_like, shape (K, 4), optional
            None: any orientation of the link counts. K quaternions xyzw: the link has each of
            these orientations in the root frame. An integer K: the z axis of the link has each of
            K directions, which are evenly spread; the rotation about it is free.
        goals : mapping of str to pose, optional
            Names of further goals or links, and poses that they keep, as in `Solver.solve_pose`.
        restarts : int
            Number of random starts for each position that is searched.
        singularities : bool
            True: also search the singular curves in every layer of cells, see
            `ReachVolume.singularities`; for a map with at most one orientation.
        threads, executor : optional
            As in `Solver.solve_batch`. The results do not depend on them.
        progress : callable, optional
            Called with the number of decided poses and their total number. An exception that it
            raises ends the search, as Ctrl-C does.

        Returns
        -------
        ReachVolume

        Raises
        ------
        UnknownFrameError
            If there is no such link or goal.
        OptionError
            If an argument is not allowed, the link cannot move, the goals cannot be met, or the
            map would be larger than 4 GB.
        ShapeError
            If an array has the wrong shape or is not finite.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> volume = robot.reach('tool_link', cell=0.1, restarts=2)
        >>> bool(volume.reached.any())
        True

        """
        from ik_node.analysis.reach.search import ReachSearch

        search = ReachSearch(
            self,
            link,
            cell=cell,
            extent=extent,
            orientations=orientations,
            goals=goals,
            restarts=restarts,
            singularities=singularities,
            threads=threads,
            executor=executor,
        )
        try:
            search.run(progress)
        finally:
            search.close()
        return search.volume()
