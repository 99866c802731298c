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

    def sines_cosines(angles: Floats, sines: Floats, cosines: Floats, index: int) -> None:
        """
        Write sines and cosines of angles[index:index + 4] to the same places of the others.

        Accurate to two units in the last place for angles up to MOST [rad]; wrong beyond.
        """
        for k in range(index, index + 4):
            angle = angles[k] if abs(angles[k]) <= MOST else 0.0
            sines[k], cosines[k] = sin(angle), cos(angle)


__all__ = ['MOST', 'sines_cosines']
