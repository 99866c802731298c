"""Joint-space plans from trajectory messages, and plans of motors as trajectory messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

from ik_node.errors import listed
from ik_node.ros.messages.convert import seconds_from_stamp
from ik_node.ros.messages.refusals import RefusedInputError
from ik_node.transmission.plan import ActuatorPlan
import numpy as np
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JointPlan:
    """
    A plan in the joint space.

    Attributes
    ----------
    times : ndarray, shape (n,)
        Times from the start [s].
    position : ndarray, shape (n, n_joints)
        [rad or m]
    velocity, acceleration, effort : ndarray, shape (n, n_joints), or None
        None if no point has any. A point without a velocity has NaN.

    """

    times: Array
    position: Array
    velocity: Array | None
    acceleration: Array | None
    effort: Array | None


def read_plan(topic: str, message: Any, joints: Sequence[str]) -> JointPlan:
    """
    Read a trajectory_msgs/JointTrajectory for the joint space, whose joints may have any order.

    Raises
    ------
    RefusedInputError
        If joints are missing or unknown, there are no points, sizes differ, or a number is not
        finite.

    """
    names = list(message.joint_names)
    if sorted(names) != sorted(joints):
        wanted = f'the joints of transmission.joints, each once: {listed(joints) or "none"}'
        raise RefusedInputError(topic, 'joint_names', names, wanted)
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
    """
    Return one part of all points, (n, n_joints); None if no point has it.

    As for a joint_trajectory_controller, each point may have velocities and accelerations or not.
    """
    parts = [getattr(point, field) for point in points]
    if not any(len(part) for part in parts):
        return None
    if field in ('velocities', 'accelerations'):
        if field == 'accelerations' and not all(len(part) for part in parts):
            return None
        parts = [part if len(part) else [math.nan] * len(order) for part in parts]
    for at, part in enumerate(parts):
        given = getattr(points[at], field)
        if len(part) != len(order):
            reason = f'{len(order)} joints need as many'
            name = f'points[{at}].{field}'
            raise RefusedInputError(topic, name, f'{len(part)} numbers', reason)
        for value in given:
            if not math.isfinite(value):
                name = f'points[{at}].{field}'
                raise RefusedInputError(topic, name, value, 'not a finite number')
    return np.array(parts)[:, order]


def trajectory_of(plan: ActuatorPlan, header: Any, motors: Sequence[str]) -> JointTrajectory:
    """Return a plan of motors as a trajectory with the header of the joint-space plan."""
    order = [plan.actuators.index(name) for name in motors]
    points = []
    for at, time in enumerate(plan.times.tolist()):
        point = JointTrajectoryPoint()
        point.positions = plan.position[at, order].tolist()
        point.velocities = plan.velocity[at, order].tolist()
        point.accelerations = plan.acceleration[at, order].tolist()
        if plan.effort is not None:
            point.effort = plan.effort[at, order].tolist()
        seconds, nanoseconds = divmod(round(1e9 * time), 1_000_000_000)
        point.time_from_start.sec, point.time_from_start.nanosec = seconds, nanoseconds
        points.append(point)
    return JointTrajectory(header=header, joint_names=list(motors), points=points)
