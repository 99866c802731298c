"""What goes to the hardware in one tick."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class CommandedState:
    """
    Where commanded joints are at some time.

    Attributes
    ----------
    time : float
        From now on [s].
    positions : ndarray, shape (n,)
        [rad or m]
    velocities : ndarray, shape (n,)
        [rad/s or m/s]

    """

    time: float
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]


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
    begin : CommandedState or None
        Where the joints are at the beginning of the period; None without a horizon.
    stop : CommandedState or None
        Where they come to rest when no further command follows; None without a horizon.

    """

    names: tuple[str, ...]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64]
    period: float
    begin: CommandedState | None = None
    stop: CommandedState | None = None
