"""Picture of a map in space, as slices."""

from __future__ import annotations

from collections.abc import Callable

from ik_node.analysis.reach.volume import ReachVolume
from ik_node.scene.plot import BACKGROUND, FAINT, INK, picture_maker, save_picture
import numpy as np

_DPI = 150


def volume_plot(path: str) -> Callable[[ReachVolume], None]:
    """
    Return a function that draws three slices of a map, through the middle of its reached cells.

    `path`: output file; its ending selects the format. Raise OptionError if matplotlib is missing
    or does not support the format.
    """
    new_figure = picture_maker('--plot', path, hint='; -o needs none')

    def save(found: ReachVolume) -> None:
        figure = new_figure(figsize=(12.5, 4.6), layout='constrained')
        panels = figure.subplots(1, 3)
        cells = np.argwhere(found.share > 0.0)
        half = 0.5 * (cells.min(axis=0) + cells.max(axis=0)) if len(cells) else np.zeros(3)
        middle = found.origin + found.cell * half
        for panel, axis in zip(panels, 'yxz', strict=True):
            along = 'xyz'.index(axis)
            first, second = (each for each in range(3) if each != along)
            sides = found.centres[first], found.centres[second]
            left, low = (side[0] - 0.5 * found.cell for side in sides)
            right, high = (side[-1] + 0.5 * found.cell for side in sides)
            shares = found.layer(axis, float(middle[along]))
            shown = panel.imshow(
                np.where(shares > 0.0, shares, np.nan).T,
                origin='lower',
                extent=(left, right, low, high),
                cmap='viridis',
                vmin=0.0,
                vmax=1.0,
            )
            panel.set_facecolor(BACKGROUND)
            panel.set_title(f'{axis} = {middle[along] + 0.0:.3g} m', fontsize=10.5, color=INK)
            panel.set_xlabel(f'{"xyz"[first]} [m]', color=INK)
            panel.set_ylabel(f'{"xyz"[second]} [m]', color=INK)
            panel.tick_params(labelsize=9, color=FAINT, labelcolor=INK)
            panel.spines[:].set_visible(False)
        figure.suptitle(f'Reach of {found.link}, {found.describe()}', color=INK, parse_math=False)
        if found.quats_xyzw is not None:
            figure.colorbar(shown, ax=panels, label='share of the orientations', shrink=0.8)
        save_picture(figure, path, dpi=_DPI)

    return save
