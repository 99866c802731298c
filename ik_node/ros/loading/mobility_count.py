"""The mobility of the robot as its loops are at the moment."""

from __future__ import annotations

import threading

from ik_node.errors import shown, TopologyError
from ik_node.robot import Robot
from ik_node.solver import Solver
from ik_node.solver.analysis.mobility import mobility_of
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Loops published by the node are closed at least this well [m, rad].
LOOP_TOLERANCE = 1e-6
# Rounded numbers in a description leave less than this; a robot with more is refused [m, rad].
LARGEST_ROUNDING = 1e-3


def loop_limits(robot: Robot) -> dict[str, float]:
    """
    Return, for every loop of an assembled robot, the residual [m, rad] that counts as closed.

    A description's rounding leaves redundant loops open: such a loop is held to what rounding may
    make of it, else to twice what was left when the robot was assembled; a note in `robot.notes`
    says so.

    Raises
    ------
    TopologyError
        Names the loop that stays open the most, when that is no rounding.

    """
    result = robot.assembly
    if result is None:
        return {}
    loose = {name: each.allowance(name) for each in robot.redundancies for name in each.misfit}
    limits = {}
    for name, residual in result.closure_errors.items():
        tolerance = max(robot.closures[name].tolerance or (LOOP_TOLERANCE,))
        limits[name] = max(LOOP_TOLERANCE, tolerance)
        left = max(residual)
        if name in loose:
            if left > limits[name]:
                robot.notes.append(
                    f'loop {name!r} stays {left:.3g} open [m or rad]: its redundant rows disagree '
                    'by the rounding of the description, and are met as well as they can be'
                )
            limits[name] = max(limits[name], LOOP_TOLERANCE + max(loose[name]))
        if left <= limits[name]:
            continue
        if not left <= LARGEST_ROUNDING:
            raise TopologyError(
                f'the loops of robot {shown(robot.name)} cannot be closed: '
                f'{shown(result.worst)} stays '
                f'{max(result.closure_errors[result.worst]):.3g} open [m or rad] '
                f'({result.message})'
            )
        limits[name] = 2.0 * left
        robot.notes.append(
            f'loop {shown(name)} stays {left:.3g} open [m or rad]: taken for rounding in the '
            f'description and held to twice that'
        )
    return limits


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
