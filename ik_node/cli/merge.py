# flake8: noqa: E203
"""
Join the files of all parts of `batch --shard I/N` into one file.

The result is the same file, byte for byte, as that of `batch` without --shard. The parts may be
given in any order. If a part is missing, incomplete, or of another robot, other goals or other
options, nothing is written, and the error names the part and its missing rows, counted from 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
import shutil
from typing import BinaryIO, NamedTuple

from ik_node.cli.robot_arguments import check_files
from ik_node.cli.tables.answer_table import BLOCK, end_of_rows
from ik_node.cli.tables.shard import Shard, shard_of_line
from ik_node.errors import DescriptionError
from ik_node.whole_file import whole_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the files."""
    parser.add_argument('out', metavar='OUT', help='output file: .csv')
    parser.add_argument('parts', nargs='+', metavar='PART', help='files of all parts')
    parser.add_argument('--overwrite', action='store_true', help='replace an output file')


def run(args: argparse.Namespace) -> int:
    """Check the parts, join them, and return the exit code."""
    out = Path(args.out)
    check_files(*args.parts)
    if out.exists() and not args.overwrite:
        raise DescriptionError('the file exists; --overwrite replaces it', source=args.out)
    parts = sorted((_read_part(path) for path in args.parts), key=lambda part: part.shard.number)
    _check(parts)
    with whole_file(out) as unfinished, unfinished.open('wb') as file:
        file.write(parts[0].header)
        for part in parts:
            with open(part.path, 'rb') as rows:
                rows.seek(part.begin)
                shutil.copyfileobj(rows, file, BLOCK)
    print(f'{len(parts)} parts, {parts[0].shard.total} rows; {out}')
    return 0


class _PartFile(NamedTuple):
    """A file of a part: where its rows begin [bytes], and how many it has."""

    path: str
    shard: Shard
    header: bytes
    begin: int
    row_count: int


def _read_part(path: str) -> _PartFile:
    with open(path, 'rb') as file:
        shard = shard_of_line(file.readline(BLOCK).decode(errors='replace'))
        if shard is None:
            raise DescriptionError('not a file of `ik_node batch --shard`', source=path, line=1)
        header = file.readline()
        begin = file.tell()
        return _PartFile(path, shard, header, begin, _count_rows(file, begin))


def _count_rows(file: BinaryIO, begin: int) -> int:
    """Return the number of complete lines from a position."""
    end = end_of_rows(file)
    file.seek(begin)
    count = 0
    while file.tell() < end:
        count += file.read(min(BLOCK, end - file.tell())).count(b'\n')
    return count


def _check(parts: Sequence[_PartFile]) -> None:
    """Raise DescriptionError for the first part that is missing or does not fit the others."""
    first = parts[0]
    of_same_job = first.shard._replace(number=1)
    for part in parts:
        if part.shard._replace(number=1) != of_same_job or part.header != first.header:
            why = 'is of another robot, other goals, other options, or another number of parts'
            raise DescriptionError(f'{why} than {first.path}', source=part.path)
    found: dict[int, str] = {}
    for part in parts:
        number = part.shard.number
        if number in found:
            why = f'part {number} of {first.shard.parts} is also in {found[number]}'
            raise DescriptionError(why, source=part.path)
        found[number] = part.path
    missing = [n for n in range(1, first.shard.parts + 1) if n not in found]
    if missing:
        rows = _in_words(first.shard._replace(number=missing[0]).rows)
        more = f', and {len(missing) - 1} more parts' if len(missing) > 1 else ''
        what = f'part {missing[0]} of {first.shard.parts} is missing ({rows}){more}'
        raise DescriptionError(what, source='parts')
    for part in parts:
        rest = part.shard.rows[part.row_count :]
        if part.row_count > len(part.shard.rows):
            why = f'{part.row_count} rows instead of {len(part.shard.rows)}'
            raise DescriptionError(why, source=part.path)
        if rest:
            why = f'incomplete: {_in_words(rest)} are missing; `batch --resume` continues it'
            raise DescriptionError(why, source=part.path)


def _in_words(rows: range) -> str:
    return f'rows {rows.start} to {rows.stop - 1}' if rows else 'no rows'
