"""
Write the output of kept runs into the pages that name them.

Run it as `tools/run python -m tools.measured`.

A kept run is a file in benchmark/results/kept: the lines `command:`, `date:` and `machine:`, an
empty line, and what the command printed. On a page, `<!-- run: NAME -->` begins the text of a
run and `<!-- end of run -->` ends it. `<!-- tasks: NAME TASK TASK ... -->` begins a table with the
medians of some of its tasks, and `<!-- end of tasks -->` ends it. Pages have measured numbers
nowhere else.
"""

from __future__ import annotations

from datetime import date
import os
from pathlib import Path
import re
import subprocess
import sys

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / 'benchmark' / 'results' / 'kept'
HEAD = ('command', 'date', 'commit', 'machine')
BLOCK = re.compile(r'<!-- run: (\w+) -->\n.*?<!-- end of run -->', re.DOTALL)

TASKS = re.compile(r'<!-- tasks: (\w+)((?: \w+)+) -->\n.*?<!-- end of tasks -->', re.DOTALL)


def pages() -> list[Path]:
    """Return README.md and the pages of docs/ without the dated records of decisions."""
    found = [ROOT / 'README.md', *sorted((ROOT / 'docs').rglob('*.md'))]
    return [path for path in found if path.parent.name not in ('decisions', 'generated', 'api')]


def head(run: str) -> dict[str, str]:
    """Return the lines above the first empty one, by their keys."""
    lines = [line.partition(': ') for line in run.partition('\n\n')[0].splitlines()]
    return {key: content.strip() for key, _, content in lines}


def shown(run: str) -> str:
    """Return the text of a run as a page shows it: command, date, machine and output."""
    facts, printed = head(run), run.partition('\n\n')[2].strip('\n')
    if not re.search(r'^\|', printed, re.MULTILINE):
        printed = f'```text\n{printed}\n```'
    return f'`{facts["command"]}`, {facts["date"]}, {facts["machine"]}:\n\n{printed}'


def written(page: str) -> str:
    """Return a page with the present text of every kept run that it names."""

    def block(found: re.Match[str]) -> str:
        text = shown((KEPT / f'{found[1]}.txt').read_text())
        return f'<!-- run: {found[1]} -->\n\n{text}\n\n<!-- end of run -->'

    def tasks(found: re.Match[str]) -> str:
        rows = {}
        for line in (KEPT / f'{found[1]}.txt').read_text().splitlines():
            name, is_row, rest = line.strip('| ').partition(': ')
            cells = [cell.strip() for cell in rest.split('|')]
            if is_row and len(cells) > 7:
                about, _, ours, _, _, peer, _, median = cells[:8]
                rows[name] = f'| {about} | {ours} | {median} | {peer} |'
        body = '\n'.join(rows[name] for name in found[2].split())
        top = '| task | ik_node | best of the others | which is |\n|---|---|---|---|'
        begin = found[0].partition('\n')[0]
        return f'{begin}\n\n{top}\n{body}\n\n<!-- end of tasks -->'

    return TASKS.sub(tasks, BLOCK.sub(block, page))


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


def main(names: list[str]) -> None:
    """Keep the runs with these names, and write all pages."""
    keep(names)
    for path in pages():
        path.write_text(written(path.read_text()))


if __name__ == '__main__':
    main(sys.argv[1:])
