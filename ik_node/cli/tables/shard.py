"""A part of a table of answers that another process writes, and the line that describes it."""

from __future__ import annotations

import re
from typing import NamedTuple

from ik_node.errors import OptionError

_SHARD = re.compile(r'(\d{1,9})/(\d{1,9})')
_LINE = re.compile(
    r'# ik_node batch: part (\d+) of (\d+), rows from (\d+) to before (\d+) of (\d+), '
    r'job ([0-9a-f]{64})\n'
)


class Shard(NamedTuple):
    """
    One of several parts of a table.

    Attributes
    ----------
    number, parts : int
        The part, from 1, and the number of parts.
    total : int
        Number of rows of all parts.
    job : str
        Digest of the robot, the goals and the options.

    """

    number: int
    parts: int
    total: int
    job: str

    @property
    def rows(self) -> range:
        """Return the rows of this part."""
        first, last = ((self.number + k) * self.total // self.parts for k in (-1, 0))
        return range(first, last)

    @property
    def line(self) -> str:
        """Return the first line of the file of this part."""
        rows = self.rows
        return (
            f'# ik_node batch: part {self.number} of {self.parts}, rows from {rows.start} to '
            f'before {rows.stop} of {self.total}, job {self.job}\n'
        )


def read_shard(text: str) -> tuple[int, int]:
    """
    Return number and count of parts from I/N.

    Raises
    ------
    OptionError
        If the text has another form, or I is not from 1 to N.

    """
    found = _SHARD.fullmatch(text)
    number, count = map(int, found.groups()) if found else (0, 0)
    if not 1 <= number <= count:
        raise OptionError('--shard', text, 'I/N, with I from 1 to N')
    return number, count


def shard_of_line(line: str) -> Shard | None:
    """Return the part that the first line of a file describes; None = it describes none."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    number, count, _, _, total = map(int, found.groups()[:5])
    shard = Shard(number, count, total, found[6])
    return shard if 1 <= number <= count and shard.line == line else None
