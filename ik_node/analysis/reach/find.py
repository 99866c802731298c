"""Choice of the plane and extent of a map of reachable points."""

from __future__ import annotations

from ik_node.analysis.conditioning import conditioning
from ik_node.errors import OptionError
from ik_node.mechanism import Mechanism
from ik_node.model.dof import DOF, parse_dofs
from ik_node.solver import Solver, SolverOptions
from ik_node.solver.states import closed_samples, Held, repeated
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PLANES = ('xy', 'xz', 'yz')
SAMPLES = 300
# Number of configurations at which the mobility of the link is tested, and its smallest value.
_LOOKED_AT, _STUCK = 20, 1e-6
# Number of samples from which each end of the reach is searched.
_STARTS = 40
# Motions below this share of the longest one count as zero, because loops are closed to 1e-6 only.
_STILL = 1e-4
# Margin around the reach, as a share of its longer side.
_MARGIN = 0.06
# Points closer to the plane count as in the plane [m].
_IN_PLANE = 1e-5
_SLICE, _FAR = 'reach: in the plane', 'reach: far away'
_NO_TURN = (0.0, 0.0, 0.0, 1.0)


class ReachFinder:
    """
    A search for the reach of a link.

    `robot`: the robot. Goals are added to it and removed again. `home` (nq,): the start with
    closed loops [rad or m]. `held`: further goals and their poses, which are met at the start.

    Attributes: `home` (3,): position of the link at the start [m]. `moves`: axes along which the
    link can move, as in 'xy'. `samples` (n, nq): configurations with closed loops [rad or m]; the
    start comes first. `poses` (n, 4, 4): poses of the link at these configurations.
    """

    def __init__(
        self,
        robot: Mechanism,
        link: str,
        home: Array,
        held: Held | None = None,
        count: int = SAMPLES,
    ) -> None:
        self._robot, self._link, self._held = robot, link, dict(held or {})
        solver = Solver(robot, SolverOptions(restarts=2))
        self.samples: Array = np.vstack((home, closed_samples(solver, count, goals=self._held)))
        self.poses: Array = np.array([robot.forward(q, link) for q in self.samples])
        self._places = self.poses[:, :3, 3]
        self.home: Array = self._places[0]
        spans = np.ptp(self._places, axis=0)
        still = max(_STILL * float(spans.max()), 1e-5)
        self.moves = ''.join(axis for axis, span in zip('xyz', spans, strict=True) if span > still)

    def plane(self, given: str | None) -> str:
        """
        Return the given plane, or the only possible one, or a vertical one through the link.

        Raises OptionError if the link does not move in the plane.
        """
        possible = [plane for plane in PLANES if set(plane) <= set(self.moves)]
        if not possible:
            motion = f'moves along {self.moves} only' if self.moves else 'does not move'
            raise OptionError(
                '--link', self._link, f'a link that moves in a plane; this one {motion}'
            )
        if given is not None:
            if given not in possible:
                raise OptionError(
                    '--plane', given, f'{" or ".join(possible)}: {self._link} moves in no other'
                )
            return given
        if len(possible) == 1:
            return possible[0]
        # Of the vertical planes, choose the one closer to the middle of the reach.
        middle = 0.5 * (self._places.min(axis=0) + self._places.max(axis=0))
        off = np.abs(self.home - middle)
        return 'xz' if off[1] <= off[0] + 1e-3 * float(np.ptp(self._places)) else 'yz'

    def at(self, plane: str, given: float | None) -> float:
        """
        Return the third coordinate of the plane [m]: the given one, or that of the link.

        Raises OptionError if the link cannot reach the plane.
        """
        (third,) = set('xyz') - set(plane)
        here = float(self.home['xyz'.index(third)])
        if given is None:
            return here
        if not np.isfinite(given):
            raise OptionError('--at', given, 'a finite number [m]')
        if third not in self.moves and abs(given - here) > 1e-6:
            raise OptionError('--at', given, f'{here:.6g}: {self._link} moves in that plane only')
        return given

    def extent(self, plane: str, at: float | None) -> tuple[float, float, float, float]:
        """
        Return the extent of the reach along both axes of a plane [m], with a margin.

        `plane`: one of `PLANES`. `at`: third coordinate [m]; None = any.
        """
        (third,) = set('xyz') - set(plane)
        # Staying in the plane has priority over approaching a distant goal.
        if at is not None:
            self._robot.add_goal(self._link, name=_SLICE, dof=third)
        ends = [end for axis in plane for end in self._ends(axis, third, at)]
        if at is not None:
            self._robot.remove_goal(_SLICE)
        room = _MARGIN * max(ends[1] - ends[0], ends[3] - ends[2], 1e-3)
        return ends[0] - room, ends[1] + room, ends[2] - room, ends[3] + room

    def box(self) -> tuple[Array, Array]:
        """Return the least and the largest coordinates of the reach, shape (3,) each [m]."""
        ends = [
            # The third axis is free, so any other one serves.
            self._ends(axis, 'yzx'[k], None) if axis in self.moves else (self.home[k],) * 2
            for k, axis in enumerate('xyz')
        ]
        low, high = np.array(ends, dtype=float).T
        return low, high

    def check_moves(self, dof: str) -> None:
        """
        Check that the link can move independently along some axes.

        Raises OptionError if it moves on a curve or a surface only.
        """
        axes = parse_dofs(dof)
        goal = self._robot.add_goal(self._link, name=_FAR, dof=dof)
        try:
            solver = Solver(self._robot)
            ease = conditioning(
                solver, goal.name, self.samples[:_LOOKED_AT], axes, self.counted(axes)
            )
        finally:
            self._robot.remove_goal(_FAR)
        if ease.max() < _STUCK:
            free = f'a link that can move independently along {dof}; this one moves on a curve'
            raise OptionError('link', self._link, f'{free} or a surface')

    def counted(self, axes: tuple[DOF, ...]) -> list[DOF]:
        """Return the translations among some axes along which the link moves."""
        return [dof for dof in axes if not dof.is_rotation and dof.name.lower() in self.moves]

    def _ends(self, letter: str, other: str, at: float | None) -> tuple[float, float]:
        """Return the least and the largest coordinate along an axis, in a plane across another."""
        self._robot.add_goal(self._link, name=_FAR, dof=letter, priority=1)
        try:
            return self._farthest('xyz'.index(letter), 'xyz'.index(other), at)
        finally:
            self._robot.remove_goal(_FAR)

    def _farthest(self, axis: int, third: int, at: float | None) -> tuple[float, float]:
        """Return where a goal that is far away along an axis pulls the link, on both sides."""
        solver = Solver(self._robot, SolverOptions(restarts=2))
        here = self.home.copy()
        here[third] = here[third] if at is None else at
        starts = np.argsort(np.abs(self._places[:, third] - here[third]), kind='stable')[:_STARTS]
        size = 10.0 * max(float(np.ptp(self._places)), float(np.abs(self.home).max()))
        ends = []
        for sign in (-1.0, 1.0):
            far = here.copy()
            far[axis] += sign * size
            goals = {**self._held, _FAR: (far, _NO_TURN)}
            if at is not None:
                goals[_SLICE] = here, _NO_TURN
            batch = solver.solve_batch(repeated(goals, len(starts)), self.samples[starts])
            off = batch.goal_errors[_SLICE].position if at is not None else np.zeros(len(starts))
            places = [
                float(self._robot.forward(q, self._link)[axis, 3])
                for q in batch.q[off < _IN_PLANE]
            ]
            # If no sample reaches the plane, use the samples outside it.
            ends.append(sign * max(sign * np.array(places or self._places[:, axis])))
        return ends[0], ends[1]
