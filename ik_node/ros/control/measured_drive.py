"""Motion of the model from its present configuration to measured motor values."""

from __future__ import annotations

from collections.abc import Mapping

from ik_node.errors import listed
from ik_node.ros.control.answer_check import objection
from ik_node.ros.loading.loaded_model import LoadedModel
from ik_node.ros.parameters.settings import Settings
from ik_node.solver import Solution, Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Approximate time of one iteration per joint value [s], twice that of a desktop computer.
STEP_TIME = 2e-6
# Least number of iterations per tick; most drives need fewer, as each moves up to 0.3 rad or m.
LEAST_STEPS = 20
# After so many iterations, over any number of ticks, a drive counts as failed.
MOST_STEPS = 1000


def drive_steps(model: LoadedModel, settings: Settings) -> int:
    """Return the largest number of iterations towards measured values in one tick."""
    step = STEP_TIME * len(model.joint_names)
    return min(max(LEAST_STEPS, int(settings.period / step)), MOST_STEPS)


# A value beyond a limit by at most this much is set to the limit [rad or m].
_SENSOR_SLACK = 1e-6
# Redundant motors never agree exactly. Beyond this deviation they are wrong [rad or m].
_MOST_MISFIT = 0.05


class MeasuredDrive:
    """
    The configuration that belongs to measured values, in the present assembly branch.

    With at most as many motors as degrees of freedom, the configuration has exactly those values,
    or there is none. With more motors, inexact sensors contradict each other, and the nearest
    configuration is taken.

    Parameters
    ----------
    model : LoadedModel
        The robot.
    values : mapping of str to float
        Measured values [rad or m].
    settings : Settings
        Parameters of this tick.

    Attributes
    ----------
    note : str
        Largest deviation of a measured value, if the nearest configuration was taken; ''
        otherwise.

    """

    def __init__(
        self, model: LoadedModel, values: Mapping[str, float], settings: Settings
    ) -> None:
        self._model = model
        self._options = settings.options
        self._steps = drive_steps(model, settings)
        self._outside = settings.outside_tolerance
        self._start: Array | None = None
        self._at = {name: model.joint_names.index(name) for name in values}
        self._wanted = {}
        for name, at in self._at.items():
            value = values[name]
            within = min(max(value, model.lower[at]), model.upper[at])
            self._wanted[name] = within if abs(value - within) <= _SENSOR_SLACK else value
        self.note = ''

    def start_at(self, q: Array) -> Array:
        """Return q with the values that are allowed outside their limits, where drives start."""
        wanted = q.copy()
        wanted[list(self._at.values())] = list(self._wanted.values())
        return self._model.with_outside(q, wanted, self._outside)

    def solve(self, q0: Array) -> Solution:
        """
        Drive from a configuration towards the measured values for at most one tick.

        For values outside their limits, `q0` is what `start_at` returns.
        """
        self._start = q0
        solver = self._model.solver
        solution: Solution = solver.drive(self._wanted, q0, steps=self._steps)
        redundant = 0 < self._model.mobility < len(self._wanted)
        if not redundant or solution.status is Status.TIMEOUT or not self.unmet(solution):
            return solution
        nearest: Solution = solver.drive({}, solution.q, steps=self._steps)
        name, reached = self._worst(nearest)
        wanted = self._wanted[name]
        refused = objection(self._model, nearest, self._options, self._start)
        if abs(wanted - reached) > _MOST_MISFIT or refused:
            return solution
        self.note = (
            f'the motors contradict each other: {name} is measured at {wanted:.6g}, but '
            f'the solver uses {reached:.6g}'
        )
        return nearest

    def unmet(self, solution: Solution) -> str:
        """Return a message that names the joint that stopped early; '' if all arrived."""
        if self.note:
            return ''
        name, reached = self._worst(solution)
        reason = f'{name} stopped at {reached:.6g} on the way to {self._wanted[name]:.6g}'
        if reached == self._wanted[name]:
            # The values are reached, so a loop must be open by more than its limit.
            reason = objection(self._model, solution, self._options, self._start)
        if not reason:
            return ''
        if solution.status is Status.TIMEOUT:
            return f'the drive to the measured values takes more than one tick: {reason}'
        limits = listed(solution.active_limits) if solution.active_limits else ''
        limits = f'; at limits: {limits}' if limits else ''
        return f'no configuration with closed loops has the measured values: {reason}{limits}'

    def _worst(self, solution: Solution) -> tuple[str, float]:
        """Return the joint that is farthest from its measured value, and its value."""
        q = {name: float(solution.q[at]) for name, at in self._at.items()}
        name = max(q, key=lambda each: abs(self._wanted[each] - q[each]))
        return name, q[name]
