"""Picture of a robot's graph: the tree of links and joints, and the loops across it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ik_node.cli.report.layout import GraphLayout, Row
from ik_node.cli.report.words import counts
from ik_node.scene.plot import picture_maker, save_picture

# A palette for the colour-blind (Okabe & Ito 2008); red is reserved for open loops.
_LOOP_COLOURS = (*('#0072B2', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#7F5AA2', '#8C6D31'),)
_OPEN, _OFF, _INK, _FAINT, _EDGE = '#D62728', '#999999', '#222222', '#6B6B6B', '#8A94A0'
_BOX, _BOX_EDGE, _MOTOR = '#EAF1F8', '#7A93AC', '#F5A623'
# Symbol in the circle of a joint, by type.
_SYMBOLS = {
    'revolute': '\u21bb',
    'continuous': '\u21bb',
    'prismatic': '\u2194',
    'spherical': '\u25cf',
    'planar': '\u25b1',
    'floating': '\u2725',
}
_OTHER = '\u2731'
_WORDS = {
    'revolute': 'turns',
    'prismatic': 'slides',
    'spherical': 'ball',
    'planar': 'planar',
    'floating': 'floating',
}
# Largest number of pixels per side of a canvas.
_MOST_PIXELS = 60_000
_DPI = 110


def graph_plot(path: str) -> Callable[[dict[str, Any]], None]:
    """
    Return a function that draws the facts about a robot to a file.

    Parameters
    ----------
    path : str
        Output file; its ending selects the format.

    Raises
    ------
    OptionError
        If matplotlib is missing or does not support the format.

    """
    new_figure = picture_maker('--plot', path)

    def save(found: dict[str, Any]) -> None:
        layout = GraphLayout(found)
        figure = new_figure(figsize=(layout.width, layout.height))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0.0, layout.width)
        axes.set_ylim(layout.height, 0.0)
        axes.set_axis_off()
        _Drawing(axes, layout, found).draw()
        dpi = min(_DPI, _MOST_PIXELS / max(layout.width, layout.height))
        save_picture(figure, path, dpi=dpi)

    return save


class _Drawing:
    """A picture of links, joints and loops; coordinates are inches from the upper left corner."""

    def __init__(self, axes: Any, layout: GraphLayout, found: dict[str, Any]) -> None:
        self._axes = axes
        self._layout = layout
        self._found = found

    def draw(self) -> None:
        """Draw title, tree, loops and legend."""
        found, layout = self._found, self._layout
        self._text(0.3, 0.38, found['name'], size=15, weight='bold')
        what = f'{counts(found)}, mobility {found["mobility"]}  \u00b7  {found["dialect"]}'
        self._text(0.3, 0.66, what, size=9, color=_FAINT)
        for row in layout.rows:
            self._edge(row)
        for row in layout.rows:
            self._row(row)
        for at, loop in enumerate(found['closures']):
            self._loop(at, loop)
        self._legend()

    def _edge(self, row: Row) -> None:
        if row.parent is None:
            return
        x, top = row.edge_x, row.parent.y + 0.5 * self._layout.box_height
        line = '-' if row.fact['type'] != 'fixed' else (0, (1.2, 1.6))
        self._axes.plot([x, x, row.x], [top, row.y, row.y], color=_EDGE, lw=1.3, ls=line, zorder=1)

    def _row(self, row: Row) -> None:
        from matplotlib.patches import FancyBboxPatch

        height = self._layout.box_height
        box = FancyBboxPatch(
            (row.x, row.y - 0.5 * height),
            row.box_width,
            height,
            boxstyle='round,pad=0,rounding_size=0.06',
            facecolor=_BOX if row.fact['link'] else 'none',
            edgecolor=_BOX_EDGE,
            linewidth=1.0,
            linestyle='-' if row.fact['link'] else '--',
            zorder=3,
        )
        self._axes.add_patch(box)
        self._text(row.x + 0.08, row.y, row.box_text, size=9, zorder=4)
        if row.parent is None and row.fact['joint'] is None:
            return
        if row.fact['type'] != 'fixed' and row.parent is not None:
            self._symbol(row.symbol_x, row.y, row.fact['type'], row.has_motor)
        weight = 'bold' if row.has_motor else 'normal'
        colour = _INK if row.fact['type'] != 'fixed' else _FAINT
        self._text(row.label_x, row.y, row.label, size=8, color=colour, weight=weight)

    def _symbol(self, x: float, y: float, type_name: str, motor: bool) -> None:
        self._axes.plot(
            [x],
            [y],
            'o',
            ms=11.5,
            mfc=_MOTOR if motor else 'white',
            mec=_INK if motor else _EDGE,
            mew=1.0,
            zorder=3,
        )
        sign = _SYMBOLS.get(type_name, _OTHER)
        self._text(x, y, sign, size=8.5, ha='center', zorder=4)

    def _loop(self, at: int, loop: dict[str, Any]) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        arc = self._layout.arcs[at]
        colour = _LOOP_COLOURS[at % len(_LOOP_COLOURS)]
        width, dashes = 1.7, (0, (4.0, 2.0))
        if not loop['enabled']:
            colour, width, dashes = _OFF, 1.2, (0, (1.0, 2.0))
        elif loop['open']:
            colour, width = _OPEN, 2.4
        path = Path(arc.points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
        self._axes.add_patch(
            PathPatch(path, facecolor='none', edgecolor=colour, lw=width, ls=dashes, zorder=2)
        )
        for x, y in (arc.points[0], arc.points[-1]):
            self._axes.plot([x], [y], 'o', ms=4.5, color=colour, zorder=3)
        end = arc.points[0][0], arc.label_y
        self._axes.plot(
            [arc.apex[0], arc.label_x - 0.04],
            [arc.apex[1], end[1]],
            color=colour,
            lw=0.8,
            zorder=2,
        )
        self._text(
            arc.label_x, arc.label_y, arc.label, size=8, color=colour, weight='bold', zorder=5
        )

    def _legend(self) -> None:
        """Draw the legend of the symbols in use."""
        x, y = 0.45, self._layout.height - 0.3
        rows = [row for row in self._layout.rows if row.parent is not None]
        types = {row.fact['type'].replace('continuous', 'revolute') for row in rows}
        shown = [(kind, words, False) for kind, words in _WORDS.items() if kind in types]
        moved = [row.fact['type'] for row in rows if row.has_motor]
        shown += [(moved[0], 'with a motor', True)] if moved else []
        for kind, words, motor in shown:
            self._symbol(x, y, kind, motor)
            self._text(x + 0.15, y, words, size=8, color=_FAINT)
            x += 0.42 + 0.063 * len(words)
        loops = self._found['closures']
        for colour, words, there in (
            (_LOOP_COLOURS[0], 'loop', any(not loop['open'] for loop in loops)),
            (_OPEN, 'loop that stays open', any(loop['open'] for loop in loops)),
        ):
            if there:
                self._axes.plot([x - 0.1, x + 0.2], [y, y], color=colour, lw=2.0, ls=(0, (3, 1.5)))
                self._text(x + 0.28, y, words, size=8, color=_FAINT)
                x += 0.6 + 0.063 * len(words)

    def _text(self, x: float, y: float, text: str, **style: Any) -> None:
        settings = {'color': _INK, 'ha': 'left', 'va': 'center_baseline', **style}
        self._axes.text(x, y, text, parse_math=False, **settings)
