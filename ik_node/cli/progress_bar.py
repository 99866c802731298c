"""A bar on the last line of a terminal; silent where standard error is none."""

from __future__ import annotations

import sys
from time import perf_counter

WIDTH = 30


class ProgressBar:
    """
    How far a long work has come, how fast it goes, and how long it will take still.

    Parameters
    ----------
    done : int
        What was done before.

    """

    def __init__(self, done: int = 0) -> None:
        self._before, self._begin = done, perf_counter()
        self._shown = sys.stderr.isatty()
        self._drawn = 0

    def show(self, done: int, total: int) -> None:
        """Draw how much is done, in place of what was drawn before."""
        if not self._shown:
            return
        spent = max(perf_counter() - self._begin, 1e-6)
        rate = (done - self._before) / spent
        bar = '#' * (WIDTH * done // max(total, 1))
        left = f', {(total - done) / rate:.0f} s left' if rate > 0.0 else ''
        text = f'[{bar:<{WIDTH}}] {done} of {total}, {rate:.0f}/s{left}'
        print(f'\r{text:<{self._drawn}}', end='', file=sys.stderr, flush=True)
        self._drawn = len(text)

    def clear(self) -> None:
        """Take the bar away, so that something else can be printed."""
        if self._drawn:
            print('\r' + ' ' * self._drawn + '\r', end='', file=sys.stderr, flush=True)
            self._drawn = 0
