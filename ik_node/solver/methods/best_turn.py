"""The minimum over one angle of a cost that is a trigonometric polynomial of degree two."""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The angles at which the cost is sampled [rad]: five samples determine the five coefficients.
ANGLES: Array = np.array([0.4 * pi * k for k in range(5)])

# Costs whose variation is below this share of their size are constant up to rounding.
_ROUNDING = 1e-14


def best_turn(costs: Array, low: float, high: float) -> float:
    """
    Return the angle in [low, high] at which the cost is least; of several, the smallest one [rad].

    Parameters
    ----------
    costs : ndarray, shape (5,)
        Cost at `ANGLES`.
    low, high : float
        Bounds [rad], low <= 0 <= high; the result is at most half a turn.

    Notes
    -----
    With T(phi) = c + a1 cos phi + b1 sin phi + a2 cos 2 phi + b2 sin 2 phi and z = exp(i phi),
    T'(phi) = 0 is a polynomial of degree four in z, whose roots are computed as eigenvalues, or in
    closed form if a2 = b2 = 0. The candidates are compared by T(phi) - T(0), in a form without
    cancellation near 0.

    """
    low, high = max(low, -pi), min(high, pi)
    a1, b1 = 0.4 * float(costs @ np.cos(ANGLES)), 0.4 * float(costs @ np.sin(ANGLES))
    a2, b2 = 0.4 * float(costs @ np.cos(2 * ANGLES)), 0.4 * float(costs @ np.sin(2 * ANGLES))
    first, second = complex(a1, -b1), 2.0 * complex(a2, -b2)
    if abs(first) + abs(second) <= _ROUNDING * float(np.abs(costs).max()):
        return 0.0
    angles = [low, high]
    if abs(second) > 1e-12 * abs(first):
        roots = np.roots([second, first, 0.0, -first.conjugate(), -second.conjugate()])
        angles += [float(angle) for angle in np.angle(roots)]
    else:
        angle = float(np.angle(first.conjugate()))
        angles += [angle, angle - pi, angle + pi]
    best, least = 0.0, 0.0
    for angle in sorted(angles, key=abs):
        if low <= angle <= high:
            half = sin(0.5 * angle)
            gain = b1 * sin(angle) - 2.0 * a1 * half * half
            gain += 2.0 * sin(angle) * (b2 * cos(angle) - a2 * sin(angle))
            if gain < least:
                best, least = angle, gain
    return best
