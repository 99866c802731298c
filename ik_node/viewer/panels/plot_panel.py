"""How residual and solve time went, chain by chain."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import floor, log10
from typing import Any

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


# Told apart by the colour-blind, too (Okabe & Ito 2008).
COLOURS = ('#0072B2', '#E69F00', '#009E73', '#CC79A7', '#D55E00', '#56B4E9', '#000000')
MOST = len(COLOURS)
HEIGHT = 170


class PlotPanel:
    """
    Two plots over time.

    Parameters
    ----------
    gui : viser.GuiApi

    """

    def __init__(self, gui: Any) -> None:
        self._gui = gui
        self._names: tuple[str, ...] | None = None
        self._plots: list[Any] = []

    def refresh(self, history: History) -> None:
        """Show what came."""
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
        for title, limits in (
            ('largest residual [m or rad], log10', (floor(log10(LEAST)), 1.0)),
            ('solve time [ms]', None),
        ):
            self._plots.append(
                self._gui.add_uplot(
                    data=nothing,
                    series=series,
                    title=title,
                    scales={
                        'x': {'time': False, 'range': (-SPAN, 0.0)},
                        'y': {} if limits is None else {'range': limits},
                    },
                    height=HEIGHT,
                    legend={'show': len(names) > 1},
                )
            )
