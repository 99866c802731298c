"""The motors of a robot: their transmissions and statics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ik_node.description.description import Description
from ik_node.mechanism import Mechanism
from ik_node.model.frame import Frame
from ik_node.model.given import finite, numbers
from ik_node.model.link import with_mass
from ik_node.solver.pose import names_in, Values
from ik_node.transmission.transmission import Transmission
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class ActuatedRobot(Mechanism):
    """
    The transmissions of a `Robot`.

    The methods take q, shape (nq,) or a mapping of names to values, with closed loops [rad or m],
    and `actuators`, joints with a motor; None = `actuated`. They raise the errors of
    `transmission` and `Transmission.jacobian`.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('fivebar')
    >>> robot.velocity(robot.q, [0.1, 0.2]).round(3).tolist()
    [0.1, 0.025, 0.2, -0.167]
    >>> robot.link_jacobian(robot.q, 'tool_link')[:2].round(3).tolist()  # vx and vy by motors
    [[-0.123, -0.123], [-0.123, 0.123]]
    >>> robot.wrench_to_actuators(robot.q, 'tool_link', (1, 2, 0, 0, 0, 0)).round(3).tolist()
    [0.369, -0.124]

    """

    def __init__(self, source: Description | Frame | Iterable[Frame], name: str = 'robot') -> None:
        self._transmissions: dict[tuple[str, ...], Transmission] = {}
        super().__init__(source, name)

    def __getstate__(self) -> dict[str, Any]:
        # A copy has a tree of its own.
        return {**super().__getstate__(), '_transmissions': {}}

    def transmission(
        self,
        actuators: Iterable[str] | None = None,
        joints: Iterable[str] | None = None,
        *,
        weights: ArrayLike | None = None,
    ) -> Transmission:
        """
        Return the map of position, velocity and effort between actuators and a joint space.

        Parameters and errors are those of `Transmission`; actuators = None: those of `actuated`
        that move the joint space.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> len(transmission.actuators)
        2

        """
        chooses = actuators is None and joints is not None
        motors = self.actuated if actuators is None else actuators
        return Transmission(self._solver, motors, joints, weights, chooses)

    def _motion(self, q: Values, actuators: Iterable[str] | None) -> Array:
        """Return d q / d actuator, by the transmission to all joints, made once for actuators."""
        key = tuple(self.actuated) if actuators is None else names_in('actuators', actuators)
        if key not in self._transmissions:
            self._transmissions[key] = self.transmission(key)
        return self._transmissions[key].motion(q)

    def velocity(
        self, q: Values, actuator_velocity: ArrayLike, actuators: Iterable[str] | None = None
    ) -> Array:
        """Return the velocities (nq,) [rad/s or m/s] of all joints by those (n_actuators,)."""
        motion = self._motion(q, actuators)
        return motion @ finite('actuator_velocity', actuator_velocity, motion.shape[1])

    def link_jacobian(self, q: Values, link: str, actuators: Iterable[str] | None = None) -> Array:
        """Return the Jacobian (6, n_actuators) of a link: linear [m], angular [rad], root axes."""
        return self.jacobian(q, link) @ self._motion(q, actuators)

    def wrench_to_actuators(
        self, q: Values, link: str, wrench: ArrayLike, actuators: Iterable[str] | None = None
    ) -> Array:
        """Return -J^T w (n_actuators,) that holds (force [N], torque [N m]) at a link's origin."""
        given = finite('wrench', np.ravel(numbers('wrench', wrench)), 6)
        return -(self.link_jacobian(q, link, actuators).T @ given)

    def gravity_effort(
        self,
        q: Values,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        actuators: Iterable[str] | None = None,
    ) -> Array:
        """
        Return the efforts, (n_actuators,) [N m or N], that hold the robot still against gravity.

        They are the derivative of the potential energy by the actuators. `gravity` (3,) is the
        acceleration of free fall, root axes [m/s^2]. TopologyError if no link has a mass.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.gravity_effort(robot.q, actuators=robot.joint_names)[1:3].round(1).tolist()
        [-56.6, -21.9]

        """
        fall = finite('gravity', gravity, 3)
        bodies = with_mass(self.name, self.links.values())
        weight = self._kinematics().weight_effort(self._solver.checked_q(q), bodies, fall)
        return -(self._motion(q, actuators).T @ weight)
