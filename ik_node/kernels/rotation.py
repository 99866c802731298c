"""
Rotations on bare numbers: logarithm, exponential, Euler angles.

Matrices are nine numbers, row by row, at an offset into a flat array. Angles in [rad]. Euler
angles are those of a joint: R = Rz(ez) Ry(ey) Rx(ex).
"""

from math import atan2, cos, pi, sin, sqrt

from ik_node.kernels.decorators import kernel, rare
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Vector = tuple[float, float, float]
Matrix = tuple[float, float, float, float, float, float, float, float, float]


@kernel
def quaternion_to_matrix(x: float, y: float, z: float, w: float, out: Floats, index: int) -> None:
    """Write the matrix of the unit quaternion (xyzw) to out[index:index + 9]."""
    out[index + 0] = 1.0 - 2.0 * (y * y + z * z)
    out[index + 1] = 2.0 * (x * y - z * w)
    out[index + 2] = 2.0 * (x * z + y * w)
    out[index + 3] = 2.0 * (x * y + z * w)
    out[index + 4] = 1.0 - 2.0 * (x * x + z * z)
    out[index + 5] = 2.0 * (y * z - x * w)
    out[index + 6] = 2.0 * (x * z - y * w)
    out[index + 7] = 2.0 * (y * z + x * w)
    out[index + 8] = 1.0 - 2.0 * (x * x + y * y)


@kernel
def matrix_at(values: Floats, index: int) -> Matrix:
    """Return the matrix at values[index:index + 9]."""
    r00, r01, r02 = values[index], values[index + 1], values[index + 2]
    r10, r11, r12 = values[index + 3], values[index + 4], values[index + 5]
    r20, r21, r22 = values[index + 6], values[index + 7], values[index + 8]
    return r00, r01, r02, r10, r11, r12, r20, r21, r22


@kernel
def quaternion_of(matrix: Matrix) -> tuple[float, float, float, float]:
    """
    Return a multiple of the quaternion (xyzw) of a rotation matrix, with w >= 0.

    It is found from its largest component (Shepperd 1978), so that its length is above 1.
    """
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = matrix
    trace = r00 + r11 + r22
    if trace >= r00 and trace >= r11 and trace >= r22:
        w = 1.0 + trace
        x, y, z = r21 - r12, r02 - r20, r10 - r01
    elif r00 >= r11 and r00 >= r22:
        x = 1.0 + r00 - r11 - r22
        y, z, w = r10 + r01, r02 + r20, r21 - r12
    elif r11 >= r22:
        y = 1.0 - r00 + r11 - r22
        x, z, w = r10 + r01, r21 + r12, r02 - r20
    else:
        z = 1.0 - r00 - r11 + r22
        x, y, w = r02 + r20, r21 + r12, r10 - r01
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    return x, y, z, w


@kernel
def quaternion_at(values: Floats, index: int) -> tuple[float, float, float, float]:
    """Return the unit quaternion (xyzw) of the matrix at values[index:index + 9], with w >= 0."""
    x, y, z, w = quaternion_of(matrix_at(values, index))
    length = sqrt(x * x + y * y + z * z + w * w)
    return x / length, y / length, z / length, w / length


@kernel
def log_rotation(matrix: Matrix) -> Vector:
    """
    Return the rotation vector log(R) in [rad], right for every angle up to and including pi.

    Goes through the quaternion, so that nothing is divided by a small number.
    """
    x, y, z, w = quaternion_of(matrix)
    return log_quaternion(x, y, z, w)


@kernel
def log_quaternion(x: float, y: float, z: float, w: float) -> Vector:
    """Return the rotation vector [rad] of a unit quaternion with w >= 0."""
    s = sqrt(x * x + y * y + z * z)
    k = 2.0 / w if s < 1e-12 * w else 2.0 * atan2(s, w) / s
    return x * k, y * k, z * k


@rare
def inverse_left_jacobian(
    px: float, py: float, pz: float, vx: float, vy: float, vz: float
) -> Vector:
    """
    Return Jl^-1(phi) v: the rate of log(R) when R turns with angular velocity v.

    References
    ----------
    Sola et al. (2018), eq. 146.

    """
    t2 = px * px + py * py + pz * pz
    if t2 < 1e-8:
        k = 1.0 / 12.0 + t2 / 720.0
    else:
        t = sqrt(t2)
        # (1 + cos t) / (2 t sin t) by the half angle: finite numerator and denominator up to pi.
        k = 1.0 / t2 - cos(0.5 * t) / (2.0 * t * max(sin(0.5 * t), 1e-12))
    cx, cy, cz = py * vz - pz * vy, pz * vx - px * vz, px * vy - py * vx
    ccx, ccy, ccz = py * cz - pz * cy, pz * cx - px * cz, px * cy - py * cx
    return vx - 0.5 * cx + k * ccx, vy - 0.5 * cy + k * ccy, vz - 0.5 * cz + k * ccz


@kernel
def near_turn(angle: float, reference: float) -> float:
    """Return `angle` plus the whole turns that bring it within pi of `reference`."""
    return angle - 2.0 * pi * round((angle - reference) / (2.0 * pi))


@kernel
def turned_within(angle: float, reference: float, lower: float, upper: float) -> float:
    """Return the angle plus the full turns that bring it near the reference, if within limits."""
    turned = near_turn(angle, reference)
    if turned > upper:
        turned -= 2.0 * pi
    elif turned < lower:
        turned += 2.0 * pi
    return turned if lower <= turned <= upper else angle


@kernel
def euler_matrix(ex: float, ey: float, ez: float) -> Matrix:
    """Return Rz(ez) Ry(ey) Rx(ex)."""
    cx, sx, cy, sy, cz, sz = cos(ex), sin(ex), cos(ey), sin(ey), cos(ez), sin(ez)
    r00, r01, r02 = cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx
    r10, r11, r12 = sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx
    return r00, r01, r02, r10, r11, r12, -sy, cy * sx, cy * cx


@rare
def turn_euler(ex: float, ey: float, ez: float, wx: float, wy: float, wz: float) -> Vector:
    """
    Return the Euler angles of Rz(ez) Ry(ey) Rx(ex) exp(w), nearest to the ones given.

    The turn `w` [rad] is in the axes of the turned frame. Of the two triples that name a rotation,
    and of their whole turns, the one with the smallest change is taken.
    """
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = euler_matrix(ex, ey, ez)
    # B = exp(w), Rodrigues
    t2 = wx * wx + wy * wy + wz * wz
    if t2 < 1e-16:
        a, b = 1.0, 0.5
    else:
        t = sqrt(t2)
        a, b = sin(t) / t, (1.0 - cos(t)) / t2
    b00, b01, b02 = 1.0 - b * (wy * wy + wz * wz), b * wx * wy - a * wz, b * wx * wz + a * wy
    b10, b11, b12 = b * wx * wy + a * wz, 1.0 - b * (wx * wx + wz * wz), b * wy * wz - a * wx
    b20, b21, b22 = b * wx * wz - a * wy, b * wy * wz + a * wx, 1.0 - b * (wx * wx + wy * wy)
    r00 = a00 * b00 + a01 * b10 + a02 * b20
    r10 = a10 * b00 + a11 * b10 + a12 * b20
    r20 = a20 * b00 + a21 * b10 + a22 * b20
    r01 = a00 * b01 + a01 * b11 + a02 * b21
    r11 = a10 * b01 + a11 * b11 + a12 * b21
    r02 = a00 * b02 + a01 * b12 + a02 * b22
    r12 = a10 * b02 + a11 * b12 + a12 * b22
    # In gimbal lock only ez - ex or ez + ex is defined: keep ez, so that the angles stay near.
    level = sqrt(r00 * r00 + r10 * r10)
    new_z = atan2(r10, r00) if level > 1e-9 else ez
    s, c = sin(new_z), cos(new_z)
    new_y = atan2(-r20, c * r00 + s * r10)
    # From Rz(-ez) R, so that rounding in ez is made good in ex.
    new_x = atan2(s * r02 - c * r12, c * r11 - s * r01)
    x1, y1, z1 = near_turn(new_x, ex), near_turn(new_y, ey), near_turn(new_z, ez)
    x2, y2 = near_turn(new_x + pi, ex), near_turn(pi - new_y, ey)
    z2 = near_turn(new_z + pi, ez)
    if abs(x2 - ex) + abs(y2 - ey) + abs(z2 - ez) < abs(x1 - ex) + abs(y1 - ey) + abs(z1 - ez):
        return x2, y2, z2
    return x1, y1, z1


@rare
def euler_rates(ex: float, ey: float, wx: float, wy: float, wz: float) -> Vector:
    """
    Return the rates of ex, ey, ez at which Rz(ez) Ry(ey) Rx(ex) turns with angular velocity w.

    w [rad/s] is in the axes of the turned frame. In gimbal lock, where no rates may do, they are
    large and finite.
    """
    sx, cx, sy, cy = sin(ex), cos(ex), sin(ey), cos(ey)
    if abs(cy) < 1e-9:
        cy = 1e-9 if cy >= 0.0 else -1e-9
    ry = cx * wy - sx * wz
    rz = (sx * wy + cx * wz) / cy
    return wx + sy * rz, ry, rz


@rare
def principal_euler(ex: float, ey: float, ez: float) -> Vector:
    """Return the Euler angles of the same rotation with |ey| <= pi/2 and |ex|, |ez| <= pi."""
    ey = near_turn(ey, 0.0)
    if abs(ey) > 0.5 * pi:
        ex, ey, ez = ex + pi, near_turn(pi - ey, 0.0), ez + pi
    return near_turn(ex, 0.0), ey, near_turn(ez, 0.0)


@rare
def euler_difference(ex: float, ey: float, ez: float, tx: float, ty: float, tz: float) -> Vector:
    """Return the turn w [rad] with Rz(ez) Ry(ey) Rx(ex) exp(w) = Rz(tz) Ry(ty) Rx(tx)."""
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = euler_matrix(ex, ey, ez)
    b00, b01, b02, b10, b11, b12, b20, b21, b22 = euler_matrix(tx, ty, tz)
    return log_rotation(
        (
            a00 * b00 + a10 * b10 + a20 * b20,
            a00 * b01 + a10 * b11 + a20 * b21,
            a00 * b02 + a10 * b12 + a20 * b22,
            a01 * b00 + a11 * b10 + a21 * b20,
            a01 * b01 + a11 * b11 + a21 * b21,
            a01 * b02 + a11 * b12 + a21 * b22,
            a02 * b00 + a12 * b10 + a22 * b20,
            a02 * b01 + a12 * b11 + a22 * b21,
            a02 * b02 + a12 * b12 + a22 * b22,
        )
    )
