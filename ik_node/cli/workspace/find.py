"""Where a link can be: the plane that is worth a look, and how far the reach goes in it."""

from __future__ import annotations

from ik_node.cli.workspace.map import PLANES
from ik_node.errors import OptionError
from ik_node.robot import Robot
from ik_node.solver import Solver, SolverOptions
from ik_node.solver.analysis.conditioning import closed_samples
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SAMPLES = 300
# From how many of them each end of the reach is looked for.
_STARTS = 40
# Share of the longest way that counts as none: loops are closed to a millionth only.
_STILL = 1e-4
# Free room around the reach, as a share of its longer side.
_MARGIN = 0.06
# So far from the plane is in it [m].
_IN_PLANE = 1e-5
_SLICE, _FAR = 'reach: in the plane', 'reach: far away'
_NO_TURN = (0.0, 0.0, 0.0, 1.0)


class ReachFinder:
    """
    Looks where a link comes to.

    Parameters
    ----------
    robot : Robot
        At its start, loops closed.
    link : str

    Attributes
    ----------
    home : ndarray, shape (3,)
        Where the link is [m].
    moves : str
        The axes along which it can move, as in 'xy'.
    samples : ndarray, shape (n, nq)
        Configurations with closed loops, the present one first [rad or m].

    """

    def __init__(self, robot: Robot, link: str) -> None:
        self._robot, self._link = robot, link
        self.samples: Array = np.vstack((robot.q, closed_samples(robot, SAMPLES)))
        self._places = np.array([robot.forward(q, link)[:3, 3] for q in self.samples])
        self.home: Array = self._places[0]
        ways = np.ptp(self._places, axis=0)
        still = max(_STILL * float(ways.max()), 1e-5)
        self.moves = ''.join(axis for axis, way in zip('xyz', ways, strict=True) if way > still)

    def plane(self, wanted: str | None) -> str:
        """
        Return the plane: the one wanted, the only one there is, or the upright one through home.

        Raises
        ------
        OptionError
            If the link does not move in it.

        """
        possible = [plane for plane in PLANES if set(plane) <= set(self.moves)]
        if not possible:
            way = f'moves along {self.moves} only' if self.moves else 'does not move'
            raise OptionError('--link', self._link, f'one that moves in a plane; this one {way}')
        if wanted is not None:
            if wanted not in possible:
                raise OptionError(
                    '--plane', wanted, f'{" or ".join(possible)}: {self._link} moves in no other'
                )
            return wanted
        if len(possible) == 1:
            return possible[0]
        # Of the upright ones, that which cuts the reach nearer to its middle.
        middle = 0.5 * (self._places.min(axis=0) + self._places.max(axis=0))
        off = np.abs(self.home - middle)
        return 'xz' if off[1] <= off[0] + 1e-3 * float(np.ptp(self._places)) else 'yz'

    def at(self, plane: str, wanted: float | None) -> float:
        """
        Return where the plane is along the third axis [m]: there, or through home.

        Raises
        ------
        OptionError
            If the link never leaves another plane.

        """
        (third,) = set('xyz') - set(plane)
        here = float(self.home['xyz'.index(third)])
        if wanted is None:
            return here
        if not np.isfinite(wanted):
            raise OptionError('--at', wanted, 'a finite number [m]')
        if third not in self.moves and abs(wanted - here) > 1e-6:
            raise OptionError('--at', wanted, f'{here:.6g}: {self._link} never leaves that plane')
        return wanted

    def extent(self, plane: str, at: float | None) -> tuple[float, float, float, float]:
        """
        Return how far the link comes along both axes of a plane, and some room [m].

        Parameters
        ----------
        plane : str
            Of `PLANES`.
        at : float or None
            Third coordinate [m]; None = any.

        """
        (third,) = set('xyz') - set(plane)
        robot, link = self._robot, self._link
        # Coming near to something far away is subordinate to staying in the plane.
        if at is not None:
            robot.add_goal(link, name=_SLICE, dof=third)
        ends: list[float] = []
        for axis in plane:
            robot.add_goal(link, name=_FAR, dof=axis, priority=1)
            ends += self._ends('xyz'.index(axis), 'xyz'.index(third), at)
            robot.remove_goal(_FAR)
        if at is not None:
            robot.remove_goal(_SLICE)
        room = _MARGIN * max(ends[1] - ends[0], ends[3] - ends[2], 1e-3)
        return ends[0] - room, ends[1] + room, ends[2] - room, ends[3] + room

    def _ends(self, axis: int, third: int, at: float | None) -> tuple[float, float]:
        """Return the least and the largest coordinate along an axis, in the plane."""
        solver = Solver(self._robot, SolverOptions(restarts=2))
        here = self.home.copy()
        here[third] = here[third] if at is None else at
        starts = np.argsort(np.abs(self._places[:, third] - here[third]), kind='stable')[:_STARTS]
        size = 10.0 * max(float(np.ptp(self._places)), float(np.abs(self.home).max()))
        ends = []
        for sign in (-1.0, 1.0):
            far = here.copy()
            far[axis] += sign * size
            batch = solver.solve_batch(
                {
                    name: (np.tile(goal, (len(starts), 1)), np.tile(_NO_TURN, (len(starts), 1)))
                    for name, goal in ((_SLICE, here), (_FAR, far))
                    if at is not None or name == _FAR
                },
                self.samples[starts],
            )
            off = batch.goal_errors[_SLICE].position if at is not None else np.zeros(len(starts))
            places = [
                float(self._robot.forward(q, self._link)[axis, 3])
                for q in batch.q[off < _IN_PLANE]
            ]
            # Where nothing comes to the plane, what is reached elsewhere has to do.
            ends.append(sign * max(sign * np.array(places or self._places[:, axis])))
        return ends[0], ends[1]
