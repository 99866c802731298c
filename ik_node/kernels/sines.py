"""Sines and cosines, four at a time."""

from __future__ import annotations

from math import cos, sin

from ik_node.kernels._jit import compiled
from ik_node.kernels.layout import Floats

# Larger angles [rad] lose digits when quarters of a turn are taken out of them: ask the library.
MOST = 1.5e6

if compiled:
    from ik_node.kernels.numba_ext.sines import sines_cosines
else:

    def sines_cosines(w: Floats, angles: int, sines: int, cosines: int) -> None:
        """
        Write sines and cosines of w[angles:angles + 4] to where w[sines] and w[cosines] are.

        To the last digit but one, for angles of up to MOST [rad]; of others comes anything.
        """
        for k in range(4):
            angle = w[angles + k] if abs(w[angles + k]) <= MOST else 0.0
            w[sines + k], w[cosines + k] = sin(angle), cos(angle)


__all__ = ['MOST', 'sines_cosines']
