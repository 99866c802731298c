"""What goes to the hardware in one tick."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class HardwareCommand:
    """
    Where joints are to be at the end of a period.

    Attributes
    ----------
    names : tuple of str
        Of the joint values.
    positions : ndarray, shape (n,)
        [rad or m]
    velocities : ndarray, shape (n,)
        Step of this tick over the period [rad/s or m/s].
    period : float
        [s]

    """

    names: tuple[str, ...]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    period: float
