"""From where the robot is to measured values of its motors."""

from __future__ import annotations

from collections.abc import Mapping

from ik_node.errors import listed, plain
from ik_node.ros.control.answer_check import objection
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.parameters.settings import Settings
from ik_node.solver import Solution, Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# About what one step takes for each joint value [s], twice that of a desktop computer.
STEP_TIME = 2e-6
# Ways that lead anywhere take fewer, mostly much fewer: each step goes up to 0.3 rad or m.
LEAST_STEPS = 20
# After so many, over however many ticks, a way leads nowhere.
MOST_STEPS = 1000


def drive_steps(model: LoadedModel, settings: Settings) -> int:
    """Return the most steps towards measured values that one tick tries."""
    step = STEP_TIME * len(model.joint_names)
    return min(max(LEAST_STEPS, int(settings.period / step)), MOST_STEPS)


# A sensor that is beyond a limit by no more than this is at it [rad or m].
_SENSOR_SLACK = 1e-6
# More motors than degrees of freedom never agree exactly; so far off they are wrong [rad or m].
_MOST_MISFIT = 0.05


class MeasuredDrive:
    """
    Find the configuration that belongs to measured values, in the branch that the loops are in.

    With no more motors than degrees of freedom it has those values exactly, or there is none.
    With more, sensors that are not exact contradict each other: then it is the nearest one.

    Parameters
    ----------
    model : LoadedModel
    values : mapping of str to float
        Measured [rad or m].
    settings : Settings
        Of this tick.

    Attributes
    ----------
    note : str
        How far the values are from the nearest configuration, where that was taken; '' else.

    """

    def __init__(
        self, model: LoadedModel, values: Mapping[str, float], settings: Settings
    ) -> None:
        self._model = model
        self._options = settings.options
        self._steps = drive_steps(model, settings)
        self._at = {name: model.joint_names.index(name) for name in values}
        self._wanted = {}
        for name, at in self._at.items():
            value = values[name]
            within = min(max(value, model.lower[at]), model.upper[at])
            self._wanted[name] = within if abs(value - within) <= _SENSOR_SLACK else value
        self.note = ''

    def solve(self, q0: Array) -> Solution:
        """Go there from a configuration, as far as a tick has room for."""
        solver = self._model.solver
        solution: Solution = solver.drive(self._wanted, q0, steps=self._steps)
        redundant = 0 < self._model.mobility < len(self._wanted)
        if not redundant or solution.status is Status.TIMEOUT or not self.unmet(solution):
            return solution
        nearest: Solution = solver.drive({}, solution.q, steps=self._steps)
        name, reached = self._worst(nearest)
        wanted = self._wanted[name]
        if abs(wanted - reached) > _MOST_MISFIT or objection(self._model, nearest, self._options):
            return solution
        self.note = (
            f'the motors contradict each other: {plain(name)} is measured at {wanted:.6g}, taken '
            f'as {reached:.6g}'
        )
        return nearest

    def unmet(self, solution: Solution) -> str:
        """Say which joint stopped where; '' when all are where they were measured."""
        if self.note:
            return ''
        name, reached = self._worst(solution)
        reason = f'{plain(name)} stopped at {reached:.6g} on the way to {self._wanted[name]:.6g}'
        if reached == self._wanted[name]:
            # All but closed, or closed as far as a rounded description lets it.
            reason = objection(self._model, solution, self._options)
        if not reason:
            return ''
        if solution.status is Status.TIMEOUT:
            return f'on a way to the measured values that takes more than a tick: {reason}'
        limits = listed(solution.active_limits) if solution.active_limits else ''
        limits = f'; at limits: {limits}' if limits else ''
        return f'no assembly has the measured values: {reason}{limits}'

    def _worst(self, solution: Solution) -> tuple[str, float]:
        """Return the joint that is farthest from where it was measured, and where it is."""
        q = {name: float(solution.q[at]) for name, at in self._at.items()}
        name = max(q, key=lambda each: abs(self._wanted[each] - q[each]))
        return name, q[name]
