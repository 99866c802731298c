"""What a Python prompt and a notebook show of an object."""

from __future__ import annotations

from collections.abc import Sequence

# Most rows of a table in a representation.
MOST_ROWS = 12

Rows = Sequence[Sequence[str]]


def public_names(self: object) -> list[str]:
    """
    Return the names of an object's attributes for `dir` and completion, without private ones.

    Names in the attribute `_internal` of its class are left out too: other modules of the package
    use them, users do not.
    """
    internal = getattr(type(self), '_internal', ())
    names = [name for name in object.__dir__(self) if name not in internal]
    return [name for name in names if name.startswith('__') or name[0] != '_']


def table(rows: Rows, most: int = MOST_ROWS) -> list[str]:
    """
    Return the lines of a table as text.

    Parameters
    ----------
    rows : sequence of sequence of str
        The cells; the first row is the heading.
    most : int
        Most rows below the heading. The last line gives the number of those that are left out.

    """
    kept = rows[: most + 1]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    lines = [
        '  ' + '  '.join(map(str.ljust, row, widths)).rstrip()  # one line per row
        for row in kept
    ]
    return lines + ([f'  ... {len(rows) - len(kept)} more'] if len(rows) > len(kept) else [])


def html_table(rows: Rows, most: int = 100) -> str:
    """Return a table as HTML, as `table` does as text."""
    kept = rows[: most + 1]
    lines = [_html_row(row, 'td' if at else 'th') for at, row in enumerate(kept)]
    if len(rows) > len(kept):
        lines.append(_html_row([f'... {len(rows) - len(kept)} more'], 'td'))
    return f'<table>{"".join(lines)}</table>'


def html_text(text: str) -> str:
    """Return one or several lines of text as HTML."""
    return f'<pre>{_escaped(text)}</pre>'


def _html_row(cells: Sequence[str], tag: str) -> str:
    return f'<tr>{"".join(f"<{tag}>{_escaped(cell)}</{tag}>" for cell in cells)}</tr>'


def _escaped(text: str) -> str:
    from html import escape  # here, because its table of entities takes a millisecond to import

    return escape(text)
