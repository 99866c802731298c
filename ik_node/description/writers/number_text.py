"""Conversion of numbers to text that reads back to the same numbers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import atan2, hypot, inf, nextafter, pi, remainder

from ik_node.description.angles import exact_angle
from ik_node.model.rotation import quat_from_euler, quat_multiply, quat_to_matrix, unit
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Two rounding errors of double precision, which composed poses add to a number.
ROUNDING = 4.5e-16
DIGITS = (3, 6, 9, 12, 15)
# Smaller rounding errors of a description are not written: all digits were [m], [rad].
LEAST_ROUNDING = 1e-12


def written(numbers: Iterable[float]) -> str:
    """Return exact numbers separated by spaces, integers without a decimal point."""
    return ' '.join(number_text(float(number)) for number in numbers)


def number_text(number: float) -> str:
    """Return the shortest text that reads back to the same number."""
    text = repr(float(number) + 0.0)  # no minus zero
    return text[:-2] if text.endswith('.0') else text


def shortened(numbers: ArrayLike) -> Array:
    """Return numbers rounded to fewer digits if that changes them by rounding errors only."""
    array = np.asarray(numbers, dtype=float)
    for digits in DIGITS:
        short = np.round(array, digits)
        if np.all(np.abs(short - array) <= ROUNDING * np.maximum(1.0, np.abs(array))):
            return np.asarray(short + 0.0, dtype=np.float64)
    return array + 0.0


def axis_of(direction: ArrayLike) -> Array:
    """Return a unit vector, exactly along X, Y or Z if it is so up to rounding."""
    return shortened(unit(direction))


def rpy_of(quat_xyzw: ArrayLike) -> Array:
    """
    Return roll, pitch and yaw [rad] of a unit quaternion, also accurate near 90 degrees pitch.

    No angle is a number that the reader would mistake for a rounded fraction of pi.

    Notes
    -----
    The sum and the difference of roll and yaw are each computed from two components that depend on
    no other angle (Bernardes and Viollet 2022). If one of them is undefined, the rotation does not
    depend on it.

    """
    x, y, z, w = np.asarray(quat_xyzw, dtype=float).tolist()
    up, down = hypot(x + z, w - y), hypot(x - z, w + y)
    half_sum = atan2(x + z, w - y)
    half_difference = atan2(x - z, w + y)
    if up < 1e-15:
        half_sum = -half_difference
    elif down < 1e-15:
        half_difference = -half_sum
    angles = [half_sum + half_difference, 2.0 * atan2(down, up) - 0.5 * pi]
    angles.append(half_sum - half_difference)
    angles = [remainder(angle, 2.0 * pi) for angle in angles]
    exact = np.array((x, y, z, w))
    for digits in DIGITS:
        short = [round(angle, digits) + 0.0 for angle in angles]
        if max(map(abs, short)) > pi:
            # Near a pitch of 90 degrees roll and yaw may be rounded together, even beyond pi.
            continue
        found = quat_from_euler(*short)
        if min(np.max(np.abs(found - exact)), np.max(np.abs(found + exact))) <= ROUNDING:
            return np.array([_as_read(angle) for angle in short])
    return np.array([_as_read(angle + 0.0) for angle in angles])


def _as_read(angle: float) -> float:
    """Return an angle, changed in its last bit if the reader would mistake it for another."""
    rounded = abs(exact_angle(angle) - angle) > ROUNDING * abs(angle)
    return nextafter(angle, inf) if rounded else angle


def same_turn(quat_a: ArrayLike, quat_b: ArrayLike) -> bool:
    """Return True if two unit quaternions are the same rotation up to rounding."""
    a, b = np.asarray(quat_a, dtype=float), np.asarray(quat_b, dtype=float)
    return bool(min(np.max(np.abs(a - b)), np.max(np.abs(a + b))) <= ROUNDING)


def composed(*poses: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the position [m] and quaternion (xyzw) of a product of poses."""
    position, quat = poses[0]
    for _, (step, turn) in pairwise(poses):
        if np.any(step):
            position = shortened(position + quat_to_matrix(quat) @ step)
        quat = quat_multiply(quat, turn)
    return position, unit(quat)
