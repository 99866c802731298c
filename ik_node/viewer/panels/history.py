"""What the last seconds were like."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ik_node.scene.chain_report import ChainReport
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# How far back [s], and how many rows at most.
SPAN = 30.0
LENGTH = 600
# What is exactly met is drawn here: a logarithm of zero cannot be.
LEAST = 1e-16


class History:
    """Residual and solve time of every chain, as they came."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._rows: deque[tuple[float, tuple[float, ...], tuple[float, ...]]] = deque(
            maxlen=LENGTH
        )

    def add(self, now: float, reports: Sequence[ChainReport]) -> None:
        """Take in the reports of a time [s]; of other chains than before, all begins anew."""
        names = tuple(report.name for report in reports)
        if names != self.names:
            self.names = names
            self._rows.clear()
        if names:
            residuals = tuple(max(report.residual, LEAST) for report in reports)
            times = tuple(1e3 * report.solve_time for report in reports)
            self._rows.append((now, residuals, times))
        while self._rows and now - self._rows[0][0] > SPAN:
            self._rows.popleft()

    def residuals(self) -> tuple[Array, ...]:
        """Return times before the last one [s], and log10 of every chain's residual [m or rad]."""
        times, *residuals = self._columns(1)
        return times, *map(np.log10, residuals)

    def solve_times(self) -> tuple[Array, ...]:
        """Return times before the last one [s], and the solve time of every chain [ms]."""
        return self._columns(2)

    def _columns(self, which: int) -> tuple[Array, ...]:
        if not self._rows:
            return tuple(np.zeros(0) for _ in range(1 + len(self.names)))
        last = self._rows[-1][0]
        times = np.array([row[0] - last for row in self._rows])
        values = np.array([row[which] for row in self._rows], dtype=np.float64)
        return times, *values.T.copy()
