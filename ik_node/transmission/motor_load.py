"""The efforts with which motors hold a load, and the distance to singularities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import floor, inf, log10
from typing import NamedTuple

from ik_node.errors import IkError, TopologyError
from ik_node.transmission.actuated_robot import ActuatedRobot
from ik_node.transmission.transmission import Transmission
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Below this nearness, a configuration counts as near a singularity.
NEAR = 0.05
# The share of its limit that the first load takes of the motor that it loads most. If motors have
# no limits, the load is as large as the weight of the robot, or this force [N].
TAKEN, ALONE = 0.5, 10.0
# Acceleration of free fall [m/s^2].
FALL = 9.81
# Lever arms shorter than this share of the largest count as zero.
NO_ARM = 1e-6


@dataclass(frozen=True)
class Load:
    """A force on a link."""

    link: str
    point: tuple[float, float, float]  # where it acts, in the frame of the link [m]
    force: tuple[float, float, float]  # in root axes [N]
    gravity: bool  # whether the weight of the robot acts as well

    def start(self, robot: ActuatedRobot) -> Array:
        """Return the point of application at the robot's present values, root frame [m]."""
        pose = robot.links[self.link].matrix_world
        return np.asarray(pose[:3, :3] @ self.point + pose[:3, 3])

    def moved(self, robot: ActuatedRobot, start: Array) -> Load:
        """Return the same force at another point, root frame [m]."""
        pose = robot.links[self.link].matrix_world
        x, y, z = (pose[:3, :3].T @ (start - pose[:3, 3])).round(4).tolist()
        return replace(self, point=(x, y, z))

    def with_force(self, force: Array) -> Load:
        """Return a load with another force [N], rounded to three digits of its size."""
        size = float(np.abs(force).max())
        digits = 2 - floor(log10(size)) if 0.0 < size < inf else 0
        x, y, z = (force.round(digits) + 0.0).tolist()
        return replace(self, force=(x, y, z))


class MotorEffort(NamedTuple):
    """The effort of a motor on the mechanism, positive in the direction of its value."""

    name: str
    effort: float
    limit: float  # infinite = no limit is known
    unit: str  # 'N m' of a rotation, 'N' of a translation

    @property
    def share(self) -> float:
        """Return the effort as a share of the limit, from 0; 0 without a limit."""
        if self.limit > 0.0:
            return abs(self.effort) / self.limit
        return inf if self.effort else 0.0

    @property
    def is_over(self) -> bool:
        """Return True if the effort is beyond the limit."""
        return self.share > 1.0


class MotorStatics:
    """The statics of the motors of a robot; nothing is computed before the first question."""

    def __init__(self, robot: ActuatedRobot) -> None:
        self.robot = robot

    @cached_property
    def _read(self) -> tuple[Transmission | None, str]:
        try:
            return self.robot.transmission(), ''
        except TopologyError as error:
            return None, str(error)

    @property
    def refusal(self) -> str:
        """Return why there are no efforts, such as for a robot without motors; '' = there are."""
        return self._read[1]

    def first_load(self, q: Array, link: str, length: float) -> Load:
        """
        Return a load for the start at the centre of mass of a link, which the motors can hold.

        It points downwards, or upwards if its arrow of some `length` [m] would else end below all
        links, or along x or y if no motor feels a vertical force. In its worst direction it takes
        half of the limit of some motor. Loops are closed at q (nq,).
        """
        body = self.robot.links[link]
        x, y, z = map(float, body.centre_of_mass)
        arms: Array = np.zeros((3, 1))
        if not self.refusal:
            jacobian = self.robot.link_jacobian(q, link)
            offset = self.robot.forward(q, link)[:3, :3] @ (x, y, z)
            arms = jacobian[:3] + np.cross(jacobian[3:].T, offset).T
        by_motor, by_axis = (np.linalg.norm(arms, axis=axis) for axis in (0, 1))
        limits = np.array([limit for _, limit, _ in self._motors] or [inf])
        felt = (by_motor > NO_ARM * by_motor.max()) & np.isfinite(limits) & (limits > 0.0)
        forces = (TAKEN * limits[felt] / by_motor[felt]).tolist()
        size = min(forces, default=FALL * self.robot.mass or ALONE)
        digit = 10.0 ** floor(log10(size))
        size = float(f'{floor(size / digit * (1.0 + 1e-9)) * digit:.3g}')
        load = Load(link, (x, y, z), (0.0, 0.0, -size), self.robot.mass > 0.0)
        if by_axis[2] < NO_ARM * by_axis.max():
            along_x = by_axis[0] >= by_axis[1]
            return replace(load, force=(size, 0.0, 0.0) if along_x else (0.0, size, 0.0))
        lowest = min(each.matrix_world[2, 3] for each in self.robot.links.values())
        if load.start(self.robot)[2] - length < lowest:
            return replace(load, force=(0.0, 0.0, size))
        return load

    @cached_property
    def _motors(self) -> list[tuple[str, float, str]]:
        """Return name, limit and unit of each motor."""
        transmission, robot = self._read[0], self.robot
        names = [] if transmission is None else transmission.actuators
        dofs = [dof for joint in robot.joint_order for dof in joint.dof]
        units = ['N m' if dof.is_rotation else 'N' for dof in dofs]
        rows = zip(robot.joint_names, robot.max_effort.tolist(), units, strict=True)
        known = {row[0]: row for row in rows}
        return [known[name] for name in names]

    def efforts(self, q: Array, load: Load) -> list[MotorEffort]:
        """
        Return the efforts that hold a load, -J^T w, and the weight of the robot if that acts.

        There are none if there is a refusal. Raise IkError if a loop is open at q (nq,).
        """
        if self.refusal:
            return []
        arm = self.robot.forward(q, load.link)[:3, :3] @ load.point
        wrench = np.concatenate((load.force, np.cross(arm, load.force)))
        held = self.robot.wrench_to_actuators(q, load.link, wrench)
        if load.gravity and self.robot.mass > 0.0:
            held = held + self.robot.gravity_effort(q, (0.0, 0.0, -FALL))
        return [
            MotorEffort(name, effort, limit, unit)
            for (name, limit, unit), effort in zip(self._motors, held.tolist(), strict=True)
        ]

    def singularity(self, q: Array) -> tuple[float, str] | None:
        """
        Return how near a robot with loops is to a singularity, and a sentence about what is lost.

        The sentence is '' if the singularity is not near. None for a robot without loops, without
        motors, or with a refusal. Raise IkError if a loop is open at q (nq,).
        """
        transmission = self._read[0]
        if not self.robot.closures or transmission is None:
            return None
        found = transmission.singularity(q)
        names = self.robot.joint_names, transmission.joints
        return found.nearness, found.warning(NEAR, *names)


def statement(error: IkError) -> str:
    """Return the first line of an error."""
    return str(error).splitlines()[0]
