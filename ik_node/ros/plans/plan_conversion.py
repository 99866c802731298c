"""The conversion of a joint-space plan at the present state of the node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ik_node.errors import IkError, listed, PlanError
from ik_node.ros.control.motion import Motion
from ik_node.ros.messages.refusals import RefusedInputError
from ik_node.ros.parameters.settings import Settings
from ik_node.ros.plans.plan_messages import JointPlan, read_plan, trajectory_of
from ik_node.ros.process.background_work import BackgroundWork
from ik_node.solver.transmission.plan import actuator_plan, ActuatorPlan
from ik_node.solver.transmission.transmission import Transmission
import numpy as np
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory

# Largest number of points at which the distance to singularities is computed.
_EXAMINED = 100


@dataclass(frozen=True)
class ConvertedPlan:
    """
    A plan of the motors, ready to be sent.

    Attributes
    ----------
    trajectory : trajectory_msgs.msg.JointTrajectory
        The trajectory of the motors.
    duration : float
        Time of its last point from the start [s].
    start : ndarray, shape (nq,)
        The configuration from which the plan begins [rad or m].
    summary : str
        Number of points, and the singularity that the plan passes, for the log.
    warning : bool
        True if the plan passes near a singularity.

    """

    trajectory: JointTrajectory
    duration: float
    start: NDArray[np.float64]
    summary: str
    warning: bool


class PlanConversion:
    """
    Converts plans for the present robot in a thread: a long plan takes longer than a tick.

    Parameters
    ----------
    motion : Motion
        The robot, its configuration and its joint space.
    settings : callable
        Returns the present parameters.
    now : callable
        Returns the time of the node's clock [s].
    work : BackgroundWork

    """

    def __init__(
        self,
        motion: Motion,
        settings: Callable[[], Settings],
        now: Callable[[], float],
        work: BackgroundWork,
    ) -> None:
        self._motion = motion
        self._settings = settings
        self._now = now
        self._work = work

    async def convert(self, topic: str, message: Any) -> ConvertedPlan:
        """
        Return the trajectory of the motors for a trajectory_msgs/JointTrajectory.

        Raises
        ------
        RefusedInputError
            If the message, the state of the robot, or a limit does not allow the plan.

        """
        motion, settings = self._motion, self._settings()
        plan = read_plan(topic, message, motion.joint_space.names)
        model, outputs = motion.model, motion.roles.outputs
        start, reason = motion.plan_start(settings, self._now())
        if sorted(outputs) != sorted(motion.joint_space.motors):
            reason = f'output.joints are not the motors {listed(motion.joint_space.motors)}'
        if reason:
            raise RefusedInputError(topic, 'plan', f'{len(plan.times)} points', reason)
        try:
            transmission = motion.joint_space.transmission()
            converted, warning = await self._work.run(
                lambda: _converted(transmission, plan, start, settings)
            )
            if motion.model is not model or motion.paused:
                raise PlanError('the node was paused or got another robot in the meantime')
        except IkError as error:
            points = f'{len(plan.times)} points'
            raise RefusedInputError(topic, 'plan', points, str(error)) from error
        added = len(converted.times) - len(plan.times)
        summary = f'plan of {len(plan.times)} points, with {added} added'
        return ConvertedPlan(
            trajectory_of(converted, message.header, outputs),
            float(plan.times[-1]),
            start,
            f'{summary}; {warning}' if warning else summary,
            bool(warning),
        )


def _converted(
    transmission: Transmission, plan: JointPlan, start: NDArray[np.float64], settings: Settings
) -> tuple[ActuatorPlan, str]:
    """Return the plan of the motors, and the warning of the worst singularity on its way."""
    made = actuator_plan(
        transmission,
        plan.times,
        plan.position,
        plan.velocity,
        plan.acceleration,
        plan.effort,
        q0=start,
        tolerance=settings.transmission_path_tolerance,
        effort_scale=settings.transmission_max_effort_scale,
    )
    every = -(-len(made.q) // _EXAMINED)
    worst = min(map(transmission.singularity, made.q[::every]), key=lambda each: each.nearness)
    names = transmission.solver.joint_names
    threshold = settings.transmission_singularity_warning
    return made, worst.warning(threshold, names, transmission.joints)
