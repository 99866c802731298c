"""Singular curves: where in a plane a link loses a direction, or its motors lose control."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ik_node.analysis.reach.volume import SingularCurve
from ik_node.mechanism import Mechanism
from ik_node.model.dof import parse_dofs
from ik_node.solver import Solver
from ik_node.solver.modes import independent_rows
from ik_node.solver.problem.joint_table import JointTable
from ik_node.solver.singularities import LONGEST, SingularPoint, SingularSystem, ZERO
from ik_node.solver.states import Held
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

NAME = 'reach: singular'
# Configurations of which the most regular one decides which rows are independent. Configurations
# in a row without a new curve after which the search in a plane ends, and samples in a plane that
# has seeds from its neighbour. Each seed is so many points from the next one.
REFERENCES, FRUITLESS, FEWER, APART = 20, 60, 8, 15
# Halvings of a step along a curve, and its longest correction, as a share of it.
HALVINGS, CORRECTION = 6, 0.5
# A place nearer to a curve than this share of a step is on it; places of a step that are compared.
NEAR, BETWEEN = 0.15, 8
# Most points of a curve to one side.
MOST = 20_000


class SingularTracer:
    """
    The search for the singular curves of a link in planes, and for its singular lines in space.

    The curves are solutions of a `SingularSystem` together with the plane, and are followed along
    the null space of the equations. Where the link is singular on a line, such as the axis of a
    shoulder, it has one way to go and the other joints only turn it in place.

    `samples` (n, nq) have closed loops and meet the further goals `held`. `quat_xyzw` counts as
    far as `dof` constrains rotations of the link.
    """

    def __init__(
        self,
        robot: Mechanism,
        link: str,
        dof: str,
        samples: Array,
        quat_xyzw: ArrayLike = (0.0, 0.0, 0.0, 1.0),
        held: Held | None = None,
    ) -> None:
        self._robot, self._link, self._samples, self._quat = robot, link, samples, quat_xyzw
        robot.add_goal(link, name=NAME, dof=dof)
        try:
            solver = Solver(robot)
            self._problem = solver.problem_for((NAME, *(held or {})))
            table = JointTable(solver.tree)
        finally:
            robot.remove_goal(NAME)
        for name, target in (held or {}).items():
            self._problem.set_goal(name, target)
        chain, at = self._problem.place_of_goal[NAME]
        self._system = SingularSystem(chain, table, robot.actuated, samples[:REFERENCES])
        last, axes = int(np.cumsum(chain.flat.row_counts)[at]), parse_dofs(dof)
        self._of_axis = {axis.name.lower(): last - len(axes) + k for k, axis in enumerate(axes)}
        self._others = sorted({*range(len(chain.flat.rows))} - {*self._of_axis.values()})

    def trace(
        self, plane: str, at: float | None, box: Array, step: float, seeds: Sequence[Array] = ()
    ) -> list[SingularCurve]:
        """
        Return the curves in a plane, such as 'xy', or the lines in space, 'xyz'.

        `at`: third coordinate [m]; None = any, for a projection. `box` (3, 2): MIN and MAX of the
        coordinates [m]. `step`: distance of points [m]. `seeds`: singular configurations nearby,
        from which the search starts; it goes on from the samples.
        """
        system = self._system
        # Coordinates in the plane may have any value.
        self._problem.set_goal(NAME, (np.full(3, at or 0.0), self._quat))
        moving = [self._of_axis[axis] for axis in plane]
        held = [row for axis, row in self._of_axis.items() if axis not in plane]
        system.fixed = independent_rows(system.reference, (self._others, held))
        system.every = independent_rows(system.reference, (system.fixed, moving))
        self._moving, self._box, self._step = moving, box, step / system.chain.flat.length
        curves: list[SingularCurve] = []
        for kind in system.kinds:
            known, fruitless = np.zeros((0, 3)), 0
            for seed in [*seeds, *self._samples]:
                for start in map(self._by_speed, system.starts(seed, kind)):
                    place = self._robot.forward(start.q, self._link)[:3, 3]
                    near = (np.linalg.norm(known - place, axis=1) < NEAR * step).any()
                    # A surface in space is drawn by its curves in planes.
                    surface = len(plane) == 3 and start.rates[1] > ZERO
                    if near or surface or start.rates[0] <= ZERO or not self._inside(start.q):
                        continue
                    q = self._follow(start, kind)
                    points = self._robot.forward(q, self._link)[:, :3, 3]
                    along = np.linspace(points[:-1], points[1:], BETWEEN).reshape(-1, 3)
                    known = np.concatenate([known, along])
                    if np.ptp(points, axis=0).max() > step:
                        curves.append(SingularCurve(kind, points, q, plane))
                        fruitless = 0
                fruitless += 1
                if fruitless > (FEWER + len(seeds) if len(seeds) else FRUITLESS):
                    break
        # The next plane is searched from other samples.
        self._samples = np.roll(self._samples, -FEWER, axis=0)
        return curves

    def trace_layers(
        self, layers: Mapping[str, Iterable[float | None]], box: Array, step: float
    ) -> list[SingularCurve]:
        """Return the lines in space, if no axis is free, and the curves in planes, see `trace`."""
        found: list[SingularCurve] = []
        lines = [None] if {*'xyz'} <= {*self._of_axis} else []
        for plane, places in {'xyz': lines, **layers}.items():
            seeds: list[Array] = []
            for at in places:
                curves = self.trace(plane, at, box, step, seeds)
                seeds = [q for curve in curves for q in curve.q[::APART]]
                found += curves
        return found

    def _inside(self, q: Array) -> bool:
        low, high = self._box.T
        place = self._robot.forward(q, self._link)[:3, 3]
        return self._system.is_within(q) and bool(((low <= place) & (place <= high)).all())

    def _by_speed(self, found: SingularPoint) -> SingularPoint:
        """Return the point with the speeds of the link, and tangents in their order."""
        _, jacobian = self._system.linear(found.q)
        rates = jacobian[self._moving] @ found.tangents[:, : len(self._system.columns)].T
        _, speeds, shares = np.linalg.svd(rates)
        speeds = np.concatenate([speeds, np.zeros(len(self._moving) - speeds.size)])
        return found._replace(tangents=shares @ found.tangents, rates=speeds)

    def _follow(self, start: SingularPoint, kind: str) -> Array:
        """Return the configurations of a curve to both sides of one, shape (n, nq)."""
        halves: list[list[Array]] = []
        for sign in (1.0, -1.0):
            here, half = start._replace(tangents=sign * start.tangents), [start.q]
            while len(half) < MOST:
                there = self._step_along(here, kind)
                if there is None or not self._inside(there.q):
                    break
                here = there
                half.append(here.q)
                if len(half) > 3 and self._apart(here.q, start.q) < self._apart(*half[-2:]):
                    return np.array([*half, start.q])
            halves.append(half)
        return np.array(halves[1][:0:-1] + halves[0])

    def _step_along(self, here: SingularPoint, kind: str) -> SingularPoint | None:
        count = len(self._system.columns)
        size = min(self._step / max(here.rates[0], ZERO), LONGEST / np.abs(here.tangents[0]).max())
        for _ in range(HALVINGS):
            step = size * here.tangents[0]
            ahead = self._system.moved(here.q, step[:count])
            found = self._system.correct(ahead, here.vector + step[count:], kind)
            if found is not None and self._apart(found.q, ahead) < CORRECTION * size:
                there = self._by_speed(found)
                same = there.tangents[0] @ here.tangents[0] >= 0.0
                return there if same else there._replace(tangents=-there.tangents)
            size *= 0.5
        return None

    def _apart(self, one: Array, other: Array) -> float:
        return float(np.abs(self._system.difference(one, other)).max())
