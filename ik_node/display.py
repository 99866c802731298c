"""Text for people: representations at a prompt or in a notebook, and lines of output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from ik_node.errors import MOST_NAME, MOST_TEXT, plain

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


def table(rows: Rows, limit: int = MOST_ROWS) -> list[str]:
    """
    Return the lines of a table as text; the first row is the heading.

    Of more than `limit` rows below it, the last line gives the number of those that are left out.
    """
    kept = [[*map(plain, row)] for row in rows[: limit + 1]]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    lines = [
        '  ' + '  '.join(map(str.ljust, row, widths)).rstrip()  # one line per row
        for row in kept
    ]
    return lines + ([f'  ... {len(rows) - len(kept)} more'] if len(rows) > len(kept) else [])


def html_table(rows: Rows, limit: int = 100) -> str:
    """Return a table as HTML, as `table` does as text."""
    kept = rows[: limit + 1]
    lines = [_html_row(row, 'td' if index else 'th') for index, row in enumerate(kept)]
    if len(rows) > len(kept):
        lines.append(_html_row([f'... {len(rows) - len(kept)} more'], 'td'))
    return f'<table>{"".join(lines)}</table>'


def html_text(text: str) -> str:
    """Return one or several lines of text as HTML."""
    return f'<pre>{_escape(printable(text.splitlines()))}</pre>'


class Tabular:
    """An object that is shown as a heading and a table of its numbers."""

    __slots__ = ()
    __dir__ = public_names

    def __repr__(self) -> str:
        return '\n'.join([self._headline(), *table(self._rows())])

    def _repr_html_(self) -> str:
        return html_text(self._headline()) + html_table(self._rows())

    def _headline(self) -> str:
        raise NotImplementedError

    def _rows(self) -> Rows:
        raise NotImplementedError


def _html_row(cells: Sequence[str], tag: str) -> str:
    return f'<tr>{"".join(f"<{tag}>{escaped(cell)}</{tag}>" for cell in cells)}</tr>'


def escaped(text: str, limit: int = MOST_NAME) -> str:
    """Return a name or a message as one printable line of HTML; see `plain`."""
    return _escape(plain(text, limit))


def printable(lines: Iterable[str]) -> str:
    """Return lines as one text without control characters and of moderate length."""
    return '\n'.join(plain(line, MOST_TEXT) for line in lines)


def say(*lines: str, file: TextIO | None = None) -> None:
    """Print lines that may contain names from files: on the standard output, or to a file."""
    print(printable(lines), file=file)


def _escape(text: str) -> str:
    from html import escape  # here, because its table of entities takes a millisecond to import

    return escape(text)
