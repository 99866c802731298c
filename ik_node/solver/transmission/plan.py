# flake8: noqa: E203
"""A plan in the joint space as a plan of the actuators, with loops closed between its points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ik_node.errors import IkError, plain, PlanError, ShapeError
from ik_node.model.given import numbers
from ik_node.solver.pose import Values
from ik_node.solver.status import Status
from ik_node.solver.transmission.transmission import Transmission
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Largest distance between the start and a first point at time 0 [rad or m], as in MoveIt.
START_TOLERANCE = 0.01
# Points that are nearer in time than this are not divided any further [s].
SHORTEST = 1e-4
# Shares of the way between two points at which the loops are examined.
BETWEEN = (0.25, 0.5, 0.75)
MOST_POINTS = 20_000
# Allowed excess over a limit, for rounding.
SLACK = 1e-6


@dataclass(frozen=True)
class ActuatorPlan:
    """
    A plan of the actuators, made by `actuator_plan`.

    Attributes
    ----------
    actuators : tuple of str
        Names of the actuators' values.
    times : ndarray, shape (n,)
        Times from the start [s].
    position, velocity, acceleration : ndarray, shape (n, n_actuators)
        [rad or m] and their time derivatives.
    effort : ndarray, shape (n, n_actuators), or None
        [N m or N]; None if the plan has no efforts.
    q : ndarray, shape (n, nq)
        All joint values, loops closed [rad or m].
    given : ndarray of bool, shape (n,)
        True for the points of the plan, False for those that were added.

    """

    actuators: tuple[str, ...]
    times: Array
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array | None
    q: Array
    given: NDArray[np.bool_]


@dataclass
class _Point:
    time: float
    q: Array
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array | None
    given: bool = False


def actuator_plan(
    transmission: Transmission,
    times: ArrayLike,
    position: ArrayLike,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    effort: ArrayLike | None = None,
    *,
    q0: Values,
    tolerance: float = 1e-4,
    effort_scale: float = 1.0,
    is_replaced: Callable[[], bool] = bool,
) -> ActuatorPlan:
    """
    Return the plan of the actuators for a plan in the joint space, after all limits are checked.

    Between points the plan is what a joint_trajectory_controller makes of it: cubic by positions
    and velocities, quintic if there are accelerations. Missing velocities are those of a monotone
    cubic (Fritsch & Carlson 1980) that is at rest at both ends. Points are added until straight
    interpolation of all joints, passive ones included, opens no loop by more than the tolerance.

    Parameters
    ----------
    transmission : Transmission
        Its joint space consists of joints, without links.
    times : array_like, shape (n,)
        Times from the start, increasing [s].
    position : array_like, shape (n, n_joints)
        Joint values in the order of `Transmission.joints` [rad or m].
    velocity, acceleration, effort : array_like, shape (n, n_joints), optional
        [rad/s or m/s], [rad/s^2 or m/s^2], [N m or N]. Without velocities, accelerations do not
        count.
    q0 : array_like, shape (nq,), or mapping of str to float
        Configuration at time 0, at rest, with closed loops [rad or m]; it decides the assembly.
    tolerance : float
        Largest opening of a loop between points [m or rad].
    effort_scale : float
        Share of the actuators' effort limits that may be used.
    is_replaced : callable
        Called between points; once it returns True, the plan is given up.

    Returns
    -------
    ActuatorPlan
        Its points include all given ones, with their times.

    Raises
    ------
    PlanError
        If a point cannot be reached or exceeds a limit; the message gives its time and the joint.
        Also if the plan is given up.
    ShapeError
        If an argument has the wrong shape or is not finite.

    References
    ----------
    Fritsch & Carlson, Monotone piecewise cubic interpolation, 1980.

    """
    count = len(transmission.joints)
    at = numbers('times', times)
    if at.ndim != 1 or not len(at) or not np.isfinite(at).all():
        raise ShapeError('times', 'shape (n,) with n > 0, finite', f'shape {at.shape}')
    if at[0] < 0.0 or (np.diff(at) <= 0.0).any():
        raise PlanError('times must begin at 0 or later, and increase')
    shape = (len(at), count)
    planner = _Planner(transmission, q0, tolerance, effort_scale, is_replaced)
    return planner.plan(
        at,
        _matrix('position', position, shape),
        None if velocity is None else _matrix('velocity', velocity, shape),
        None if acceleration is None else _matrix('acceleration', acceleration, shape),
        None if effort is None else _matrix('effort', effort, shape),
    )


def _matrix(name: str, given: Any, shape: tuple[int, int]) -> Array:
    values = numbers(name, given)
    if values.shape != shape or not np.isfinite(values).all():
        raise ShapeError(name, f'shape {shape}, finite', f'shape {values.shape}')
    return values


class _Planner:
    """The transmission, start and limits of one plan."""

    def __init__(
        self,
        transmission: Transmission,
        q0: Values,
        tolerance: float,
        effort_scale: float,
        is_replaced: Callable[[], bool],
    ) -> None:
        self._transmission = transmission
        self._is_replaced = is_replaced
        solver = transmission.solver
        self._names: Sequence[str] = solver.joint_names
        self._q0 = solver.checked_q(q0)
        self._start = self._q0[[self._names.index(name) for name in transmission.joints]]
        self._tolerance = max(tolerance, 2.0 * transmission.loop_error(self._q0))
        places = [self._names.index(name) for name in transmission.actuators]
        axes = [solver.tree.owner[place] for place in places]
        self._max_velocity = np.array([joint._max_velocity[dof] for joint, dof in axes])
        self._max_effort = effort_scale * np.array([joint._max_effort[dof] for joint, dof in axes])
        self._curve: Any = None
        self._times = np.zeros(0)
        self._efforts: Array | None = None

    def plan(
        self,
        times: Array,
        position: Array,
        velocity: Array | None,
        acceleration: Array | None,
        effort: Array | None,
    ) -> ActuatorPlan:
        """Return the plan of the actuators."""
        self._times, self._efforts = times, effort
        if times[0] == 0.0:
            far = np.abs(position[0] - self._start)
            worst = int(far.argmax())
            if far[worst] > START_TOLERANCE:
                name = self._transmission.joints[worst]
                raise PlanError(
                    f'the first point is at time 0, but {plain(name)} is {far[worst]:.3g} from it'
                )
            at = times
        else:
            at = np.append(0.0, times)
            position = np.vstack([self._start, position])
            rest = np.zeros((1, position.shape[1]))
            velocity = None if velocity is None else np.vstack([rest, velocity])
            acceleration = None if acceleration is None else np.vstack([rest, acceleration])
        self._curve = _curve(at, position, velocity, acceleration)
        points = [self._point(float(at[0]), self._q0)]
        for time in at[1:].tolist():
            self._divide(points, self._point(time, points[-1].q))
        points = points[1:] if at is not times else points
        for point in points:
            point.given = point.time in times
        return ActuatorPlan(
            tuple(self._transmission.actuators),
            np.array([point.time for point in points]),
            np.array([point.position for point in points]),
            np.array([point.velocity for point in points]),
            np.array([point.acceleration for point in points]),
            None if effort is None else np.array([point.effort for point in points]),
            np.array([point.q for point in points]),
            np.array([point.given for point in points]),
        )

    def _divide(self, points: list[_Point], end: _Point) -> None:
        """Append points up to `end`, close enough to each other for straight interpolation."""
        waiting = [end]
        while waiting:
            before, after = points[-1], waiting[-1]
            span = after.time - before.time
            if self._is_straight(before.q, after.q):
                self._check_speed(before, after)
                points.append(waiting.pop())
            elif span <= SHORTEST:
                raise PlanError(
                    f'at {before.time:.4g} s the joints jump: no points between keep the loops '
                    f'closed to {self._tolerance:.3g}'
                )
            elif len(points) + len(waiting) >= MOST_POINTS:
                raise PlanError(f'the plan needs more than {MOST_POINTS} points')
            else:
                waiting.append(self._point(before.time + 0.5 * span, before.q))

    def _is_straight(self, before: Array, after: Array) -> bool:
        return all(
            self._transmission.loop_error(before + share * (after - before)) <= self._tolerance
            for share in BETWEEN
        )

    def _point(self, time: float, q0: Array) -> _Point:
        """Return the state of the actuators at a time, within their limits."""
        if self._is_replaced():
            raise PlanError('a newer plan has arrived in the meantime')
        wanted, rates, changes = (self._curve(time, order) for order in range(3))
        effort = None
        if self._efforts is not None:
            rows = self._efforts.T
            effort = np.array([np.interp(time, self._times, row) for row in rows])
        try:
            state = self._transmission.to_actuators(wanted, rates, effort, changes, q0=q0)
        except IkError as error:
            raise PlanError(f'at {time:.4g} s: {error}') from error
        if state.status is not Status.CONVERGED:
            far = np.abs(state.joint_position - wanted)
            worst = int(far.argmax())
            name = plain(self._transmission.joints[worst])
            raise PlanError(
                f'at {time:.4g} s {name} cannot be at {wanted[worst]:.6g}, only at '
                f'{state.joint_position[worst]:.6g}: {state.message or "the motors end there"}'
            )
        point = _Point(
            time,
            state.q.copy(),
            state.actuator_position.copy(),
            _known(state.actuator_velocity),
            _known(state.actuator_acceleration),
            None if effort is None else _known(state.actuator_effort),
        )
        self._check('velocity', time, point.velocity, self._max_velocity)
        if point.effort is not None:
            self._check('effort', time, point.effort, self._max_effort)
        return point

    def _check(self, what: str, time: float, values: Array, limits: Array) -> None:
        """Refuse a state that is not finite or beyond a limit of an actuator."""
        within = np.abs(values) <= (1.0 + SLACK) * limits
        if not within.all():
            worst = int(within.argmin())
            name = plain(self._transmission.actuators[worst])
            raise PlanError(
                f'at {time:.4g} s the {what} of {name} is {values[worst]:.4g}, and its limit is '
                f'{limits[worst]:.4g}'
            )

    def _check_speed(self, before: _Point, after: _Point) -> None:
        span = after.time - before.time
        speed = (after.position - before.position) / span
        self._check('mean velocity', before.time, speed, self._max_velocity)


def _known(values: Array | None) -> Array:
    """Return values that were given and so are known."""
    return np.zeros(0) if values is None else values.copy()


def _curve(
    times: Array, position: Array, velocity: Array | None, acceleration: Array | None
) -> Any:
    """Return a function (time, order of the derivative) -> (n_joints,)."""
    from scipy.interpolate import BPoly, PchipInterpolator

    if len(times) == 1:
        values = [position[0], np.zeros(position.shape[1]), np.zeros(position.shape[1])]
        if velocity is not None:
            values[1] = velocity[0]
        return lambda time, order: values[order]
    if velocity is None:
        velocity, acceleration = PchipInterpolator(times, position).derivative()(times), None
        velocity[[0, -1]] = 0.0
    knots: list[Any] = [position, velocity]
    if acceleration is not None:
        knots.append(acceleration)
    curve = BPoly.from_derivatives(times, np.stack(knots, axis=1))
    return lambda time, order: _derivative(curve, times, time, order)


def _derivative(curve: Any, times: Array, time: float, order: int) -> Array:
    """Return a derivative; where the second one jumps, the mean of both sides."""
    here: Array = curve(time, nu=order)
    at = int(np.searchsorted(times, time))
    if order < 2 or not 0 < at < len(times) - 1 or times[at] != time:
        return here
    step = 1e-9 * (times[at] - times[at - 1])
    mean: Array = 0.5 * (here + curve(time - step, nu=order))
    return mean
