"""The conversion of a joint-space plan at the present state of the node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math
from typing import Any

from ik_node.errors import IkError, listed, PlanError
from ik_node.model.rotation import Array
from ik_node.ros.control.motion import Motion
from ik_node.ros.messages.convert import RefusedInputError, seconds_from_stamp
from ik_node.ros.outputs.command_publishers import point_at
from ik_node.ros.parameters.settings import Settings
from ik_node.ros.process.background_work import BackgroundWork
from ik_node.transmission.plan import actuator_plan, ActuatorPlan, START_TOLERANCE
from ik_node.transmission.transmission import Transmission
import numpy as np
from trajectory_msgs.msg import JointTrajectory


@dataclass(frozen=True)
class JointPlan:
    """A plan in the joint space."""

    times: Array  # Times from the start (n,) [s].
    position: Array  # (n, n_joints) [rad or m]
    # None if no point has any. A point without a velocity has NaN, (n, n_joints).
    velocity: Array | None
    acceleration: Array | None
    effort: Array | None


def read_plan(topic: str, message: Any, joints: Sequence[str]) -> JointPlan:
    """Read a trajectory_msgs/JointTrajectory with the joints in any order, or refuse it."""
    names = list(message.joint_names)
    if sorted(names) != sorted(joints):
        allowed = f'the joints of transmission.joints, each once: {listed(joints) or "none"}'
        raise RefusedInputError(topic, 'joint_names', names, allowed)
    if not message.points:
        raise RefusedInputError(topic, 'points', [], 'a plan needs a point')
    order = [names.index(name) for name in joints]
    parts = [
        _part(topic, message.points, field, order)
        for field in ('positions', 'velocities', 'accelerations', 'effort')
    ]
    if parts[0] is None:
        raise RefusedInputError(topic, 'points[0].positions', [], 'every point needs positions')
    times = np.array([seconds_from_stamp(point.time_from_start) for point in message.points])
    return JointPlan(times, parts[0], *parts[1:])


def _part(topic: str, points: Sequence[Any], field: str, order: Sequence[int]) -> Array | None:
    """Return one part of all points, (n, n_joints), NaN where a point lacks it; None if all do."""
    parts = [getattr(point, field) for point in points]
    if not any(len(part) for part in parts):
        return None
    if field in ('velocities', 'accelerations'):
        if field == 'accelerations' and not all(len(part) for part in parts):
            return None
        parts = [part if len(part) else [math.nan] * len(order) for part in parts]
    for index, part in enumerate(parts):
        given = getattr(points[index], field)
        if len(part) != len(order):
            reason = f'{len(order)} joints need as many'
            name = f'points[{index}].{field}'
            raise RefusedInputError(topic, name, f'{len(part)} numbers', reason)
        for value in given:
            if not math.isfinite(value):
                name = f'points[{index}].{field}'
                raise RefusedInputError(topic, name, value, 'not a finite number')
    return np.array(parts)[:, order]


def trajectory_of(plan: ActuatorPlan, header: Any, motors: Sequence[str]) -> JointTrajectory:
    """Return a plan of motors as a trajectory with the header of the joint-space plan."""
    order = [plan.actuators.index(name) for name in motors]
    points = []
    for index, time in enumerate(plan.times.tolist()):
        parts = {
            'positions': plan.position[index, order].tolist(),
            'velocities': plan.velocity[index, order].tolist(),
            'accelerations': plan.acceleration[index, order].tolist(),
            'effort': [] if plan.effort is None else plan.effort[index, order].tolist(),
        }
        points.append(point_at(time, **parts))
    return JointTrajectory(header=header, joint_names=list(motors), points=points)


# Largest number of points at which the distance to singularities is computed.
_EXAMINED = 100
# Time in which motors come to rest if a plan is stopped [s].
_BRAKING = 0.2
# Motors that are farther behind their plan do not follow it [s].
_LAG = 0.25
# Motors that are as near as this to two points of a path are at the later one [rad or m].
_SAME_PLACE = 1e-3


@dataclass(frozen=True)
class ConvertedPlan:
    """A plan of the motors, ready to be sent."""

    trajectory: JointTrajectory  # The trajectory of the motors.
    begin: float  # When it begins, by the node's clock [s].
    start: Array  # The configuration from which the plan begins (nq,) [rad or m].
    made: ActuatorPlan  # The plan of the motors, with the configurations of the robot.
    summary: str  # Number of points, and the singularity that the plan passes, for the log.
    warning: bool  # True if the plan passes near a singularity.

    @property
    def end(self) -> float:
        """Return when it ends, by the node's clock [s]."""
        return self.begin + float(self.made.times[-1])

    def braking(self, now: float, measured: Mapping[str, float]) -> JointTrajectory:
        """
        Return a trajectory that brings the motors to rest on the path, from `now` on [s].

        It begins where the motors are measured [rad or m]: they lag behind the plan, or do not
        follow it, because their controller was deactivated.
        """
        made, names, elapsed = self.made, list(self.trajectory.joint_names), now - self.begin
        here, away = self._time_of(now, measured)
        if away > START_TOLERANCE:
            positions = [measured[name] for name in names]
        else:
            ahead = here + (0.5 * _BRAKING if elapsed - here < _LAG else 0.0)
            columns = made.position[:, [made.actuators.index(name) for name in names]].T
            positions = [float(np.interp(ahead, made.times, each)) for each in columns]
        point = point_at(_BRAKING, positions=positions, velocities=[0.0] * len(names))
        return JointTrajectory(joint_names=names, points=[point])

    def behind(self, now: float, measured: Mapping[str, float]) -> float:
        """Return by how much the motors are behind the plan [s]."""
        return max(now - self.begin, 0.0) - self._time_of(now, measured)[0]

    def _time_of(self, now: float, measured: Mapping[str, float]) -> tuple[float, float]:
        """
        Return where on the path the motors are measured, as a time since the begin of the plan.

        It is the last time up to now. The second value is their distance from the path
        [rad or m]. Without measurements of all motors they are where the plan is now.
        """
        made, names = self.made, self.trajectory.joint_names
        latest, times = max(now - self.begin, 0.0), made.times
        if not measured.keys() >= {*names}:
            return latest, 0.0
        path = made.position[:, [made.actuators.index(name) for name in names]]
        here = np.array([measured[name] for name in names])
        begun = max(int(np.searchsorted(times, latest)), 1)
        change, span = np.diff(path, axis=0)[:begun], np.diff(times)[:begun]
        share = ((here - path[:begun]) * change).sum(axis=1)
        share /= np.maximum((change**2).sum(axis=1), 1e-30)
        share = np.clip(share, 0.0, np.minimum((latest - times[:begun]) / span, 1.0))
        away = np.linalg.norm(path[:begun] + share[:, None] * change - here, axis=1)
        nearest = int(np.flatnonzero(away <= away.min() + _SAME_PLACE)[-1])
        return float(times[nearest] + share[nearest] * span[nearest]), float(away[nearest])


class PlanConversion:
    """Converts plans for the present robot in a thread: a long plan takes longer than a tick."""

    def __init__(
        self,
        motion: Motion,
        settings: Callable[[], Settings],
        now: Callable[[], float],
        work: BackgroundWork,
    ) -> None:
        self.motion, self.now = motion, now
        self._settings = settings
        self._work = work
        # How many plans have arrived that the state of the robot allows.
        self._arrived = 0

    async def convert(self, topic: str, message: Any) -> ConvertedPlan:
        """
        Return the trajectory of the motors for a trajectory_msgs/JointTrajectory.

        Of several plans the newest counts: it ends the conversion of those before. Raise
        RefusedInputError if the message, the state of the robot, or a limit does not allow the
        plan, or if a newer one has arrived or the robot has moved while it was converted.
        """
        motion, settings = self.motion, self._settings()
        plan = read_plan(topic, message, motion.joint_space.names)
        model, outputs = motion.model, motion.roles.outputs
        begin = self._begin(topic, message, plan)
        start, reason = motion.plan_start(settings, self.now())
        motors, grouped = motion.joint_space.motors, bool(settings.joints.groups)
        if not {*motors} <= {*outputs} or (not grouped and len(motors) < len(outputs)):
            reason = f'output.joints are not the motors {listed(motors)}'
        if reason:
            raise RefusedInputError(topic, 'plan', f'{len(plan.times)} points', reason)
        number = self._arrived = self._arrived + 1
        try:
            transmission = motion.joint_space.transmission()
            converted, warning = await self._work.run(
                lambda: _converted(
                    transmission, plan, start, settings, lambda: number != self._arrived
                )
            )
            if number != self._arrived:
                raise PlanError('a newer plan has arrived in the meantime')
            if motion.model is not model or motion.paused:
                raise PlanError('the node was paused or got another robot in the meantime')
            self._check_start(start, settings)
        except IkError as error:
            points = f'{len(plan.times)} points'
            raise RefusedInputError(topic, 'plan', points, str(error)) from error
        added = len(converted.times) - len(plan.times)
        summary = f'plan of {len(plan.times)} points, with {added} added'
        return ConvertedPlan(
            trajectory_of(converted, message.header, [each for each in outputs if each in motors]),
            max(begin, self._begin(topic, message, plan)),
            start,
            converted,
            f'{summary}; {warning}' if warning else summary,
            bool(warning),
        )

    def _begin(self, topic: str, message: Any, plan: JointPlan) -> float:
        """Return when a plan begins [s]; refuse one that has ended already."""
        now, stamp = self.now(), seconds_from_stamp(message.header.stamp)
        if stamp and stamp + plan.times[-1] < now:
            reason = f'the plan ended {now - stamp - plan.times[-1]:.3g} s ago'
            raise RefusedInputError(topic, 'header.stamp', stamp, reason)
        return stamp or now

    def _check_start(self, start: Array, settings: Settings) -> None:
        """Compare the robot with the configuration from which a plan was converted."""
        motion = self.motion
        here, reason = motion.plan_start(settings, self.now())
        if reason or motion.model is None:
            raise PlanError(reason)
        away = np.abs(motion.model.nearest_turn(here, start) - start)
        worst = int(away.argmax())
        if away[worst] > START_TOLERANCE:
            raise PlanError(
                f'joint {motion.model.joint_names[worst]} has moved by {away[worst]:.3g} '
                f'while the plan was converted, more than {START_TOLERANCE:g}'
            )


def _converted(
    transmission: Transmission,
    plan: JointPlan,
    start: Array,
    settings: Settings,
    is_replaced: Callable[[], bool],
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
        is_replaced=is_replaced,
    )
    every = -(-len(made.q) // _EXAMINED)
    worst = min(map(transmission.singularity, made.q[::every]), key=lambda each: each.nearness)
    names = transmission.solver.joint_names
    threshold = settings.transmission_singularity_warning
    return made, worst.warning(threshold, names, transmission.joints)
