"""
The transmission of the gallery's ankle, written by hand for this mechanism.

The method is that of Lutz, de Matteis, Batto and Mansard (2025), Control of Humanoid Robots with
Parallel Mechanisms using Kinematic Actuation Models, arXiv:2503.22459: the motor angles follow
from pitch and roll in closed form, velocities from the derivative of the rods' constraints, and
efforts from the transposed Jacobian. The dimensions are those of urdf/ankle.urdf, written here
once more.

With pitch p and roll r, the heel of a rod is at f = R_y(p) R_x(r) h, the pin of its crank at
m + c(t), c(t) = a (-cos t, 0, sin t), all relative to the ankle's centre. With u = f - m, the
length L of the rod gives

    A cos t + B sin t = C,   A = 2 a u_x,   B = -2 a u_z,   C = L^2 - a^2 - |u|^2,

and t = atan2(B, A) - acos(C / hypot(A, B)) is the solution in the gallery's assembly branch. With
d = u - c(t), the derivative of |d|^2 = L^2 is

    (d . df/dp) p' + (d . df/dr) r' = (d . dc/dt) t'.

There are two forms of every function: vectors in NumPy, and plain floats, which are much faster in
Python. hand_written_ankle.c has the second form in C.
"""

from __future__ import annotations

from math import acos, atan2, cos, hypot, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Six = tuple[float, float, float, float, float, float]

# Left and right [m], relative to the ankle's centre in the axes of shank_link.
CRANK = 0.04
RODS = np.array([0.25, 0.2])
MOTORS = np.array([[0.005, 0.03, 0.24], [0.005, -0.03, 0.19]])
HEELS = np.array([[-0.035, 0.03, -0.01], [-0.035, -0.03, -0.01]])

# The forward position is found when the rods' constraints are met to this [m^2].
CLOSED = 1e-16
MOST_STEPS = 20


# -- NumPy


def motor_angles(ankle: ArrayLike) -> Array:
    """
    Return the motor angles for a position of the ankle.

    Parameters
    ----------
    ankle : array_like, shape (2,)
        Pitch and roll [rad].

    Returns
    -------
    ndarray, shape (2,)
        Left and right [rad]; NaN where the rod is too short or too long.

    """
    u = _heels(*np.asarray(ankle, dtype=float))[0] - MOTORS
    a, b = 2.0 * CRANK * u[:, 0], -2.0 * CRANK * u[:, 2]
    c = RODS**2 - CRANK**2 - np.sum(u * u, axis=1)
    with np.errstate(invalid='ignore'):
        angles: Array = np.arctan2(b, a) - np.arccos(c / np.hypot(a, b))
    return angles


def ankle_angles(motors: ArrayLike, start: ArrayLike = (0.0, 0.0)) -> Array:
    """
    Return the position of the ankle for motor angles, by Newton's method.

    Parameters
    ----------
    motors : array_like, shape (2,)
        Left and right [rad].
    start : array_like, shape (2,)
        Pitch and roll from which the iteration begins [rad].

    Returns
    -------
    ndarray, shape (2,)
        Pitch and roll [rad].

    """
    found = np.array(start, dtype=float)
    for _ in range(MOST_STEPS):
        rods, by_ankle, _ = _constraints(found, motors)
        gaps = 0.5 * (np.sum(rods * rods, axis=1) - RODS**2)
        found -= np.linalg.solve(by_ankle, gaps)
        if np.abs(gaps).max() < CLOSED:
            break
    return found


def motors_by_ankle(ankle: ArrayLike, motors: ArrayLike) -> Array:
    """
    Return the Jacobian of the motor angles.

    Parameters
    ----------
    ankle, motors : array_like, shape (2,)
        A position with both rods closed [rad].

    Returns
    -------
    ndarray, shape (2, 2)
        d (left, right) / d (pitch, roll).

    """
    _, by_ankle, by_motors = _constraints(ankle, motors)
    rates: Array = by_ankle / by_motors[:, None]
    return rates


def to_motors(ankle: ArrayLike, velocity: ArrayLike, effort: ArrayLike) -> tuple[Array, ...]:
    """
    Convert position, velocity and effort of the ankle to those of the motors.

    Parameters
    ----------
    ankle, velocity, effort : array_like, shape (2,)
        Pitch and roll [rad], [rad/s], [N m].

    Returns
    -------
    tuple of three ndarray, shape (2,)
        Angles [rad], velocities [rad/s] and efforts [N m] of the left and right motor.

    """
    motors = motor_angles(ankle)
    rates = motors_by_ankle(ankle, motors)
    return motors, rates @ np.asarray(velocity), np.linalg.solve(rates.T, effort)


def to_ankle(
    motors: ArrayLike, velocity: ArrayLike, effort: ArrayLike, start: ArrayLike = (0.0, 0.0)
) -> tuple[Array, ...]:
    """
    Convert position, velocity and effort of the motors to those of the ankle.

    Parameters
    ----------
    motors, velocity, effort : array_like, shape (2,)
        Left and right [rad], [rad/s], [N m].
    start : array_like, shape (2,)
        Pitch and roll from which the iteration begins [rad].

    Returns
    -------
    tuple of three ndarray, shape (2,)
        Angles [rad], velocities [rad/s] and efforts [N m] of pitch and roll.

    """
    ankle = ankle_angles(motors, start)
    rates = motors_by_ankle(ankle, motors)
    return ankle, np.linalg.solve(rates, velocity), rates.T @ np.asarray(effort)


def _heels(pitch: float, roll: float) -> tuple[Array, Array, Array]:
    """Return the heels of both rods (2, 3) [m], and their derivatives by pitch and by roll."""
    cp, sp, cr, sr = np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    about_y = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    rolled = HEELS @ about_x.T
    heels = rolled @ about_y.T
    by_pitch = np.cross((0.0, 1.0, 0.0), heels)
    by_roll = np.cross((1.0, 0.0, 0.0), rolled) @ about_y.T
    return heels, by_pitch, by_roll


def _constraints(ankle: ArrayLike, motors: ArrayLike) -> tuple[Array, Array, Array]:
    """Return the rods' vectors d (2, 3), (d . df/dp, d . df/dr) (2, 2), and d . dc/dt (2,)."""
    heels, by_pitch, by_roll = _heels(*np.asarray(ankle, dtype=float))
    t = np.asarray(motors, dtype=float)
    none = np.zeros(2)
    rods = heels - MOTORS - CRANK * np.column_stack((-np.cos(t), none, np.sin(t)))
    pins = CRANK * np.column_stack((np.sin(t), none, np.cos(t)))
    by_ankle = np.column_stack([np.sum(rods * each, axis=1) for each in (by_pitch, by_roll)])
    return rods, by_ankle, np.sum(rods * pins, axis=1)


# -- plain floats

_LEFT = (float(RODS[0]), *MOTORS[0].tolist(), *HEELS[0].tolist())
_RIGHT = (float(RODS[1]), *MOTORS[1].tolist(), *HEELS[1].tolist())
_CRANK_SQUARED = CRANK * CRANK


def fast_to_motors(
    pitch: float,
    roll: float,
    pitch_velocity: float,
    roll_velocity: float,
    pitch_effort: float,
    roll_effort: float,
) -> Six:
    """Return `to_motors` as floats: left and right angle, velocity and effort."""
    cp, sp, cr, sr = cos(pitch), sin(pitch), cos(roll), sin(roll)
    left, left_pitch, left_roll = _motor(cp, sp, cr, sr, *_LEFT)
    right, right_pitch, right_roll = _motor(cp, sp, cr, sr, *_RIGHT)
    scale = 1.0 / (left_pitch * right_roll - left_roll * right_pitch)
    return (
        left,
        right,
        left_pitch * pitch_velocity + left_roll * roll_velocity,
        right_pitch * pitch_velocity + right_roll * roll_velocity,
        scale * (right_roll * pitch_effort - right_pitch * roll_effort),
        scale * (left_pitch * roll_effort - left_roll * pitch_effort),
    )


def fast_to_ankle(
    left: float,
    right: float,
    left_velocity: float,
    right_velocity: float,
    left_effort: float,
    right_effort: float,
    pitch: float = 0.0,
    roll: float = 0.0,
) -> Six:
    """Return `to_ankle` as floats: pitch and roll angle, velocity and effort; start at the end."""
    cos_left, sin_left, cos_right, sin_right = cos(left), sin(left), cos(right), sin(right)
    for _ in range(MOST_STEPS):
        cp, sp, cr, sr = cos(pitch), sin(pitch), cos(roll), sin(roll)
        g, a, b, c = _rod(cp, sp, cr, sr, cos_left, sin_left, *_LEFT)
        h, d, e, f = _rod(cp, sp, cr, sr, cos_right, sin_right, *_RIGHT)
        scale = 1.0 / (a * e - b * d)
        if -CLOSED < g < CLOSED and -CLOSED < h < CLOSED:
            break
        pitch -= scale * (e * g - b * h)
        roll -= scale * (a * h - d * g)
    x, y = c * left_velocity, f * right_velocity
    v, w = left_effort / c, right_effort / f
    return (
        pitch,
        roll,
        scale * (e * x - b * y),
        scale * (a * y - d * x),
        a * v + d * w,
        b * v + e * w,
    )


def _motor(
    cp: float, sp: float, cr: float, sr: float, rod: float, mx: float, my: float, mz: float,
    hx: float, hy: float, hz: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return a motor's angle and its derivatives by pitch and roll."""
    y, up = cr * hy - sr * hz, sr * hy + cr * hz
    x, z = cp * hx + sp * up, cp * up - sp * hx
    ux, uy, uz = x - mx, y - my, z - mz
    a, b = 2.0 * CRANK * ux, -2.0 * CRANK * uz
    c = rod * rod - _CRANK_SQUARED - ux * ux - uy * uy - uz * uz
    t = atan2(b, a) - acos(c / hypot(a, b))
    ct, st = CRANK * cos(t), CRANK * sin(t)
    dx, dz = ux + ct, uz - st
    scale = 1.0 / (dx * st + dz * ct)
    return t, scale * (dx * z - dz * x), scale * (y * (dx * sp + dz * cp) - uy * up)


def _rod(
    cp: float, sp: float, cr: float, sr: float, ct: float, st: float,
    rod: float, mx: float, my: float, mz: float, hx: float, hy: float, hz: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return a rod's constraint [m^2] and its derivatives by pitch, roll and (negative) motor."""
    y, up = cr * hy - sr * hz, sr * hy + cr * hz
    x, z = cp * hx + sp * up, cp * up - sp * hx
    dx, dy, dz = x - mx + CRANK * ct, y - my, z - mz - CRANK * st
    return (
        0.5 * (dx * dx + dy * dy + dz * dz - rod * rod),
        dx * z - dz * x,
        y * (dx * sp + dz * cp) - dy * up,
        CRANK * (dx * st + dz * ct),
    )
