"""Mobility of the robot with its present closures and locks, and its loop tolerances."""

from __future__ import annotations

import threading

from ik_node.analysis.mobility import mobility_of
from ik_node.errors import TopologyError
from ik_node.robot import Robot
from ik_node.solver import Solver
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Published configurations close their loops at least this well [m or rad].
LOOP_TOLERANCE = 1e-6
# A robot whose loops are open by more than this is refused [m or rad]; careless numbers in a
# description open them by less.
LARGEST_ROUNDING = 1e-3


def loop_limits(robot: Robot) -> dict[str, float]:
    """
    Return the residual [m or rad] up to which each loop of an assembled robot counts as closed.

    Rounded numbers in a description leave redundant loops open. The limit of such a loop is the
    effect of the rounding, or twice the residual after assembly; `robot.notes` says so. A
    tolerance of a closure is its limit.

    Raises
    ------
    TopologyError
        If a loop is open by more than that; the message names the worst loop.

    """
    result = robot.assembly
    if result is None:
        return {}
    loose = {name: each.allowance(name) for each in robot.redundancies for name in each.misfit}
    limits = {}
    for name, residual in result.closure_errors.items():
        # A sum of joints has a row, but no closure.
        closure = robot.closures.get(name)
        stated = None if closure is None else closure.tolerance
        limits[name] = max([LOOP_TOLERANCE, *(stated or ())])
        left = max(residual)
        if name in loose:
            if left > limits[name]:
                robot.notes.append(
                    f'loop {name!r} stays {left:.3g} open [m or rad]: its redundant rows disagree '
                    'by the rounding of the description; the solver meets them as well as possible'
                )
            limits[name] = max(limits[name], LOOP_TOLERANCE + max(loose[name]))
        if left <= limits[name]:
            continue
        if not left <= LARGEST_ROUNDING or stated is not None:
            raise TopologyError(
                f'the loops of robot {robot.name!r} cannot be closed: '
                f'{result.worst!r} stays '
                f'{max(result.closure_errors[result.worst]):.3g} open [m or rad] '
                f'({result.message})'
            )
        limits[name] = 2.0 * left
        robot.notes.append(
            f'loop {name!r} stays {left:.3g} open [m or rad], more than the digits of the '
            'description explain: the node moves the robot, but no answer is CONVERGED before the '
            'loop has a `tolerance`'
        )
    return limits


class MobilityCount:
    """
    A counter of degrees of freedom, which counts once for each set of closures and locks.

    Counting takes a millisecond with six loops and a tenth of a second with a hundred. The number
    is the same in nearly every configuration.

    Parameters
    ----------
    robot : Robot
        The robot; its present closures and locks count.
    solver : Solver
        The solver of the robot.

    Attributes
    ----------
    last : int
        The last counted number.

    """

    def __init__(self, robot: Robot, solver: Solver) -> None:
        self._robot = robot
        self._solver = solver
        self._known: dict[object, int] = {}
        self.last = 0
        self._thread: threading.Thread | None = None

    def at(self, q: Array) -> int:
        """Return the number, counted at `q` (loops closed, [rad or m]) unless it is known."""
        held = self._held()
        count = self._known.get(held)
        if count is None:
            count = int(mobility_of(self._solver, self._robot.closures, q))
            if self._held() == held:
                self._known[held] = count
        self.last = count
        return count

    def refresh(self, q: Array) -> None:
        """Update `last`, in a background thread if it must be counted."""
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
