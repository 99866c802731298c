"""The motors of a robot: their transmissions and statics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ik_node.description.description import Description
from ik_node.errors import TopologyError
from ik_node.mechanism import Mechanism
from ik_node.model.frame import Frame
from ik_node.model.given import finite, numbers
from ik_node.solver.pose import names_in, Values
from ik_node.transmission.transmission import Transmission
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class ActuatedRobot(Mechanism):
    """The transmissions of a `Robot`."""

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

        Parameters
        ----------
        actuators : iterable of str, optional
            Joints with a motor, or single values of joints; None = those of `actuated` that move
            the joint space.
        joints : iterable of str, optional
            The joint space: joints, single values of joints, or links, whose poses then count;
            None = every joint value.
        weights : array_like, shape (n_actuators,), optional
            Weights of the squared efforts, for more actuators than degrees of freedom; None = 1.

        Raises
        ------
        UnknownFrameError
            If a name is neither a joint nor a link.
        TopologyError
            If an actuator moves nothing, or a joint or link is not determined by the actuators or
            in no loop with them.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> len(transmission.actuators)
        2

        """
        motors = self.actuated if actuators is None else actuators
        if actuators is None and motors and joints is not None:
            joints = names_in('joints', joints)
            motors = self._motors(None).actuators_of(joints) or motors
        return Transmission(self._solver, motors, joints, weights)

    def _motors(self, actuators: Iterable[str] | None) -> Transmission:
        """Return the transmission to all joints, made once for each set of actuators."""
        key = tuple(self.actuated) if actuators is None else names_in('actuators', actuators)
        known: Transmission | None = self._transmissions.get(key)
        if known is None:
            known = self._transmissions[key] = self.transmission(key)
        return known

    def velocity(
        self, q: Values, actuator_velocity: ArrayLike, actuators: Iterable[str] | None = None
    ) -> Array:
        """
        Return the velocities of all joints, (nq,) [rad/s or m/s], that those of actuators cause.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].
        actuator_velocity : array_like, shape (n_actuators,)
            [rad/s or m/s]
        actuators : iterable of str, optional
            Joints with a motor; None = `actuated`.

        Raises
        ------
        TopologyError, ShapeError, OptionError
            As for `transmission` and `Transmission.jacobian`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> robot.velocity(robot.q, [0.1, 0.2]).round(3).tolist()
        [0.1, 0.025, 0.2, -0.167]

        """
        motion = self._motors(actuators).motion(q)
        return motion @ finite('actuator_velocity', actuator_velocity, motion.shape[1])

    def link_jacobian(self, q: Values, link: str, actuators: Iterable[str] | None = None) -> Array:
        """
        Return the geometric Jacobian of a link's origin by the actuators, (6, n_actuators).

        Rows are linear [m], then angular [rad], in root axes, per [rad or m].

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].
        link : str
            Its name.
        actuators : iterable of str, optional
            Joints with a motor; None = `actuated`.

        Raises
        ------
        UnknownFrameError, TopologyError, ShapeError, OptionError
            As for `forward`, `transmission` and `Transmission.jacobian`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> robot.link_jacobian(robot.q, 'tool_link')[:2].round(3).tolist()  # vx and vy by motors
        [[-0.123, -0.123], [-0.123, 0.123]]

        """
        jacobian = self.jacobian(q, link)
        return jacobian @ self._motors(actuators).motion(q)

    def wrench_to_actuators(
        self, q: Values, link: str, wrench: ArrayLike, actuators: Iterable[str] | None = None
    ) -> Array:
        """
        Return -J^T w, the efforts of the actuators that hold a wrench w on a link.

        They do not hold the weight of the robot, (n_actuators,) [N m or N].

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].
        link : str
            Its name.
        wrench : array_like, shape (6,), or (force, torque)
            Force [N] at the link's origin and torque [N m], root axes.
        actuators : iterable of str, optional
            Joints with a motor; None = `actuated`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('fivebar')
        >>> robot.wrench_to_actuators(robot.q, 'tool_link', (1, 2, 0, 0, 0, 0)).round(3).tolist()
        [0.369, -0.124]

        """
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

        They are the derivative of the potential energy by the actuators.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float
            Joint values with closed loops [rad or m].
        gravity : array_like, shape (3,)
            Acceleration of free fall, root axes [m/s^2].
        actuators : iterable of str, optional
            Joints with a motor; None = `actuated`.

        Raises
        ------
        TopologyError
            If no link has a mass, or as for `transmission`.
        ShapeError, OptionError
            As for `Transmission.jacobian`.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('arm6')
        >>> robot.gravity_effort(robot.q, actuators=robot.joint_names)[1:3].round(1).tolist()
        [-56.6, -21.9]

        """
        fall = finite('gravity', gravity, 3)
        bodies = [link for link in self.links.values() if link.mass > 0.0]
        if not bodies:
            raise TopologyError(
                f'{self.name!r} has no mass: give the links of the description an '
                '<inertial>, or set Link.mass'
            )
        motion = self._motors(actuators).motion(q)
        weight = self._kinematics().weight_effort(self._solver.checked_q(q), bodies, fall)
        return -(motion.T @ weight)
