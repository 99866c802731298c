"""A plan in the joint space as a plan of the actuators, with loops closed between its points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ik_node.errors import PlanError, ShapeError
from ik_node.model.given import finite, numbers
from ik_node.model.rotation import TURN
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
# Share of a turn by which half a turn may be rounded, as in joint_trajectory_controller.
HALF_TURN = 1e-9
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


# A time [s] and the state there.
_Point = tuple[float, TransmissionState]


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
    at = finite('times', times)
    if at.ndim != 1 or not len(at):
        raise ShapeError('times', 'shape (n,) with n > 0', f'shape {at.shape}')
    if at[0] < 0.0 or (np.diff(at) <= 0.0).any():
        raise PlanError('times must begin at 0 or later, and increase')
    shape = (len(at), len(transmission.joints))
    given = {'position': position, 'velocity': velocity, 'acceleration': acceleration}
    rows = {'velocity': np.full(shape, np.nan), 'effort': np.zeros(shape)}
    for name, part in {**given, 'effort': effort}.items():
        if part is not None:
            rows[name] = (numbers if name == 'velocity' else finite)(name, part)
            if rows[name].shape != shape:
                raise ShapeError(name, f'shape {shape}', f'shape {rows[name].shape}')
    solver, tree = transmission.solver, transmission.solver.tree
    begin = solver.checked_q(q0)
    places = [tree.names.index(name) for name in transmission.joints]
    start = begin[places]
    # Whole turns bring angles without limits nearest to the start; half a turn stays as it is.
    rotates = np.array([tree.owner[place][1].is_rotation for place in places])
    turning = rotates & np.isinf(np.array(solver.limits())[:, places]).all(axis=0)
    away = rows['position'][0] - start
    turns = np.round(away / TURN - HALF_TURN * np.sign(away))
    rows['position'] -= np.where(turning, turns * TURN, 0.0)
    begins_later = int(at[0] > 0.0)
    if begins_later:  # The plan begins at the start, at rest.
        first = {'position': start, 'effort': rows['effort'][0]}
        at, rest = np.append(0.0, at), np.zeros_like(start)
        rows = {name: np.vstack([first.get(name, rest), part]) for name, part in rows.items()}
    far = np.abs(rows['position'][0] - start)
    worst = int(far.argmax())
    if far[worst] > START_TOLERANCE:
        name = transmission.joints[worst]
        raise PlanError(f'the first point is at time 0, but {name} is {far[worst]:.3g} from it')
    tolerance = max(tolerance, 2.0 * transmission.loop_error(begin))
    way = _Way(transmission, _curve(at, rows), tolerance, is_replaced)
    points = [way.point(0.0, begin)]
    for time in at[1:].tolist():
        before = points[-1]
        points += way.between(before, way.point(time, before[1].q))
    moments, states = np.array([time for time, _ in points]), [state for _, state in points]
    parts = ('position', 'velocity', 'acceleration', 'effort')
    moved, rate, bend, load = (
        np.array([getattr(state, f'actuator_{part}') for state in states]) for part in parts
    )
    motors = [tree.names.index(name) for name in transmission.actuators]
    fastest, strongest = tree.max_velocity[motors], effort_scale * tree.max_effort[motors]
    mean = np.diff(moved, axis=0) / np.diff(moments)[:, None]
    for what, values, limits in (
        ('velocity', rate, fastest),
        ('mean velocity', mean, fastest),
        ('effort', load, strongest),
    ):
        for row, motor in np.argwhere(~(np.abs(values) <= (1.0 + SLACK) * limits)):
            raise PlanError(
                f'at {moments[row]:.4g} s the {what} of {transmission.actuators[motor]} is '
                f'{values[row, motor]:.4g}, and its limit is {limits[motor]:.4g}'
            )
    kept = slice(begins_later, None)
    return ActuatorPlan(
        actuators=tuple(transmission.actuators),
        times=moments[kept],
        position=moved[kept],
        velocity=rate[kept],
        acceleration=bend[kept],
        effort=None if effort is None else load[kept],
        q=np.array([state.q for state in states[kept]]),
        given=np.isin(moments[kept], at),
    )


@dataclass(frozen=True)
class _Way:
    """The way from point to point of a plan."""

    transmission: Transmission
    curve: Callable[[float], tuple[Array, ...]]  # see `_curve`
    tolerance: float
    is_replaced: Callable[[], bool]

    def between(self, first: _Point, last: _Point) -> list[_Point]:
        """Return the last point, and before it those that straight interpolation needs."""
        (begin, before), (end, after) = first, last
        span, change, loop_error = end - begin, after.q - before.q, self.transmission.loop_error
        if all(loop_error(before.q + share * change) <= self.tolerance for share in BETWEEN):
            return [last]
        if span <= SHORTEST:
            raise PlanError(
                f'at {begin:.4g} s the joints jump: no points between keep the loops closed to '
                f'{self.tolerance:.3g}'
            )
        middle = self.point(begin + 0.5 * span, before.q)
        return [*self.between(first, middle), *self.between(middle, last)]

    def point(self, time: float, q: Array) -> _Point:
        """Return a time and the state of the actuators there; q (nq,) is one before."""
        if self.is_replaced():
            raise PlanError('a newer plan has arrived in the meantime')
        position, velocity, acceleration, effort = self.curve(time)
        state = self.transmission.to_actuators(position, velocity, effort, acceleration, q0=q)
        if state.converged:
            return time, state
        worst = int(np.abs(state.joint_position - position).argmax())
        raise PlanError(
            f'at {time:.4g} s {self.transmission.joints[worst]} cannot be at '
            f'{position[worst]:.6g}, only at {state.joint_position[worst]:.6g}: '
            f'{state.message or "the motors end there"}'
        )


def _curve(times: Array, rows: dict[str, Array]) -> Callable[[float], tuple[Array, ...]]:
    """
    Return the function of time that gives position, velocity, acceleration and effort.

    The position is cubic by positions and velocities, quintic with accelerations. A velocity that
    is NaN is that of a monotone cubic, a weighted harmonic mean, which rests at both ends. Where
    the acceleration jumps, it is the mean of both sides.
    """
    from scipy.interpolate import BPoly, PchipInterpolator

    if len(times) == 1:  # The plan is to stay.
        times = times[0] + np.array((0.0, 1.0))
        rows = {name: part.repeat(2, axis=0) for name, part in rows.items()}
    missing = np.isnan(rows['velocity'])
    if missing.any():
        monotone: Array = PchipInterpolator(times, rows['position']).derivative()(times)
        monotone[[0, -1]] = 0.0
        rows['velocity'] = np.where(missing, monotone, rows['velocity'])
        rows.pop('acceleration', None)
    known = [rows[name] for name in ('position', 'velocity', 'acceleration') if name in rows]
    way = BPoly.from_derivatives(times, np.stack(known, 1))
    rate, bend = way.derivative(), way.derivative(2)
    effort = BPoly.from_derivatives(times, rows['effort'][:, None])

    def at(time: float) -> tuple[Array, ...]:
        sides = np.nextafter(time, (-np.inf, np.inf))
        return way(time), rate(time), bend(sides).mean(axis=0), effort(time)

    return at
