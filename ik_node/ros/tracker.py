"""One robot followed from tick to tick."""

from __future__ import annotations

from collections.abc import Mapping

from ik_node.errors import IkError
from ik_node.ros.convert import Pose
from ik_node.ros.loaded_model import LoadedModel
from ik_node.ros.loop_limits import LOOP_TOLERANCE
from ik_node.ros.settings import Settings
from ik_node.ros.tick_report import TickReport
from ik_node.solver import Solution, SolverOptions
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Beyond a limit by no more than rounding.
_LIMIT_SLACK = 1e-9


class Tracker:
    """
    Solve tick after tick, each from the last configuration or a measured one.

    What it reports is checked: an answer with open loops, beyond a limit or not finite is not
    passed on, the configuration before it is held instead.

    Parameters
    ----------
    model : LoadedModel

    """

    def __init__(self, model: LoadedModel) -> None:
        self.model = model
        self.q = model.q_start.copy()
        self._fallback = self.q
        self._time: float | None = None
        self._still = np.zeros_like(self.q)

    def replace_model(self, model: LoadedModel) -> None:
        """Go on with another model."""
        same_robot = model.request.builds_same_robot(self.model.request)
        self.q = model.start_from(self.model, self.q)
        self.model = model
        self._fallback = self.q if same_robot else model.q_start
        self._time = None
        self._still = np.zeros_like(self.q)

    def reset(self) -> None:
        """Go back to the description's configuration."""
        self.q = self.model.q_start.copy()
        self._fallback = self.q
        self._time = None

    def tick(
        self,
        goals: Mapping[str, Pose],
        start: Array | None,
        settings: Settings,
        now: float,
        notes: tuple[str, ...] = (),
    ) -> TickReport:
        """
        Solve once.

        Parameters
        ----------
        goals : mapping of str to (position, quat_xyzw)
            Poses in the root link's frame, [m].
        start : ndarray, shape (nq,), or None
            Measured configuration to start from; None = the last one.
        settings : Settings
            The parameters of this tick.
        now : float
            Time of the node's clock [s].
        notes : tuple of str
            Passed on in the report.

        """
        model = self.model
        before = self.q
        q0 = before if start is None else np.clip(start, model.lower, model.upper)
        max_step = None
        if settings.max_joint_velocity > 0.0:
            max_step = settings.max_joint_velocity * model.max_velocity * settings.period
        solution: Solution | None = None
        try:
            solution = model.solver.solve_pose(goals, q0=q0, max_step=max_step)
            held = self._objection(solution, settings.options)
        except IkError as error:
            held = str(error)
        if held or solution is None:
            # Before the first good answer there is only the description's own configuration.
            self.q = self._fallback
            self._time = now
            return TickReport(self.q, self._still, solution, held, notes)
        velocity = self._velocity(solution.q, before, now)
        self.q = self._fallback = solution.q
        return TickReport(self.q, velocity, solution, '', notes)

    def hold(self, now: float, reason: str) -> TickReport:
        """Report the last good configuration again, without solving."""
        self.q = self._fallback
        self._time = now
        return TickReport(self.q, self._still, None, reason)

    def _velocity(self, q: Array, before: Array, now: float) -> Array:
        last, self._time = self._time, now
        if last is None or now <= last:
            return self._still
        return (q - before) / (now - last)

    def _objection(self, solution: Solution, options: SolverOptions) -> str:
        """Say why an answer must not go out; '' when it may."""
        q, model = solution.q, self.model
        # Comparisons with a NaN are false, so that this finds them as well.
        inside = (q >= model.lower - _LIMIT_SLACK) & (q <= model.upper + _LIMIT_SLACK)
        if not (inside.all() and np.isfinite(q).all()):
            index = int(np.flatnonzero(~(inside & np.isfinite(q)))[0])
            return (
                f'joint {model.joint_names[index]} = {q[index]:.6g} is outside '
                f'[{model.lower[index]:.6g}, {model.upper[index]:.6g}]'
            )
        for name, error in solution.closure_errors.items():
            limit = model.loop_limits.get(name, LOOP_TOLERANCE)
            position = max(limit, options.translation_converge_threshold)
            orientation = max(limit, options.rotation_converge_threshold)
            if not (error.position <= position and error.orientation <= orientation):
                return (
                    f'loop {name} is open by {error.position:.3g} m, {error.orientation:.3g} rad'
                )
        return ''
