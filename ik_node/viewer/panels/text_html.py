"""Texts of the panels as HTML; viser's widgets have no coloured text and no tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ik_node.display import escaped
from ik_node.errors import MOST_TEXT

# A palette for the colour-blind (Okabe & Ito 2008), with a darker orange that can be read as text;
# a state is also shown as a word.
GREEN, ORANGE, RED = '#009E73', '#B87A00', '#D55E00'
_BOX = 'padding:2px 10px 6px;font-size:0.85em;line-height:1.5;overflow-wrap:anywhere'
_CELL = 'padding:0 0 0 7px;text-align:right;white-space:nowrap'
# The name has the width that the numbers leave. What is cut off is in its tooltip.
_NAME = (
    'white-space:nowrap;width:100%;max-width:0;overflow:hidden;text-overflow:ellipsis;'
    'text-align:left'
)


def box(*parts: str) -> str:
    """Return HTML for the parts that are not empty, below each other."""
    shown = ''.join(part for part in parts if part)
    return f'<div style="{_BOX}">{shown}</div>' if shown else ''


def explain(gui: Any, *handles: Any) -> None:
    """Add a closed folder with the hints of inputs, because a finger cannot hover over them."""
    with gui.add_folder('what these mean', expand_by_default=False):
        gui.add_html(box(*(line(f'{each.label}: {each.hint}') for each in handles)))


def line(text: str, colour: str = '', *, bold: bool = False) -> str:
    """Return HTML for a line of text, without markup in it; '' if there is none."""
    style = f'color:{colour};' * bool(colour) + 'font-weight:bold' * bold
    words = escaped(text, MOST_TEXT)
    return f'<div style="{style}">{words}</div>' if text else ''


def table(rows: Sequence[tuple[str, Sequence[str], str]], limit: int) -> str:
    """Return HTML for at most `limit` rows of a name, its values and the colour of the row."""
    lines = []
    for name, values, colour in rows[:limit]:
        shown = escaped(name)
        cells = ''.join(f'<td style="{_CELL}">{escaped(value)}</td>' for value in values)
        style = f' style="color:{colour}"' * bool(colour)
        lines.append(f'<tr{style}><td style="{_NAME}" title="{shown}">{shown}</td>{cells}</tr>')
    if not lines:
        return ''
    style = 'border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums'
    more = f'and {len(rows) - limit} more' if len(rows) > limit else ''
    return f'<table style="{style}">{"".join(lines)}</table>{line(more)}'
