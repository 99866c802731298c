"""What a transmission returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ik_node.display import html_table, html_text, public_names, Rows, table
from ik_node.errors import listed
from ik_node.kernels.transmit import GIVES_EFFORT, GIVES_VELOCITY, RESULT_MISFIT
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The fields of `kernels.transmit.Transmit` that a state copies: they follow each other.
FIRST, LAST = 'numbers', 'row_effort'
# The units of a ratio of speeds, in messages.
UNITS = 'rad or lengths per unit'
# Disagreements below this are not reported [rad/s or m/s].
AGREES = 1e-9


class TransmissionState:
    """
    Positions, velocities and efforts of actuators and joint space that belong together.

    Velocities are time derivatives; of a link they are the linear velocity of its origin, then its
    angular velocity, root axes. Efforts are those that act on the mechanism, positive in the
    direction of the value.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        All joint values with closed loops [rad or m].
    status : Status
        CONVERGED, or STALLED if the position that was given cannot be had: the values are then
        those of the nearest configuration that was found.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('ankle')
    >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    >>> state = transmission.to_joints([0.3, 0.1], [1, 0], [5, 5], [0, 0])
    >>> state.converged, state.message, state.joint_position.round(3).tolist()
    (True, '', [0.219, 0.134])
    >>> state.actuator_position.tolist(), state.actuator_velocity.tolist()
    ([0.3, 0.1], [1.0, 0.0])
    >>> state.joint_velocity.round(2).tolist(), state.velocity.shape, state.acceleration.shape
    ([0.51, 0.67], (8,), (8,))
    >>> state.actuator_effort.tolist(), state.joint_effort.round(1).tolist()
    ([5.0, 5.0], [9.3, 0.5])
    >>> state.actuator_acceleration.tolist(), state.joint_acceleration.shape, len(state.as_dict())
    ([0.0, 0.0], (2,), 13)

    """

    __slots__ = ('_accelerations', '_gives', '_numbers', '_places', '_said', 'q', 'status')

    def __init__(
        self,
        q: Array,
        status: Status,
        numbers: Array,
        places: Mapping[str, tuple[int, int]],
        gives: int,
        said: str = '',
    ) -> None:
        self.q = q
        self.status = status
        self._numbers = numbers
        self._places = places
        self._gives = gives
        self._said = said
        self._accelerations: tuple[Array, Array, Array] | None = None

    _internal = ('add_accelerations',)
    __dir__ = public_names

    def _part(self, name: str) -> Array:
        first, last = self._places[name]
        return self._numbers[first:last]

    def _rate(self, name: str) -> Array | None:
        return self._part(name) if self._gives & GIVES_VELOCITY else None

    def _effort(self, name: str) -> Array | None:
        return self._part(name) if self._gives & GIVES_EFFORT else None

    @property
    def converged(self) -> bool:
        """Return True if the position that was given is reached, and the loops are closed."""
        return self.status is Status.CONVERGED

    @property
    def message(self) -> str:
        """Return a sentence that names what differs from the input; '' = nothing does."""
        off = self._numbers[RESULT_MISFIT] if self._gives & GIVES_VELOCITY else 0.0
        if not off > AGREES:
            return self._said
        more = f'velocities that were given disagree by {off:.3g}'
        return f'{self._said}; {more}' if self._said else more

    @property
    def velocity(self) -> Array | None:
        """Return the velocities of all joints, shape (nq,) [rad/s or m/s]."""
        return self._rate('velocity')

    @property
    def actuator_position(self) -> Array:
        """Return the values of the actuators, shape (n_actuators,) [rad or m]."""
        return self._part('act_position')

    @property
    def actuator_velocity(self) -> Array | None:
        """Return the velocities of the actuators, shape (n_actuators,) [rad/s or m/s]."""
        return self._rate('act_velocity')

    @property
    def actuator_effort(self) -> Array | None:
        """Return the efforts of the actuators, shape (n_actuators,) [N m or N]."""
        return self._effort('act_effort')

    @property
    def joint_position(self) -> Array:
        """Return the joint space, shape (n_joints,); of a link position and rotation vector."""
        return self._part('row_position')

    @property
    def joint_velocity(self) -> Array | None:
        """Return its velocities, shape (n_joints,) [rad/s or m/s]."""
        return self._rate('row_velocity')

    @property
    def joint_effort(self) -> Array | None:
        """Return its efforts, shape (n_joints,) [N m or N]."""
        return self._effort('row_effort')

    @property
    def actuator_acceleration(self) -> Array | None:
        """Return the accelerations of the actuators, shape (n_actuators,); None = not given."""
        return None if self._accelerations is None else self._accelerations[0]

    @property
    def joint_acceleration(self) -> Array | None:
        """Return those of the joint space, shape (n_joints,) [rad/s^2 or m/s^2]."""
        return None if self._accelerations is None else self._accelerations[1]

    @property
    def acceleration(self) -> Array | None:
        """Return those of all joints, shape (nq,) [rad/s^2 or m/s^2]."""
        return None if self._accelerations is None else self._accelerations[2]

    def add_accelerations(self, actuators: Array, rows: Array, joints: Array) -> None:
        """Complete the state by the accelerations of actuators, joint space and all joints."""
        self._accelerations = (actuators, rows, joints)

    def _rows(self) -> Rows:
        rows: list[Sequence[str]] = [('', 'position', 'velocity', 'effort', 'acceleration')]
        for kind in ('actuator', 'joint'):
            columns = [getattr(self, f'{kind}_{what}') for what in rows[0][1:]]
            for at in range(len(columns[0])):
                cells = ('' if column is None else f'{column[at]:.6g}' for column in columns)
                rows.append((f'{kind} {at}', *cells))
        return rows

    def __repr__(self) -> str:
        head = f'TransmissionState: {self.status.name}'
        return '\n'.join(
            [head + (f', {self.message}' if self.message else ''), *table(self._rows())]
        )

    def _repr_html_(self) -> str:
        text = f'{self.status.name} {self.message}'
        return html_text(text) + html_table(self._rows())

    def as_dict(self) -> dict[str, Any]:
        """Return everything in plain types, as for JSON."""
        found: dict[str, Any] = {'status': self.status.name, 'message': self.message}
        for name in ('q', 'velocity', 'acceleration'):
            found[name] = _plain(getattr(self, name))
        for kind in ('actuator', 'joint'):
            for what in ('position', 'velocity', 'effort', 'acceleration'):
                found[f'{kind}_{what}'] = _plain(getattr(self, f'{kind}_{what}'))
        return found


def _plain(values: Array | None) -> list[float] | None:
    return None if values is None else values.tolist()


@dataclass(frozen=True)
class Singularity:
    """
    How near a configuration is to a singularity, in [rad] and characteristic lengths.

    Attributes
    ----------
    type_1 : (float, float)
        Smallest and largest singular value of the motion of the joint space, over all motions of
        the loops with unit speed. Near zero some direction of the joint space is lost: it cannot
        be moved, and carries any load there (Gosselin and Angeles 1990).
    type_2 : (float, float)
        The same for the motion of the actuators. Near zero the actuators lose hold of the
        mechanism: it moves while they stand still, and no effort of theirs acts on it.
    lost_1 : ndarray, shape (n_joints,)
        The direction of the joint space that is nearest to being lost.
    lost_2 : ndarray, shape (nq,)
        The motion of all joints that the actuators hold least.
    ratio_1 : float
        Largest speed of an actuator outside the joint space while the joint space moves with unit
        speed, in the direction that needs most; infinite in a singularity of type I.
    ratio_2 : float
        Largest speed of a passive joint while the actuators move with unit speed; infinite in a
        singularity of type II.

    References
    ----------
    Gosselin & Angeles, Singularity analysis of closed-loop kinematic chains, 1990.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('ankle')
    >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    >>> found = transmission.singularity(robot.q)
    >>> found.nearness > 0.1, found.condition < 10.0
    (True, True)

    """

    type_1: tuple[float, float]
    type_2: tuple[float, float]
    lost_1: Array
    lost_2: Array
    ratio_1: float
    ratio_2: float

    @property
    def nearness(self) -> float:
        """
        Return 1 / sqrt(1 + r^2) with the larger ratio r: 0 in a singularity, at most 1.

        It means the same for any number of motors: at 0.01, some joint moves a hundred times as
        fast as the motors that move it, or some motor as the joints.
        """
        return _nearness(max(self.ratio_1, self.ratio_2))

    @property
    def condition(self) -> float:
        """Return the reciprocal of `nearness`; infinite in a singularity."""
        return 1.0 / self.nearness if self.nearness > 0.0 else np.inf

    def warning(self, threshold: float, names: Sequence[str], rows: Sequence[str]) -> str:
        """
        Return a sentence that names the singularity and what is lost; '' above the threshold.

        Parameters
        ----------
        threshold : float
            Least nearness to each type of singularity without a warning.
        names, rows : sequence of str
            Names of the joint values, and of the rows of the joint space.

        Examples
        --------
        >>> import ik_node as ik
        >>> robot = ik.load_robot('ankle')
        >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
        >>> found = transmission.singularity(robot.q)
        >>> found.warning(0.01, robot.joint_names, transmission.joints)  # it is far from one
        ''

        """
        found = []
        if _nearness(self.ratio_2) < threshold:
            found.append(
                f'near a singularity of type II (joints move by {self.ratio_2:.2g} {UNITS} of the '
                f'actuators): the actuators lose hold of {_largest(self.lost_2, names)}'
            )
        if _nearness(self.ratio_1) < threshold:
            found.append(
                f'near a singularity of type I (actuators move by {self.ratio_1:.2g} {UNITS} of '
                f'the joint space): {_largest(self.lost_1, rows)} can hardly be moved'
            )
        return '; '.join(found)


def _nearness(ratio: float) -> float:
    return float(1.0 / np.hypot(1.0, ratio))


def _largest(direction: Array, names: Sequence[str]) -> str:
    """Return the names of the largest parts of a direction."""
    size = np.abs(direction)
    chosen = np.flatnonzero(size > 0.3 * size.max(initial=0.0))[:4]
    return listed(names[at] for at in chosen.tolist())


@dataclass(frozen=True)
class Polytope:
    """
    The values that limits of the actuators allow: {y: low <= normals y <= high}.

    Attributes
    ----------
    lower, upper : ndarray, shape (n,)
        Least and largest value of each component.
    normals, low, high : ndarray, shape (m, n), (m,), (m,)
        Its faces; a face without limit has infinite bounds.
    vertices : ndarray, shape (k, n), or None
        Its corners for up to three components; None = it has more, or is not bounded.
    inner : (ndarray, ndarray)
        A box inside: lower and upper bounds, (n,), that may be used one by one. It is the
        polytope's box shrunk about zero.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('ankle')
    >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    >>> speeds = transmission.joint_bounds(robot.q).velocity
    >>> speeds.upper.round(2).tolist(), speeds.alone.round(2).tolist()
    ([22.86, 26.67], [22.86, 26.67])
    >>> speeds.contains([0.1, 0.1])
    True

    """

    lower: Array
    upper: Array
    normals: Array
    low: Array
    high: Array
    vertices: Array | None
    inner: tuple[Array, Array]

    @property
    def alone(self) -> Array:
        """Return the largest value of each component while the others are zero, shape (n,)."""
        with np.errstate(divide='ignore'):
            found: Array = (self.high[:, None] / np.abs(self.normals)).min(axis=0, initial=np.inf)
        return found

    def contains(self, values: Array, slack: float = 1e-9) -> bool:
        """Return True if values are within the limits, up to a share of them."""
        along = self.normals @ values
        size = slack * np.maximum(1.0, np.abs(along))
        return bool(((along >= self.low - size) & (along <= self.high + size)).all())


@dataclass(frozen=True)
class JointBounds:
    """
    What limits of the actuators leave to the joint space at one configuration.

    Attributes
    ----------
    velocity : Polytope
        Velocities [rad/s or m/s].
    effort : Polytope
        Efforts [N m or N], without gravity.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('ankle')
    >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    >>> bounds = transmission.joint_bounds(robot.q)
    >>> len(bounds.velocity.vertices), bounds.effort.upper.shape
    (4, (2,))

    """

    velocity: Polytope
    effort: Polytope
