"""Sines and cosines, four at a time."""

from __future__ import annotations

from math import cos, sin

from ik_node.kernels.decorators import compiling
from ik_node.kernels.layout import Floats

# Larger angles [rad] lose digits in the range reduction; the caller uses sin and cos for them.
MOST = 1.5e6

if compiling:
    from ik_node.kernels.numba_ext.sines import sines_cosines
else:

    def sines_cosines(w: Floats, angles: int, sines: int, cosines: int) -> None:
        """
        Write sines and cosines of w[angles:angles + 4] to where w[sines] and w[cosines] are.

        Accurate to two units in the last place for angles up to MOST [rad]; wrong beyond.
        """
        for k in range(4):
            angle = w[angles + k] if abs(w[angles + k]) <= MOST else 0.0
            w[sines + k], w[cosines + k] = sin(angle), cos(angle)


__all__ = ['MOST', 'sines_cosines']
