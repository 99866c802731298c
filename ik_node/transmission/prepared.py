"""A direction of a transmission as a callable for control loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ik_node.display import public_names
from ik_node.errors import listed
from ik_node.kernels.solve_state import STATUS_REFUSED
from ik_node.kernels.transmit import GIVES_EFFORT, GIVES_POSITION, GIVES_VELOCITY, TRACKED
from ik_node.model.given import finite
from ik_node.solver.pose import Values
from ik_node.solver.result import STATUSES
from ik_node.solver.solver import Solver
from ik_node.transmission.direction import Direction
from ik_node.transmission.state import TransmissionState
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class PreparedTransmission:
    """
    One direction of a transmission, to be called many times in a control loop.

    Every call starts from the result of the last one, so that the assembly is kept. Made by
    `Transmission.prepare_to_joints` and `prepare_to_actuators`.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('ankle')
    >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    >>> call = transmission.prepare_to_joints()
    >>> call([0.3, 0.1]).joint_position.round(3).tolist()
    [0.219, 0.134]

    """

    __slots__ = (
        '_arguments',
        '_direction_of',
        '_edits',
        '_inputs',
        '_inverse',
        '_lock',
        '_q',
        '_revision',
        '_solver',
        '_tracked',
        'direction',
    )

    def __init__(
        self, solver: Solver, direction_of: Callable[[bool], Direction], inverse: bool
    ) -> None:
        self._solver, self._direction_of, self._inverse = solver, direction_of, inverse
        self._lock = solver.lock
        with self._lock:
            self._q: Array = solver.q
            self._prepare()

    _internal = ('direction',)
    __dir__ = public_names

    def __repr__(self) -> str:
        way = 'to actuators' if self._inverse else 'to joints'
        names = self._solver.joint_names
        actuators = listed(names[at] for at in self.direction.space.actuators)
        return f'PreparedTransmission({way}; {actuators})'

    def __reduce__(self) -> tuple[Any, ...]:
        return PreparedTransmission, (self._solver, self._direction_of, self._inverse)

    def _prepare(self) -> None:
        revision = self._solver.revision
        self._edits, self._revision = revision.edits, revision
        shared = self._direction_of(self._inverse)
        self.direction = shared.copied()
        direction, size = self.direction, shared.given_count
        value, rate, effort = (
            direction.field(name, size) for name in ('value_in', 'rate_in', 'effort_in')
        )
        self._inputs = value, rate, effort, size
        self._arguments = (
            direction.chain.kernels.transmit,
            direction.moving,
            direction.packed,
            direction.plan,
            direction.data,
            direction.results,
            direction.places,
            direction.poses,
        )
        self._tracked = 0

    def start(self, q: Values | None = None) -> None:
        """
        Start the next call from a configuration.

        Parameters
        ----------
        q : array_like, shape (nq,), or mapping of str to float, optional
            Joint values with closed loops [rad or m]; None = the present values of the joints.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> call = transmission.prepare_to_joints()
        >>> call.start(robot.q)  # not from the last result
        >>> call([0.3, 0.1]).converged
        True

        """
        with self._lock:
            self._q = self._solver.q if q is None else self._solver.checked_q(q)
            self._tracked = 0

    def __call__(
        self, position: Any, velocity: ArrayLike | None = None, effort: ArrayLike | None = None
    ) -> TransmissionState:
        """
        Return everything that follows from actuators or joint space.

        Parameters
        ----------
        position : array_like, shape (n,)
            As for `Transmission.to_joints` and `to_actuators`; arrays of float64 are fastest.
        velocity, effort : array_like, shape (n,), optional
            Of the same values.

        Returns
        -------
        TransmissionState
            STALLED if the position cannot be reached: the values are those at the end of the
            straight way to it.

        Raises
        ------
        ShapeError
            If an argument has the wrong shape or is not finite.

        """
        with self._lock:
            revision = self._revision
            if self._edits != revision.edits or (revision.lent and self._edits != revision.look()):
                self._prepare()
            transmit, joints, packed, plan, data, results, places, poses = self._arguments
            values, rates, efforts, size = self._inputs
            gives, count = GIVES_POSITION | self._tracked, size
            try:
                if poses:
                    self._give_poses(position)
                else:
                    values[:] = position
                    count = len(position)
                if velocity is not None:
                    rates[:] = velocity
                    gives |= GIVES_VELOCITY
                    count += len(velocity) - size  # type: ignore[arg-type]
                if effort is not None:
                    efforts[:] = effort
                    gives |= GIVES_EFFORT
                    count += len(effort) - size  # type: ignore[arg-type]
            except (ValueError, TypeError):
                count = -1
            if count != size:  # a single number, or one that would have been repeated
                self._refuse(position, velocity, effort)
            q = self._q.copy()
            status = transmit(q, joints, packed, plan, data, gives)
            if status == STATUS_REFUSED:
                self._tracked = 0
                self._refuse(position, velocity, effort)
                self.direction.chain.refuse(q, (np.zeros((0, 3)), np.zeros((0, 4))))
            self._q, self._tracked = q, TRACKED
            return TransmissionState(q, STATUSES[status], results.copy(), places, gives)

    def _give_poses(self, position: Any) -> None:
        self.direction.give_position(self.direction.given_position(position))

    def _refuse(self, *given: Any) -> None:
        """Raise the error for an argument with a wrong shape or number, if there is one."""
        self.direction.given_position(given[0])
        for name, values in zip(('velocity', 'effort'), given[1:], strict=True):
            if values is not None:
                finite(name, values, self._inputs[3])
