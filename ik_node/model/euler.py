"""The choice among the Euler angles of one rotation of those nearest to given angles [rad]."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, cos, dist, floor, inf, pi, remainder, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
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
