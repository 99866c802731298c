"""A plan in the joint space as a plan of the actuators, with loops closed between its points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ik_node.errors import PlanError, ShapeError
from ik_node.model.given import numbers
from ik_node.solver.pose import Values
from ik_node.transmission.state import TransmissionState
from ik_node.transmission.transmission import Transmission
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Largest distance between the start and a first point at time 0 [rad or m], as in MoveIt.
START_TOLERANCE = 0.01
# Points that are nearer in time than this are not divided any further [s].
SHORTEST = 1e-4
# Shares of the way between two points at which the loops are examined.
BETWEEN = (0.5, 0.25, 0.75)
# Step of the differences of velocities that give accelerations [s], and as a share of the time to
# the next point.
DIFFERENCE, SHARE_OF_SPAN = 1e-3, 0.2
# A whole turn [rad], and the share of it by which half a turn may be rounded, as in
# joint_trajectory_controller.
TURN, HALF_TURN = 2.0 * np.pi, 1e-9
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


class _Point(NamedTuple):
    time: float
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array | None
    q: Array


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
        [rad/s or m/s], [rad/s^2 or m/s^2], [N m or N]. A velocity that is NaN is missing. If some
        are missing, accelerations do not count.
    q0 : array_like, shape (nq,), or mapping of str to float
        Configuration at time 0, at rest, with closed loops [rad or m]; it decides the assembly. If
        an angle has no limits, the plan is shifted by whole turns to the one nearest to q0.
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
    at = numbers('times', times)
    if at.ndim != 1 or not len(at) or not np.isfinite(at).all():
        raise ShapeError('times', 'shape (n,) with n > 0, finite', f'shape {at.shape}')
    if at[0] < 0.0 or (np.diff(at) <= 0.0).any():
        raise PlanError('times must begin at 0 or later, and increase')
    given = {'position': position, 'velocity': velocity, 'acceleration': acceleration}
    shape, rows = (len(at), len(transmission.joints)), []
    for name, part in {**given, 'effort': effort}.items():
        values = None if part is None else numbers(name, part)
        if values is not None:
            usable = ~np.isinf(values) if name == 'velocity' else np.isfinite(values)
            if values.shape != shape or not usable.all():
                raise ShapeError(name, f'shape {shape}, finite', f'shape {values.shape}')
        rows.append(values)
    planner = _Planner(transmission, q0, tolerance, effort_scale, is_replaced)
    return planner.plan(at, *rows)  # type: ignore[arg-type]  # there are positions


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
        self._transmission, self._is_replaced = transmission, is_replaced
        self._prepared, solver = transmission.prepare_to_actuators(), transmission.solver
        self._q0 = solver.checked_q(q0)
        tree, names = solver.tree, (transmission.joints, transmission.actuators)
        places, motors = ([tree.names.index(name) for name in each] for each in names)
        self._start, limits = self._q0[places], np.array(solver.limits())[:, places]
        # Angles without limits, which whole turns do not change.
        rotates = np.array([tree.owner[place][1].is_rotation for place in places])
        self._turning = rotates & np.isinf(limits).all(axis=0)
        self._tolerance = max(tolerance, 2.0 * transmission.loop_error(self._q0))
        efforts = effort_scale * tree.max_effort[motors]
        self._limits = {'velocity': tree.max_velocity[motors], 'effort': efforts}

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
        # Whole turns bring the plan nearest to the start; half a turn is in the plan's direction.
        away = position[0] - self._start
        turns = np.round(away / TURN - HALF_TURN * np.sign(away))
        position = position - np.where(self._turning, turns * TURN, 0.0)
        begins_later = int(times[0] > 0.0)
        if begins_later:
            # The plan begins at the start, at rest.
            rest = np.zeros((1, position.shape[1]))
            position = np.vstack([self._start, position])
            velocity = None if velocity is None else np.vstack([rest, velocity])
            acceleration = None if acceleration is None else np.vstack([rest, acceleration])
            times = np.append(0.0, times)
        far = np.abs(position[0] - self._start)
        worst = int(far.argmax())
        if far[worst] > START_TOLERANCE:
            name = self._transmission.joints[worst]
            raise PlanError(
                f'the first point is at time 0, but {name} is {far[worst]:.3g} from it'
            )
        curve = _curve(times, position, velocity, acceleration)
        self._curves = curve, curve.derivative()
        self._prepared.start(self._q0)
        gaps = np.concatenate(([np.inf], np.diff(times), [np.inf]))
        spans = np.minimum(gaps[:-1], gaps[1:]).tolist()
        points = [self._point(times[0], self._q0, spans[0])]
        for time, span in zip(times[1:].tolist(), spans[1:], strict=True):
            self._divide(points, self._point(time, points[-1].q, span))
        columns = zip(*points[begins_later:], strict=True)
        moments, position, velocity, acceleration, efforts, q = map(np.array, columns)
        return ActuatorPlan(
            tuple(self._transmission.actuators),
            *(moments, position, velocity, acceleration),
            *(None if effort is None else efforts, q, np.isin(moments, self._times)),
        )

    def _divide(self, points: list[_Point], end: _Point) -> None:
        """Append points up to `end`, close enough to each other for straight interpolation."""
        waiting = [end]
        while waiting:
            before, after = points[-1], waiting[-1]
            span = after.time - before.time
            between = (before.q + share * (after.q - before.q) for share in BETWEEN)
            if all(self._transmission.loop_error(q) <= self._tolerance for q in between):
                speed = (after.position - before.position) / span
                self._check('mean velocity', before.time, speed)
                points.append(waiting.pop())
            elif span <= SHORTEST:
                raise PlanError(
                    f'at {before.time:.4g} s the joints jump: no points between keep the loops '
                    f'closed to {self._tolerance:.3g}'
                )
            elif len(points) + len(waiting) >= MOST_POINTS:
                raise PlanError(f'the plan needs more than {MOST_POINTS} points')
            else:
                self._prepared.start(before.q)
                waiting.append(self._point(before.time + 0.5 * span, before.q, span))
                self._prepared.start(after.q)

    def _point(self, time: float, q: Array, span: float) -> _Point:
        """
        Return the state of the actuators at a time, within their limits.

        `q` (nq,) is the configuration before, `span` the distance in time from neighbours [s].
        """
        if self._is_replaced():
            raise PlanError('a newer plan has arrived in the meantime')
        step = min(DIFFERENCE, SHARE_OF_SPAN * span)
        stencil = time + step * np.array((0.0, -1.0, 1.0))
        positions, rates = (curve(stencil) for curve in self._curves)
        effort = None
        if self._efforts is not None:
            effort = np.array([np.interp(time, self._times, row) for row in self._efforts.T])
        state = self._prepared(positions[0], rates[0], effort)
        if not state.converged:
            state = self._nearest(time, positions[0], rates[0], effort, q)
        velocity = np.asarray(state.actuator_velocity)
        self._check('velocity', time, velocity)
        if effort is not None:
            self._check('effort', time, np.asarray(state.actuator_effort))
        acceleration = np.zeros_like(velocity)
        if rates.any():
            around = zip(positions[1:], rates[1:], strict=True)
            before, after = (np.asarray(self._prepared(*at).actuator_velocity) for at in around)
            acceleration = (after - before) / (2.0 * step)
        position, efforts = state.actuator_position, state.actuator_effort
        return _Point(time, position, velocity, acceleration, efforts, state.q)

    def _nearest(
        self, time: float, position: Array, rates: Array, effort: Array | None, q0: Array
    ) -> TransmissionState:
        """Return the state at a time from another start; raise an error if there is none."""
        state = self._transmission.to_actuators(position, rates, effort, q0=q0)
        if not state.converged:
            worst = int(np.abs(state.joint_position - position).argmax())
            name = self._transmission.joints[worst]
            raise PlanError(
                f'at {time:.4g} s {name} cannot be at {position[worst]:.6g}, only at '
                f'{state.joint_position[worst]:.6g}: {state.message or "the motors end there"}'
            )
        self._prepared.start(state.q)
        return state

    def _check(self, what: str, time: float, values: Array) -> None:
        """Refuse a state that is not finite or beyond a limit of an actuator."""
        limits = self._limits[what.split()[-1]]
        within = np.abs(values) <= (1.0 + SLACK) * limits
        if not within.all():
            worst = int(within.argmin())
            name = self._transmission.actuators[worst]
            raise PlanError(
                f'at {time:.4g} s the {what} of {name} is {values[worst]:.4g}, and its limit is '
                f'{limits[worst]:.4g}'
            )


def _curve(
    times: Array, position: Array, velocity: Array | None, acceleration: Array | None
) -> Any:
    """
    Return the joint values over time, a piecewise polynomial of SciPy.

    The curve is cubic by positions and velocities, quintic with accelerations. A velocity that is
    NaN is that of a monotone cubic, a weighted harmonic mean, which rests at both ends.
    """
    from scipy.interpolate import BPoly, PchipInterpolator

    missing = np.isnan(np.full_like(position, np.nan) if velocity is None else velocity)
    velocity = np.zeros_like(position) if velocity is None else np.where(missing, 0.0, velocity)
    if len(times) == 1:
        times, acceleration = times[0] + np.array((0.0, 1.0)), None
        position, velocity = np.vstack([position, position + velocity]), velocity.repeat(2, axis=0)
    elif missing.any():
        monotone: Array = PchipInterpolator(times, position).derivative()(times)
        monotone[[0, -1]] = 0.0
        velocity, acceleration = np.where(missing, monotone, velocity), None
    derivatives = [position, velocity, *([] if acceleration is None else [acceleration])]
    return BPoly.from_derivatives(times, np.stack(derivatives, 1))
