"""The panel with plots of residuals and solve times."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import log10
from typing import Any

from ik_node.scene.chain_report import ChainReport
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Time span [s] and largest number of rows.
SPAN = 30.0
LENGTH = 600
# Residuals of zero are drawn at this value, because of the logarithmic scale.
LEAST = 1e-16


class History:
    """Residuals and solve times of every chain over time."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._rows: deque[tuple[float, tuple[float, ...], tuple[float, ...]]] = deque(
            maxlen=LENGTH
        )

    def add(self, now: float, reports: Sequence[ChainReport]) -> None:
        """Add the reports at a time [s]; if the chains have changed, start a new history."""
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
        """Return times relative to the last one [s], and log10 of the residual of every chain."""
        times, *residuals = self._columns(1)
        return times, *map(np.log10, residuals)

    def solve_times(self) -> tuple[Array, ...]:
        """Return times relative to the last one [s], and the solve time of every chain [ms]."""
        return self._columns(2)

    def _columns(self, which: int) -> tuple[Array, ...]:
        if not self._rows:
            return tuple(np.zeros(0) for _ in range(1 + len(self.names)))
        last = self._rows[-1][0]
        times = np.array([row[0] - last for row in self._rows])
        values = np.array([row[which] for row in self._rows], dtype=np.float64)
        return times, *values.T.copy()


# A palette for the colour-blind (Okabe & Ito 2008).
COLOURS = ('#0072B2', '#E69F00', '#009E73', '#CC79A7', '#D55E00', '#56B4E9', '#000000')
MOST = len(COLOURS)
HEIGHT = 200
# Range of the residual's axis [log10 of m or rad].
RESIDUALS = (log10(LEAST), 1.0)


class PlotPanel:
    """
    A panel with plots of residuals and solve times over time.

    Parameters
    ----------
    gui : viser.GuiApi

    """

    def __init__(self, gui: Any) -> None:
        self._gui = gui
        self._names: tuple[str, ...] | None = None
        self._plots: list[Any] = []

    def refresh(self, history: History) -> None:
        """Show a history."""
        if history.names != self._names:
            self._rebuild(history.names)
        if self._plots:
            self._plots[0].data = history.residuals()[: 1 + MOST]
            self._plots[1].data = history.solve_times()[: 1 + MOST]

    def _rebuild(self, names: tuple[str, ...]) -> None:
        for plot in self._plots:
            plot.remove()
        self._plots, self._names = [], names
        if not names:
            return
        series = (
            {'label': 't [s]'},
            *(
                {'label': name[:24] or 'chain', 'stroke': colour, 'width': 2}
                for name, colour in zip(names, COLOURS, strict=False)
            ),
        )
        nothing = tuple(np.zeros(0) for _ in series)
        for title, unit, scale in (
            ('largest residual', 'log10 of m or rad', {'range': RESIDUALS}),
            ('solve time', 'ms', {}),
        ):
            self._plots.append(
                self._gui.add_uplot(
                    data=nothing,
                    series=series,
                    title=f'{title} [{unit}]',
                    scales={'x': {'time': False, 'range': (-SPAN, 0.0)}, 'y': scale},
                    axes=({'label': 'time [s]', 'labelSize': 20, 'size': 32}, {'size': 52}),
                    height=HEIGHT,
                    legend={'show': len(names) > 1},
                )
            )
