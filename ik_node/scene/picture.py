"""A picture in a file, which only matplotlib can draw and nothing else here needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
import warnings

from ik_node.errors import OptionError


def picture_maker(option: str, path: str | Path, *, hint: str = '') -> Callable[..., Any]:
    """
    Return what makes figures for a file: called as matplotlib's Figure is.

    Parameters
    ----------
    option : str
        What the path was given as, for errors.
    path : str or Path
        Where to; the ending says what kind of picture.
    hint : str
        How to do without, said where there is no matplotlib.

    Raises
    ------
    OptionError
        If pictures cannot be drawn, or not of that kind.

    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise OptionError(
            option,
            str(path),
            f'only with matplotlib: `pip install matplotlib` or python3-matplotlib{hint}',
        ) from None
    kinds = FigureCanvasAgg.get_supported_filetypes()
    if Path(path).suffix[1:].lower() not in kinds:
        raise OptionError(option, str(path), 'a file that ends in .' + ', .'.join(sorted(kinds)))

    def make(**settings: Any) -> Any:
        figure = Figure(**settings)
        FigureCanvasAgg(figure)
        return figure

    return make


def save_picture(figure: Any, path: str | Path, **settings: Any) -> None:
    """Write a figure to a file, as its `savefig` does, whatever letters names in it have."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UserWarning)  # a name may have letters no font has
        figure.savefig(path, **settings)
