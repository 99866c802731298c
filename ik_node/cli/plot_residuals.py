"""A picture of how residuals fall: against iterations and against time, a line a method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from ik_node.scene.picture import picture_maker, save_picture
from ik_node.solver.methods import Trace, TracePoint
from ik_node.solver.options import METHODS
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Told apart by the colour-blind, too (Okabe & Ito 2008); one for each method, whichever are drawn.
_COLOURS = ('#000000', '#0072B2', '#56B4E9', '#E69F00', '#009E73', '#CC79A7', '#D55E00')
# Two lines that lie on each other are both seen.
_DASHES = ('-', (0, (5, 1.5)))
# What is exactly met is drawn here.
_LEAST = 1e-16


def residual_plot(path: str) -> Callable[[Sequence[tuple[str, Trace]]], None]:
    """
    Return the function that draws traces, by method, to a file.

    Parameters
    ----------
    path : str
        Where to; the ending says what kind of picture.

    Raises
    ------
    OptionError
        If pictures cannot be drawn, or not of that kind.

    """
    new_figure = picture_maker('--plot', path)

    def save(traces: Sequence[tuple[str, Trace]]) -> None:
        figure = new_figure(figsize=(10.5, 5.2), layout='constrained')
        _draw(figure, traces)
        save_picture(figure, path, dpi=100)

    return save


def _draw(figure: Any, traces: Sequence[tuple[str, Trace]]) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    for method, found in traces:
        if not found.points:
            continue
        met = found.solution.status.name == 'CONVERGED'
        at = METHODS.index(method)
        dashes = _DASHES[at % len(_DASHES)]
        label = f'{method} ({found.solution.status.name.lower()})'
        for axes, (x, y) in ((left, by_iteration(found)), (right, by_time(found))):
            y = np.maximum(y, _LEAST)
            axes.plot(x, y, color=_COLOURS[at], lw=1.8, ls=dashes, label=label, zorder=2 + at % 2)
            axes.plot(x[-1:], y[-1:], 'o' if met else 'X', color=_COLOURS[at], ms=7)
    left.set_xscale('symlog', linthresh=1.0)
    left.set_xlim(left=0.0)
    left.xaxis.set_major_formatter(lambda value, _: f'{value:g}')
    left.set_xlabel('iteration', fontsize=12)
    left.set_ylabel('largest residual [m or rad]', fontsize=12)
    right.set_xscale('log')
    right.set_xlabel('time [s], dls compiled, the others in Python', fontsize=12)
    for axes in (left, right):
        axes.set_yscale('log')
        axes.grid(True, which='major', alpha=0.3)
        axes.tick_params(labelsize=11)
        axes.spines[['top', 'right']].set_visible(False)
    handles, labels = left.get_legend_handles_labels()
    if handles:
        figure.legend(
            handles, labels, loc='outside upper center', ncols=4, fontsize=10.5, frameon=False
        )


def by_iteration(found: Trace) -> tuple[Array, Array]:
    """Return iterations and the largest residual of any chain after each, [m or rad] alike."""
    chains = [[_size(p) for p in group] for _, group in groupby(found.points, lambda p: p.chain)]
    count = max(len(chain) for chain in chains)
    held = [chain + chain[-1:] * (count - len(chain)) for chain in chains]
    return np.arange(count, dtype=np.float64), np.max(held, axis=0)


def by_time(found: Trace) -> tuple[Array, Array]:
    """Return times [s] and the largest residual of any chain, solved one after the other."""
    latest = {p.chain: _size(p) for p in reversed(found.points)}
    times, sizes = [], []
    for point in found.points:
        latest[point.chain] = _size(point)
        times.append(max(point.seconds, 1e-7))
        sizes.append(max(latest.values()))
    return np.array(times), np.array(sizes)


def _size(point: TracePoint) -> float:
    return max(point.position, point.orientation)
