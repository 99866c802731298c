"""What a transmission returns: states, singularities, and bounds by limits of the actuators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import hypot
from typing import Any, NamedTuple

from ik_node.errors import listed
from ik_node.kernels.transmit import GIVES_EFFORT, GIVES_POSITION, GIVES_VELOCITY, RESULT_MISFIT
from ik_node.solver.problem.chain_problem import null_space, zero_of
from ik_node.solver.result import WithStatus
from ik_node.solver.status import Status
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Disagreements below this are not reported [rad/s or m/s].
AGREES = 1e-9
# Components up to which corners are computed.
MOST_COMPONENTS = 3
# Excess over a limit, as a share of it, that is rounding.
SLACK = 1e-9


def _part(index: int, gives: int) -> Any:
    """Return a property: a view of a part of the kernel's result, or None if it was not given."""

    def part(state: TransmissionState) -> Array | None:
        return state._numbers[state._parts[index]] if state._gives & gives else None

    return property(part)


class TransmissionState(WithStatus):
    """
    Positions, velocities and efforts of actuators and joint space that belong together.

    Velocities are time derivatives; of a link they are the linear velocity of its origin, then its
    angular velocity, root axes. Efforts are those that act on the mechanism, positive in the
    direction of the value. What was not given, and what follows from it, is None.

    Attributes
    ----------
    q : ndarray, shape (nq,)
        All joint values with closed loops [rad or m].
    status : Status
        CONVERGED, or STALLED if the position that was given cannot be had: the values are then
        those of the nearest configuration that was found.
    velocity, acceleration : ndarray, shape (nq,), or None
        Those of all joints [rad/s or m/s] and [rad/s^2 or m/s^2].
    actuator_position, joint_position : ndarray, shape (n_actuators,) and (n_joints,)
        [rad or m]; of a link position and rotation vector.
    actuator_velocity, joint_velocity : ndarray or None
        [rad/s or m/s]
    actuator_effort, joint_effort : ndarray or None
        [N m or N]
    actuator_acceleration, joint_acceleration : ndarray or None
        [rad/s^2 or m/s^2]

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('ankle')
    >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    >>> state = transmission.to_joints([0.3, 0.1], [1, 0], [5, 5], [0, 0])
    >>> state
    TransmissionState(CONVERGED, actuators [0.3 0.1], joints [0.218819 0.133901])
    >>> state.converged, state.success, state.message, state.joint_position.round(3).tolist()
    (True, True, '', [0.219, 0.134])
    >>> state.actuator_position.tolist(), state.actuator_velocity.tolist()
    ([0.3, 0.1], [1.0, 0.0])
    >>> state.joint_velocity.round(2).tolist(), state.velocity.shape, state.acceleration.shape
    ([0.51, 0.67], (8,), (8,))
    >>> state.actuator_effort.tolist(), state.joint_effort.round(1).tolist()
    ([5.0, 5.0], [9.3, 0.5])
    >>> state.actuator_acceleration.tolist(), state.joint_acceleration.shape
    ([0.0, 0.0], (2,))

    """

    status: Status = Status.CONVERGED
    # In the order of the kernel's result.
    actuator_position: Array = _part(0, GIVES_POSITION)
    joint_position: Array = _part(1, GIVES_POSITION)
    actuator_velocity: Array | None = _part(2, GIVES_VELOCITY)
    joint_velocity: Array | None = _part(3, GIVES_VELOCITY)
    actuator_effort: Array | None = _part(4, GIVES_EFFORT)
    joint_effort: Array | None = _part(5, GIVES_EFFORT)
    velocity: Array | None = _part(6, GIVES_VELOCITY)
    # Those are computed on demand.
    actuator_acceleration: Array | None = None
    joint_acceleration: Array | None = None
    acceleration: Array | None = None
    _said = ''

    def __init__(
        self, q: Array, status: Status, numbers: Array, parts: Sequence[slice], gives: int
    ) -> None:
        self.q, self.status = q, status
        self._numbers, self._parts, self._gives = numbers, parts, gives

    @property
    def message(self) -> str:
        """Return a sentence that names what differs from the input; '' = nothing does."""
        off = self._numbers[RESULT_MISFIT] if self._gives & GIVES_VELOCITY else 0.0
        more = [f'velocities that were given disagree by {off:.3g}'] if off > AGREES else []
        return '; '.join([self._said] * bool(self._said) + more)

    def __repr__(self) -> str:
        u, y = self.actuator_position.round(6), self.joint_position.round(6)
        return f'TransmissionState({self.status.name}, actuators {u}, joints {y})'


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
    >>> found.warning(0.01, robot.joint_names, transmission.joints)  # it is far from one
    ''

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
        return 1.0 / self.condition

    @property
    def condition(self) -> float:
        """Return the reciprocal of `nearness`; infinite in a singularity."""
        return hypot(1.0, max(self.ratio_1, self.ratio_2))

    def warning(self, threshold: float, names: Sequence[str], rows: Sequence[str]) -> str:
        """Return what is lost, by names of q and of rows; '' if neither nearness is below."""
        second = (
            f'near a singularity of type II (joints move by {self.ratio_2:.2g} rad or lengths per '
            f'unit of the actuators): the actuators lose hold of {_largest(self.lost_2, names)}'
        )
        first = (
            f'near a singularity of type I (actuators move by {self.ratio_1:.2g} rad or lengths '
            f'per unit of the joint space): {_largest(self.lost_1, rows)} can hardly be moved'
        )
        both = ((second, self.ratio_2), (first, self.ratio_1))
        return '; '.join(text for text, ratio in both if threshold * hypot(1.0, ratio) > 1.0)


def _largest(direction: Array, names: Sequence[str]) -> str:
    """Return the names of the largest parts of a direction."""
    size = np.abs(direction)
    chosen = np.flatnonzero(size > 0.3 * size.max(initial=0.0))[:4]
    return listed(names[at] for at in chosen.tolist())


@dataclass(frozen=True)
class Polytope:
    """
    The values that limits of the actuators allow: {y: |normals y| <= high}.

    Attributes
    ----------
    normals, high : ndarray, shape (m, n), (m,)
        Its faces; a face without limit has infinite bounds.
    reach : ndarray, shape (n,), or None
        The value of `upper`; None = a linear program finds it.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('ankle')
    >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    >>> speeds = transmission.joint_bounds(robot.q).velocity
    >>> speeds.upper.round(2).tolist(), speeds.alone.round(2).tolist()
    ([22.86, 26.67], [22.86, 26.67])
    >>> least, largest = speeds.inner
    >>> largest.round(2).tolist(), speeds.contains(largest), len(speeds.vertices)
    ([11.43, 13.33], True, 4)

    """

    normals: Array
    high: Array
    reach: Array | None = None

    @cached_property
    def vertices(self) -> Array | None:
        """Return the corners, (k, n), for up to three components; None = more, or not bounded."""
        n, bounded = self.normals.shape[1], np.isfinite(self.high)
        rows, high = self.normals[bounded], self.high[bounded]
        if n > MOST_COMPONENTS or len(rows) < n:
            return None
        chosen = np.array([*combinations(range(len(rows)), n)])
        sizes = np.linalg.svd(rows[chosen], compute_uv=False)
        chosen = chosen[sizes[:, -1] > zero_of(sizes)]
        if not len(chosen):
            return None
        signs = np.array([*product((-1.0, 1.0), repeat=n)])
        sides = (high[chosen][:, None] * signs)[..., None]
        corners = np.linalg.solve(rows[chosen][:, None], sides).reshape(-1, n)
        rounding = SLACK * (np.abs(corners) @ np.abs(rows).T)
        corners = corners[(np.abs(corners @ rows.T) <= high + rounding).all(axis=1)]
        alike = (corners / max(np.abs(corners).max(initial=0.0), 1e-300)).round(9)
        return np.asarray(corners[np.unique(alike, axis=0, return_index=True)[1]])

    @cached_property
    def upper(self) -> Array:
        """Return the largest value of each component, (n,); the least one is its negative."""
        if self.reach is not None:
            return self.reach
        from scipy.optimize import linprog

        bounded = np.isfinite(self.high)
        rows, high = self.normals[bounded], self.high[bounded]
        both = np.vstack([rows, -rows]), np.concatenate([high, high])
        ends = (linprog(-axis, *both, bounds=(None, None)) for axis in np.eye(rows.shape[1]))
        return np.array([np.inf if end.status else -end.fun for end in ends])

    @property
    def alone(self) -> Array:
        """Return the largest value of each component while the others are zero, shape (n,)."""
        with np.errstate(divide='ignore', invalid='ignore'):
            found: Array = np.nanmin(self.high[:, None] / np.abs(self.normals), 0, initial=np.inf)
        return found

    @property
    def inner(self) -> tuple[Array, Array]:
        """Return least and largest values, (n,), of a box inside, in proportion to `alone`."""
        size = self.alone
        bound = np.isfinite(size)
        along = np.abs(self.normals[:, bound]) @ size[bound]
        over = along > self.high
        size[bound] *= np.min(self.high[over] / along[over], initial=1.0)
        return -size, size

    def contains(self, values: Array) -> bool:
        """Return True if values are within the limits, up to a share of them."""
        along = np.abs(self.normals @ values)
        return bool((along <= self.high + SLACK * np.maximum(1.0, along)).all())


class JointBounds(NamedTuple):
    """
    What limits of the actuators leave to the joint space at one configuration.

    They are velocities [rad/s or m/s], and efforts [N m or N] without gravity.

    Examples
    --------
    >>> import ik_node as ik
    >>> robot = ik.load_robot('ankle')
    >>> transmission = robot.transmission(joints=['ankle_pitch', 'ankle_roll'])
    >>> transmission.joint_bounds(robot.q).effort.upper.shape
    (2,)

    """

    velocity: Polytope
    effort: Polytope


def joint_bounds(ratio: Array, speeds: Array, efforts: Array) -> JointBounds:
    """
    Return the bounds by the limits (m,) of the actuators, for a ratio J (n, m).

    Velocities J u with |u_a| <= speed_a are a zonotope. Its faces are normal to the directions
    that n - 1 generators leave. Efforts y are those with |(J^T y)_a| <= effort_a.
    """
    n, m = ratio.shape
    flat = null_space(ratio.T).T  # normal to all generators: no velocity along these
    spaces = (
        null_space(np.vstack([ratio[:, list(chosen)].T, flat]))
        for chosen in combinations(range(m), max(n - len(flat) - 1, 0))
    )
    normals = np.vstack([flat, *(across.T for across in spaces if across.shape[1] == 1)])
    shares = np.abs(np.vstack([normals, np.eye(n)]) @ ratio)
    shares[shares <= zero_of(shares.ravel())] = 0.0
    with np.errstate(invalid='ignore'):
        high = np.nansum(shares * speeds, axis=1)  # 0 * inf does not count
    return JointBounds(Polytope(normals, high[:-n], high[-n:]), Polytope(ratio.T.copy(), efforts))
