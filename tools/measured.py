"""
Compare the measured numbers of README.md and docs/ with the kept runs: `make numbers`.

A kept run is a file in benchmark/results/kept: the lines `command:`, `date:`, `commit:` and
`machine:`, an empty line, and what the command printed. On a page the comment
`<!-- numbers: NAME -->`, on a line of its own, names the run of all numbers below it, up to the
next such comment or heading. It may name several runs, or the file of a test that computes the
numbers, or `not measured (REASON)` for limits, settings and arithmetic.

Elsewhere no page may have a claim: a number in digits or words with a unit of time, data,
throughput or per cent, with "times as" or "of 40", or a table in such a unit. Below the name of
a run, every claim, every number with a decimal point or a thousands separator, and every table
cell of numbers must be in the run, rounded as on the page. The numbers of a row of a table must
be in one line of the run, in the same order. The page must have the command of the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import lru_cache
import os
from pathlib import Path
import re
import subprocess
import sys
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / 'benchmark' / 'results' / 'kept'
HEAD = ('command', 'date', 'commit', 'machine')
# Dated records themselves, and pages that are made from other files.
RECORDS = ('docs/decisions/0', 'docs/kept_runs.md', 'docs/generated/')

COMMENT = re.compile(r'\s*<!-- numbers: (.+) -->')
COUNTS = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
WORDS: dict[str, float] = {word: number for number, word in enumerate(COUNTS, 2)}
WORDS |= {'half': 0.5, 'twice': 2, 'twenty': 20, 'thirty': 30, 'eighty': 80, 'hundred': 100}
DIGITS = r'(?<![\w.,^/+-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[+-]?\d+)?(?![\w^]|[.,/-]\d)'
NUMBER = re.compile(rf'{DIGITS}|\b(?:{"|".join(WORDS)})\b', re.IGNORECASE)
UNIT = re.compile(
    rf'(?:(?:,| to| or| and|, and) (?:{NUMBER.pattern}))*\s?(?:an? )?(?:%|of \d|(?:[num]?s|min|h|'
    r'(?:milli|micro)?seconds?|minutes?|hours?|[kMGT]B(?:/s)?|bytes|goals/s|as (?:fast|slow|long)'
    r'|times (?:as|that|those|slower|faster|longer))(?![\w/]))',
    re.IGNORECASE,
)
# A table or a text whose numbers have such a unit.
HEADER = re.compile(r'\b(?:[num]s|seconds|median)\b|\[s\]|%')
IN_UNIT = re.compile(r'\b[Ii]n (?:us|ms)\b|\[[num]?s\]:')
# A cell of numbers with at most short words, which are units.
CELL = re.compile(rf'\W*(?:{DIGITS})(?:[^a-zA-Z]|\b[a-zA-Z]{{1,3}}\b)*')
PRINTED = re.compile(rf'(?<![\w.])\d+(?:,\d{{3}})*(?:\.\d+)?(?:e[+-]?\d+)?|{NUMBER.pattern}')
DATE = re.compile(r'\b\d{4}-\d\d-\d\d\b')


class Claim(NamedTuple):
    """Numbers of a row, a line of output or a paragraph, and the sources named above them."""

    line: int
    numbers: list[str]
    sources: list[str]
    in_one_line: bool


def blocks(text: str) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield first line, kind (prose, row, output), text and sources of each block of a page."""
    sources: list[str] = []
    fence, begin, prose = '', 0, ''
    for number, line in enumerate([*text.splitlines(), ''], 1):
        comment = COMMENT.fullmatch(line)
        apart = comment or not line.strip() or line.startswith(('#', '|', '```'))
        if prose and (apart or re.match(r'\s*(?:[-*]|\d+\.) ', line)):
            yield begin, 'prose', prose, sources
            prose = ''
        if line.startswith('```'):
            fence = '' if fence else line
        elif fence:
            # Code in a language is run by tests; this is output.
            if fence in ('```', '```console'):
                yield number, 'output', line, sources
        elif comment:
            sources = re.split(r', (?![^(]*\))', comment[1])
        elif line.startswith('#'):
            sources = []
        elif line.startswith('|'):
            yield number, 'row', line, sources
        elif line.strip():
            begin = begin if prose else number
            prose += f'{line.strip()} '


def claims(text: str) -> Iterator[Claim]:
    """Yield the claims of a page."""
    header, last = '', 0
    for line, kind, block, sources in blocks(text):
        run = bool(sources) and not sources[0].startswith(('test/', 'not measured'))
        plain = block if kind == 'output' else re.sub(r'`[^`]*`|\]\([^)]*\)', '`', block)
        if kind == 'row':
            header, last = (header if line == last + 1 else plain), line
        found = []
        for part in plain.split('|') if kind == 'row' else [plain]:
            every = kind == 'row' and CELL.fullmatch(part) and (run or HEADER.search(header))
            for each in NUMBER.finditer(part):
                precise = run and kind == 'prose' and re.search(r'[.,]', each[0])
                if every or precise or UNIT.match(part, each.end()):
                    found.append(each[0])
        if run and kind == 'prose':
            found += DATE.findall(plain)
        if found or sources or (kind == 'prose' and IN_UNIT.search(plain)):
            yield Claim(line, found, sources, kind != 'prose')


def missing(claim: Claim, runs: list[str]) -> list[str]:
    """Return the numbers of a claim that none of the runs has."""
    above = re.split(r'[ ,;\n]', '\n'.join(run.partition('\n\n')[0] for run in runs))
    lines = [line for run in runs for line in printed(run)]
    groups = [claim.numbers] if claim.in_one_line else [[each] for each in claim.numbers]
    return [
        ', '.join(group)
        for group in groups
        if group
        # Dates and versions are in the lines above what was printed.
        and not (re.search(r'\d[.-]', group[0]) and group[0] in above)
        and (DATE.fullmatch(group[0]) or not any(has(line, group) for line in lines))
    ]


@lru_cache
def printed(run: str) -> list[list[float]]:
    """Return the numbers of each line that the command of a run printed."""
    lines = run.partition('\n\n')[2].splitlines()
    return [[value(each) for each in PRINTED.findall(line)] for line in lines]


def has(line: list[float], numbers: list[str]) -> bool:
    """Return True if a line has the numbers in this order, rounded as they are."""
    values = iter(line)
    return all(
        any(abs(each - value(number)) <= rounding(number) for each in values) for number in numbers
    )


def value(number: str) -> float:
    """Return the value of a number in digits or words."""
    return WORDS.get(number.lower()) or float(number.replace(',', ''))


def rounding(number: str) -> float:
    """Return half a unit of the last digit, and a little for binary fractions."""
    mantissa, _, power = number.lower().partition('e' if number[0].isdigit() else ' ')
    decimals = len(mantissa.partition('.')[2])
    return 0.500001 * 10.0 ** (int(power or 0) - decimals)


def problems(pages: dict[str, str], runs: dict[str, str]) -> list[str]:
    """Return a line for each claim without a run, and for each number that is not in its run."""
    found, used = [], set()
    for name, text in pages.items():
        flat = re.sub(r'[\s\\]+', ' ', text)  # a command may go over several lines
        for claim in claims(text):
            at, said = f'{name}:{claim.line}', ', '.join(claim.numbers)
            if not claim.sources:
                found.append(f'{at}: no <!-- numbers: ... --> above: {said or "a unit of time"}')
                continue
            named = [each for each in claim.sources if not each.startswith('not measured (')]
            tests = [each for each in named if each.startswith('test/')]
            found += [f'{at}: no test {each}' for each in tests if not (ROOT / each).is_file()]
            kept = [each for each in named if each not in tests]
            found += [f'{at}: no kept run {each}' for each in kept if each not in runs]
            kept = [each for each in kept if each in runs]
            used.update((name, each) for each in kept)
            lost = missing(claim, [runs[each] for each in kept]) if kept else []
            found += [f'{at}: not in {", ".join(kept)}: {each}' for each in lost]
        for each in sorted({run for page, run in used if page == name}):
            command = head(runs[each]).get('command', '')
            if command not in flat and not command.startswith('none ('):
                found.append(f'{name}: the command of {each} is missing: {command}')
    for each, text in runs.items():
        found += [f'{each}: no line {key}:' for key in HEAD if not head(text).get(key)]
        if each not in {run for _, run in used}:
            found.append(f'{each}: no page names this run')
    return found


def head(text: str) -> dict[str, str]:
    """Return the lines above the first empty one, by their keys."""
    lines = [line.partition(': ') for line in text.partition('\n\n')[0].splitlines()]
    return {key: content.strip() for key, _, content in lines}


def read() -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts of all pages and of all kept runs."""
    paths = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
    pages = {path.relative_to(ROOT).as_posix(): path.read_text() for path in paths}
    pages = {name: text for name, text in pages.items() if not name.startswith(RECORDS)}
    return pages, {path.stem: path.read_text() for path in sorted(KEPT.glob('*.txt'))}


def keep(names: list[str]) -> None:
    """Run the commands of kept runs again, and replace what they printed."""
    sys.path.append(str(ROOT / 'benchmark'))
    from machine import machine

    # A make below this one would print its folder.
    environment = {name: text for name, text in os.environ.items() if 'MAKE' not in name}
    run = {'cwd': ROOT, 'text': True, 'stdout': subprocess.PIPE, 'check': True, 'env': environment}
    # Before the first run is kept: a file that is written here is no change of what runs.
    commit = subprocess.run(['git', 'describe', '--always', '--dirty'], **run).stdout.strip()
    for name in names:
        path = KEPT / f'{name}.txt'
        command = head(path.read_text())['command']
        values = command, date.today().isoformat(), commit, machine().replace('\n', '; ')
        printed = subprocess.run(command, shell=True, **run).stdout
        lines = (f'{key}: {each}\n' for key, each in zip(HEAD, values, strict=True))
        path.write_text(f'{"".join(lines)}\n{printed}')


def main(names: list[str]) -> int:
    """Keep the runs with these names; compare; return 1 if a number differs."""
    keep(names)
    pages, runs = read()
    found = problems(pages, runs)
    without = [name for name, run in runs.items() if run.startswith('command: none (')]
    summary = f'{len(runs)} kept runs, {len(without)} without a command: {", ".join(without)}'
    print('\n'.join([*found, summary, f'{len(found)} problems']))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
