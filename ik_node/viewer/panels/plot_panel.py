"""How residual and solve time went, chain by chain."""

from __future__ import annotations

from math import floor, log10
from typing import Any

from ik_node.viewer.panels.history import History, LEAST, SPAN
import numpy as np

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
