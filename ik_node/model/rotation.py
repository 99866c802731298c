"""Conversions of rotations: quaternions (xyzw), matrices, Euler angles, rotation vectors."""

from __future__ import annotations

from collections.abc import Iterator
from math import atan2, ceil, cos, dist, floor, hypot, inf, pi, remainder, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def quat_identity() -> Array:
    """Return the quaternion (0, 0, 0, 1) of the identity."""
    return np.array((0.0, 0.0, 0.0, 1.0))


def quat_multiply(quat_a: ArrayLike, quat_b: ArrayLike) -> Array:
    """Return the quaternion product a b (xyzw): rotation b followed by rotation a."""
    ax, ay, az, aw = np.asarray(quat_a, dtype=float).tolist()
    bx, by, bz, bw = np.asarray(quat_b, dtype=float).tolist()
    return np.array(
        (
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        )
    )


def quat_conjugate(quat: ArrayLike) -> Array:
    """Return the inverse of a unit quaternion (xyzw)."""
    x, y, z, w = np.asarray(quat, dtype=float).tolist()
    return np.array((-x, -y, -z, w))


def quat_from_euler(x: float, y: float, z: float) -> Array:
    """
    Return the quaternion (xyzw) of Rz(z) Ry(y) Rx(x), angles [rad].

    The angles x, y, z are roll, pitch, yaw of URDF.
    """
    sx, cx = sin(0.5 * x), cos(0.5 * x)
    sy, cy = sin(0.5 * y), cos(0.5 * y)
    sz, cz = sin(0.5 * z), cos(0.5 * z)
    return np.array(
        (
            sx * cy * cz - cx * sy * sz,
            cx * sy * cz + sx * cy * sz,
            cx * cy * sz - sx * sy * cz,
            cx * cy * cz + sx * sy * sz,
        )
    )


def quat_between(start: ArrayLike, end: ArrayLike) -> Array:
    """
    Return the smallest rotation (xyzw) that takes the direction `start` to `end`.

    For opposite directions the axis is one of those perpendicular to `start`.
    """
    a, b = unit(start), unit(end)
    # For nearly opposite directions 1 + cos(angle) suffers from cancellation; |a + b|^2 / 2, which
    # is equal to it, does not.
    rest = a + b
    square = float(rest @ rest)
    if square > 1e-30:
        return unit(np.append(cross(a, rest), 0.5 * square))
    side = cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
    return np.append(unit(side), 0.0)


def quat_to_matrix(quat: ArrayLike) -> Array:
    """Return the matrix, shape (3, 3), of a quaternion (xyzw) of about unit length."""
    x, y, z, w = np.asarray(quat, dtype=float).tolist()
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return np.array(
        (
            (1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
            (s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)),
            (s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)),
        )
    )


def matrix_to_quat(matrix: ArrayLike) -> Array:
    """
    Return the quaternion (xyzw, w >= 0) of a rotation matrix, or of the rotation of a 4x4 pose.

    Notes
    -----
    Shepperd's method: the largest of the four components is computed first, which avoids a
    division by a small number.

    References
    ----------
    Shepperd (1978), Quaternion from rotation matrix, Journal of Guidance and Control 1(3).

    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.asarray(matrix, dtype=float)[:3, :3].tolist()
    trace = xx + yy + zz
    largest = max(trace, xx, yy, zz)
    if largest == trace:
        quat = zy - yz, xz - zx, yx - xy, 1.0 + trace
    elif largest == xx:
        quat = 1.0 + 2.0 * xx - trace, yx + xy, zx + xz, zy - yz
    elif largest == yy:
        quat = xy + yx, 1.0 + 2.0 * yy - trace, zy + yz, xz - zx
    else:
        quat = xz + zx, yz + zy, 1.0 + 2.0 * zz - trace, yx - xy
    norm = hypot(*quat)
    return np.array(quat) / (-norm if quat[3] < 0.0 else norm)


def matrix_to_euler(matrix: ArrayLike) -> Array:
    """
    Return the angles (x, y, z) [rad] for which Rz(z) Ry(y) Rx(x) is the given rotation.

    The angle y is in [-pi/2, pi/2]. At both ends (gimbal lock) only z - x or z + x is determined,
    and x is set to 0.
    """
    m = np.asarray(matrix, dtype=float)
    cosine = hypot(m[0, 0], m[1, 0])
    y = atan2(-m[2, 0], cosine)
    if cosine > 1e-9:
        return np.array((atan2(m[2, 1], m[2, 2]), y, atan2(m[1, 0], m[0, 0])))
    return np.array((0.0, y, atan2(-m[0, 1], m[1, 1])))


def quat_to_rotation_vector(quat: ArrayLike) -> Array:
    """Return axis times angle [rad], angle in [0, pi], of a unit quaternion (xyzw)."""
    x, y, z, w = np.asarray(quat, dtype=float).tolist()
    sine = hypot(x, y, z)
    if sine == 0.0:
        return np.zeros(3)
    scale = 2.0 * atan2(sine if w >= 0.0 else -sine, abs(w)) / sine
    return np.array((x * scale, y * scale, z * scale))


def rotation_vector_to_quat(rotation: ArrayLike) -> Array:
    """Return the quaternion (xyzw) of a rotation vector [rad]."""
    x, y, z = np.asarray(rotation, dtype=float).tolist()
    angle = sqrt(x * x + y * y + z * z)
    scale = sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    return np.array((scale * x, scale * y, scale * z, cos(0.5 * angle)))


def pose_matrix(position: ArrayLike, quat: ArrayLike) -> Array:
    """Return the pose, shape (4, 4), of a position [m] and a quaternion (xyzw)."""
    matrix = np.eye(4)
    matrix[:3, :3] = quat_to_matrix(quat)
    matrix[:3, 3] = position
    return matrix


def motion_matrix(values: ArrayLike) -> Array:
    """Return the 4x4 motion D = T(x, y, z) Rz(ez) Ry(ey) Rx(ex) of six values, [m] and [rad]."""
    x, y, z, ex, ey, ez = np.asarray(values, dtype=float).tolist()
    return pose_matrix((x, y, z), quat_from_euler(ex, ey, ez))


def pose_parts(pose: Array) -> tuple[Array, Array]:
    """Return the position [m] and the orientation (xyzw) of a 4x4 pose."""
    return pose[:3, 3].copy(), matrix_to_quat(pose)


def pose_from_matrix(
    pose: Array,
) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    """Return the position [m] and the orientation (xyzw) of a 4x4 pose as plain floats."""
    px, py, pz = pose[:3, 3].tolist()
    x, y, z, w = matrix_to_quat(pose).tolist()
    return (px, py, pz), (x, y, z, w)


def pose_inverse(matrix: ArrayLike) -> Array:
    """Return the inverse of a 4x4 pose."""
    m = np.asarray(matrix, dtype=float)
    inverse = np.eye(4)
    inverse[:3, :3] = m[:3, :3].T
    inverse[:3, 3] = -(m[:3, :3].T @ m[:3, 3])
    return inverse


def cross(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the cross product of two 3-vectors."""
    ax, ay, az = np.asarray(a, dtype=float).tolist()
    bx, by, bz = np.asarray(b, dtype=float).tolist()
    return np.array((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx))


def unit(vector: ArrayLike) -> Array:
    """Return a vector divided by its length, without overflow or underflow of the squares."""
    v = np.asarray(vector, dtype=float)
    scaled = v / np.max(np.abs(v))
    return np.asarray(scaled / np.sqrt(scaled @ scaled), dtype=np.float64)


# -- the Euler angles of a rotation that are nearest to given angles [rad]

Three = tuple[float, float, float]

TURN = 2.0 * pi

# Gimbal lock: below this cosine of the middle angle, only the sum or difference of the outer two
# angles matters. Exchanging one of them for the other turns the frame by at most this [rad].
LOCK = 1e-9

# An angle outside a bound by less than this counts as inside, as a rounding error [rad].
SLACK = 1e-9


def wrap(angle: float) -> float:
    """Return an angle modulo a full turn, in (-pi, pi] [rad]."""
    wrapped = remainder(angle, TURN)
    return pi if wrapped == -pi else wrapped


def nearest_turn(angle: float, present: float, lower: float = -inf, upper: float = inf) -> float:
    """
    Return the equivalent of an angle, modulo full turns, that is nearest to the present angle.

    The result is within the limits; if no equivalent is, it is the one closest to them.
    """
    first = -inf if lower == -inf else ceil((lower - angle - SLACK) / TURN)
    last = inf if upper == inf else floor((upper - angle + SLACK) / TURN)
    if first <= last:
        turns = min(max(round((present - angle) / TURN), first), last)
    else:
        below, above = angle + last * TURN, angle + first * TURN
        turns = last if lower - below <= above - upper else first
    return float(angle + turns * TURN)


def nearest_euler(
    euler: ArrayLike, present: ArrayLike, lower: ArrayLike = -inf, upper: ArrayLike = inf
) -> Array:
    """
    Return the Euler angles (3,) of the same rotation that are nearest to the present ones.

    Angles are (x, y, z) of Rz(z) Ry(y) Rx(x) [rad]. The result is within the limits if any of the
    candidates is, and is the given angles themselves if no others are nearer.
    """
    target, now, low, high = _three(euler), _three(present), _three(lower), _three(upper)
    nearest, least = target, (inf, inf)
    for angles in _equal_angles(target, now, low, high):
        rows = zip(angles, low, high, strict=True)
        missed = sum(max(bottom - angle, angle - top, 0.0) for angle, bottom, top in rows)
        score = (missed if missed > SLACK else 0.0, dist(angles, now))
        if score < least:
            nearest, least = angles, score
    return np.array(nearest)


def _equal_angles(target: Three, now: Three, low: Three, high: Three) -> Iterator[Three]:
    """Yield the candidates for the nearest angles."""
    other = target[0] + pi, pi - target[1], target[2] + pi  # the same rotation
    for x, y, z in (target, other):
        yield (
            nearest_turn(x, now[0], low[0], high[0]),
            nearest_turn(y, now[1], low[1], high[1]),
            nearest_turn(z, now[2], low[2], high[2]),
        )
    if abs(cos(target[1])) < LOCK:
        yield from _locked_angles(target, now, low, high)


def _locked_angles(target: Three, now: Three, low: Three, high: Three) -> Iterator[Three]:
    """
    Yield the nearest angles within limits for a rotation in gimbal lock.

    Notes
    -----
    With y at +-pi/2 the rotation depends on x - s z alone, s = sin y. With x = now + a and
    z = now + b that is a - s b = d + 2 pi k; of all its points a = (d + 2 pi k) / 2 is nearest.

    """
    sign = 1.0 if sin(target[1]) > 0.0 else -1.0
    y = nearest_turn(target[1], now[1], low[1], high[1])
    apart = wrap(target[0] - sign * target[2] - (now[0] - sign * now[2]))
    for turns in (0, -1, 1):
        whole = apart + turns * TURN
        of_z = sorted((whole + sign * (low[2] - now[2]), whole + sign * (high[2] - now[2])))
        first, last = max(low[0] - now[0], of_z[0]), min(high[0] - now[0], of_z[1])
        if first <= last:
            a = min(max(0.5 * whole, first), last)
            yield now[0] + a, y, now[2] + sign * (a - whole)


def _three(angles: ArrayLike) -> Three:
    # Plain numbers: for three of them arrays cost more than the arithmetic.
    x, y, z = np.broadcast_to(np.asarray(angles, dtype=float), 3).tolist()
    return x, y, z
