"""A bar on the last line of a terminal; silent where there is none."""

from __future__ import annotations

import sys
from time import perf_counter

WIDTH = 24


class Progress:
    """How far a long work has come, and how long it will take still."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._begin = max(1, total), 0, perf_counter()
        self._shown = sys.stderr.isatty()

    def tick(self, what: str) -> None:
        """Begin the next part."""
        if self._shown:
            share = self._done / self._total
            bar = '#' * round(WIDTH * share)
            spent = perf_counter() - self._begin
            left = f'{spent * (1 - share) / share:4.0f} s left' if share > 0.0 else ''
            print(f'\r[{bar:<{WIDTH}}] {left} {what[:60]:60s}', end='', file=sys.stderr)
        self._done += 1

    def clear(self) -> None:
        """Take the bar away, so that something can be printed."""
        if self._shown:
            print('\r' + ' ' * (WIDTH + 76) + '\r', end='', file=sys.stderr, flush=True)
