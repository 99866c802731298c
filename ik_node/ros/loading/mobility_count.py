"""The mobility of the robot as its loops are at the moment."""

from __future__ import annotations

import threading

from ik_node.robot import Robot
from ik_node.solver import Solver
from ik_node.solver.analysis.mobility import mobility_of
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class MobilityCount:
    """
    Count degrees of freedom, once for each set of closures and locks.

    It takes a millisecond with six loops and a tenth of a second with a hundred, and the number is
    the same nearly everywhere.

    Parameters
    ----------
    robot : Robot
        Its closures and locks count as they are when asked.
    solver : Solver
        Of that robot.

    Attributes
    ----------
    last : int
        The number that was asked for last, as far as it is known.

    """

    def __init__(self, robot: Robot, solver: Solver) -> None:
        self._robot = robot
        self._solver = solver
        self._known: dict[object, int] = {}
        self.last = 0
        self._thread: threading.Thread | None = None

    def at(self, q: Array) -> int:
        """Return the number, worked out at `q` (loops closed, [rad or m]) unless it is known."""
        held = self._held()
        count = self._known.get(held)
        if count is None:
            count = int(mobility_of(self._solver, self._robot.closures, q))
            if self._held() == held:
                self._known[held] = count
        self.last = count
        return count

    def refresh(self, q: Array) -> None:
        """Bring `last` up to date; beside, in a thread, if it must be worked out."""
        if self._held() in self._known:
            self.at(q)
        elif self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(
                target=self.at, args=(q.copy(),), name='mobility count', daemon=True
            )
            self._thread.start()

    def _held(self) -> object:
        robot = self._robot
        return (
            frozenset(name for name, closure in robot.closures.items() if closure.enabled),
            frozenset(
                name
                for joint in robot.joint_order
                for name, dof in zip(joint.value_names, joint.dof, strict=True)
                if joint.locked[dof]
            ),
        )
