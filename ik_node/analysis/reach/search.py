"""The computation of a map of reachable positions in space."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any

from ik_node.analysis.reach.find import PLANES, ReachFinder
from ik_node.analysis.reach.grid import Grid
from ik_node.analysis.reach.orientations import angles_between, orientations_of, UNTURNED
from ik_node.analysis.reach.singularities import SingularTracer
from ik_node.analysis.reach.spread import Show, Spread
from ik_node.analysis.reach.volume import ReachVolume, SingularCurve
from ik_node.errors import OptionError, ShapeError
from ik_node.mechanism import Mechanism
from ik_node.model.given import is_number, numbers
from ik_node.model.pose_forms import position_and_quat
from ik_node.model.rotation import matrix_to_quat
from ik_node.solver import Solver, SolverOptions, Status
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

CELL, RESTARTS, AGREEING_STARTS = 0.025, 20, 8
# Number of random configurations from which the search starts, and from which singularities are
# searched in a plane.
SAMPLES, SEEDS = 5000, 300
# Largest size of the arrays of a map [bytes], and their bytes per pose besides the joint values.
MOST_BYTES, BYTES_PER_POSE = 4 * 10**9, 18


class ReachSearch:
    """
    The search for a map; see `Robot.reach` for the parameters and errors.

    A search that is interrupted keeps its results, so that `volume` returns what is known.
    """

    def __init__(
        self,
        robot: Mechanism,
        link: str,
        *,
        cell: float = CELL,
        extent: ArrayLike | None = None,
        orientations: Any = None,
        goals: Mapping[str, Any] | None = None,
        restarts: int = RESTARTS,
        threads: int | None = None,
        executor: Executor | None = None,
        avoiding: Mapping[str, Any] | None = None,
        singularities: bool = False,
    ) -> None:
        if not (is_number(cell) and 0.0 < cell < np.inf):
            raise OptionError('cell', cell, 'a length above 0 [m]')
        self._robot, self._link, self._cell = robot, link, float(cell)
        self._quats, self._dof = orientations_of(orientations)
        self._curves: list[SingularCurve] = []
        if singularities and self._quats is not None and len(self._quats) > 1:
            raise OptionError('singularities', singularities, 'a map with at most one orientation')
        box = None if extent is None else _box(extent)
        # A cell that a few agreeing starts give up is mostly found from its neighbour.
        options = SolverOptions(
            restarts=restarts, agreeing_starts=AGREEING_STARTS, **(avoiding or {})
        )
        self._threads, self._singularities = threads, singularities
        closing = Solver(robot, options)
        self._held = held = _poses(closing, goals or {})
        start = closing.solve_pose(held)
        if start.status is not Status.CONVERGED:
            raise OptionError('goals', [*held], f'goals that can be met: {start.message}')
        self._finder = ReachFinder(robot, link, start.q, held, SAMPLES)
        if not self._finder.moves:
            raise OptionError('link', link, 'a link that moves')
        self._finder.check_moves(' '.join(self._finder.moves).upper())
        low, high = self._finder.box() if box is None else box
        quats = UNTURNED if self._quats is None else self._quats
        grid = self._grid(low, high, len(quats), margin=box is None)
        # Without a goal in the graph, a solver would not know its name.
        self._name = f'reach of {link}'
        goal = robot.add_goal(link, name=self._name, dof=self._dof, axes='goal')
        # Without an orientation the goal's axes are those of the cells.
        half, angle = 0.5 * self._cell, options.rotation_converge_threshold
        inside = (half, angle) if self._quats is not None else (*3 * (half,), *3 * (angle,))
        solver = Solver(robot, options)
        try:
            self._spread = Spread(
                solver,
                self._name,
                grid,
                quats,
                start.q,
                held=held,
                threads=threads,
                executor=executor,
                thorough=False,
                near=(goal, inside, self._cell),
                dtype=np.float32,
            )
        except BaseException:
            self.close()
            raise
        self.grid = grid

    def _grid(self, low: Array, high: Array, many: int, *, margin: bool) -> Grid:
        """Return the cells; their middles are at multiples of the cell along the axes."""
        cell, home = self._cell, self._finder.home
        first, last = np.floor(low / cell), np.ceil(high / cell)
        if not margin:
            first, last = np.round(low / cell), np.round(high / cell)
        moves = np.array([axis in self._finder.moves for axis in 'xyz'])
        # A link that stays in a plane needs one layer of cells, in this plane.
        shape = np.where(moves, last - first + 1.0, 1.0)
        total = float(np.prod(shape)) * many
        size = total * (4 * len(self._robot.joint_names) + BYTES_PER_POSE)
        if size > MOST_BYTES:
            least = cell * (size / MOST_BYTES) ** (1.0 / np.count_nonzero(moves))
            raise OptionError(
                'cell',
                cell,
                f'about {least:.2g} m or more, or a smaller extent or fewer orientations: this is '
                f'{total:.3g} poses and {size / 1e9:.3g} GB, of at most {MOST_BYTES / 1e9:g} GB',
            )
        origin = np.where(moves, first * cell, home)
        x, y, z = shape.astype(int).tolist()
        return Grid(origin, cell * np.eye(3), (x, y, z))

    def run(self, progress: Show | None = None) -> None:
        """Search; after an exception, such as Ctrl-C, `volume` has the results so far."""
        rows = self.grid.nearest(self._finder.poses[:, :3, 3])
        starts = self._finder.samples
        if self._quats is not None:
            turned = np.array([matrix_to_quat(pose[:3, :3]) for pose in self._finder.poses])
            apart = angles_between(turned, self._quats, roll='EZ' in self._dof)
            rows = np.where(rows < 0, -1, rows + self.grid.count * np.argmin(apart, axis=1))
        inside = rows >= 0
        if not inside.any():
            rows, starts, inside = np.array([0]), starts[:1], np.array([True])
        show = progress or (lambda done, total: None)
        self._spread.fill(rows[inside], starts[inside], show)
        if self._singularities:
            centres, half = self.volume().centres, 0.5 * self._cell
            box = np.array([(side[0] - half, side[-1] + half) for side in centres])
            across = zip(PLANES, reversed(centres), strict=True)
            layers = {plane: at for plane, at in across if {*plane} <= {*self._finder.moves}}
            quat = (UNTURNED if self._quats is None else self._quats)[0]
            samples = self._finder.samples[:SEEDS]
            tracer = SingularTracer(self._robot, self._link, self._dof, samples, quat, self._held)
            self._curves = tracer.trace_layers(layers, box, self._cell)

    def volume(self) -> ReachVolume:
        """Return the map of what is known."""
        reached = self._spread.reached
        return ReachVolume(
            robot=self._robot.name,
            link=self._link,
            joint_names=self._robot.joint_names,
            cell=self._cell,
            origin=self.grid.origin,
            shape=self.grid.shape,
            quats_xyzw=self._quats,
            roll='EZ' in self._dof,
            reached=reached,
            q=self._spread.q[reached],
            complete=bool(self._spread.decided.all()),
            singularities=self._curves,
        )

    def close(self) -> None:
        """Remove the goal of the search from the robot."""
        self._robot.remove_goal(self._name)


def _poses(solver: Solver, goals: Mapping[str, Any]) -> dict[str, tuple[Array, Array]]:
    """Return the poses of goals as positions and quaternions."""
    problem = solver.problem_for(tuple(goals))
    return {
        name: position_and_quat(
            f'pose of {name!r}', pose, turns=problem.request_of_goal(name).uses_orientation
        )
        for name, pose in goals.items()
    }


def _box(extent: ArrayLike) -> tuple[Array, Array]:
    box = numbers('extent', extent)
    if box.shape != (3, 2):
        raise ShapeError('extent', 'shape (3, 2), MIN and MAX along x, y, z', f'{box.shape}')
    if not (np.isfinite(box).all() and (box[:, 0] <= box[:, 1]).all()):
        raise OptionError('extent', box.tolist(), 'finite MIN not above MAX, for each axis [m]')
    return box[:, 0], box[:, 1]
