"""
Run our solver and the installed peers alternately on the same problems.

Each solver has one thread and a warm-up. Forward kinematics in NumPy that shares no code with any
solver verifies the answers. Our tolerance is 1e-6 m and rad; peers have 1e-4 unless their row says
otherwise, and the table has both shares. Times are those of the quietest round.
"""

from __future__ import annotations

import argparse
from datetime import date
import json
from pathlib import Path
import sys
from typing import Any

from docs_tables import docs_tables
from machine import machine
from players import command_of, OURS, PEERS, Worker
from report import comparison, fit_table, fits, table
from rounds import play
from tasks.all_tasks import GROUPS, tasks_of
from tqdm import tqdm


def arguments() -> argparse.ArgumentParser:
    """Return the parser."""
    groups = '\n'.join(f'  {name:10s} {about}' for name, (_, _, about) in GROUPS.items())
    parser = argparse.ArgumentParser(
        prog='ik_node bench',
        description=__doc__,
        epilog=f'groups:\n{groups}\n\nbenchmark/set_up_peers.py installs the peers.',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add('groups', nargs='*', metavar='GROUP', help='groups of tasks, or single tasks; all')
    add('--peers', nargs='*', metavar='NAME', help='peers that take part; none: ours alone; all')
    add('--rounds', type=int, default=5, help='rounds that count (default 5)')
    add('--count', type=int, help='problems of a task (default: by group, 100 to 500)')
    add('--seconds', type=float, default=0.8, help='longest turn of a solver (default 0.8)')
    add('--seed', type=int, default=0, help='of the problems (default 0)')
    add('--save', type=Path, metavar='FILE', help='write everything as JSON')
    add('--plots', type=Path, metavar='FOLDER', help='write pictures')
    add('--compare', type=Path, metavar='OLD', help='print ratios to a file that --save wrote')
    add('--markdown', action='store_true', help='print the tables of docs/benchmark.md, too')
    add('--with', type=Path, metavar='FILE', dest='loaded', help='load this instead of measuring')
    return parser


def main(words: list[str] | None = None) -> int:
    """Measure, print, save."""
    parser = arguments()
    args = parser.parse_args(words)
    if args.loaded:
        report = json.loads(args.loaded.read_text())
        for name in dict.fromkeys(row['task'] for row in report['rows']):
            rows = [row for row in report['rows'] if row['task'] == name]
            print(f'\n{name}: {rows[0].get("about", "")}\n{table(rows)}')
    else:
        report = measure(parser, args)
    found = fits([row for row in report['rows'] if 'unfit' not in row])
    if found:
        print('\n' + fit_table(found))
    if args.compare:
        print('\n' + comparison(json.loads(args.compare.read_text()), report))
    if args.markdown:
        print('\n' + docs_tables(report))
    if args.save:
        args.save.write_text(json.dumps(report, indent=1))
    if args.plots:
        from pictures import draw

        for path in draw(report, args.plots):
            print(path)
    return 0


def measure(parser: argparse.ArgumentParser, args: argparse.Namespace) -> dict[str, Any]:
    """Run all rounds and print a table after each task."""
    tasks = list(tasks_of(list(GROUPS), args.count, args.seed))
    names = [task.name for task in tasks]
    wanted = args.groups or list(GROUPS)
    unknown = [word for word in wanted if word not in GROUPS and word not in names]
    if unknown:
        known = f'groups {", ".join(GROUPS)}; tasks {", ".join(names)}'
        parser.error(f'no group or task {unknown[0]!r}; there are: {known}')
    grouped = {t.name for t in tasks_of([w for w in wanted if w in GROUPS], args.count, args.seed)}
    tasks = [task for task in tasks if task.name in grouped or task.name in wanted]
    entries = [*OURS, *chosen_peers(parser, args.peers)]
    report: dict[str, Any] = {'date': date.today().isoformat(), 'machine': machine(), 'rows': []}
    workers: dict[str, Worker] = {}
    versions: dict[str, str] = {}

    def worker_of(solver: str) -> Worker:
        if solver in workers and workers[solver].has_ended:
            workers.pop(solver).close()
        if solver not in workers:
            workers[solver] = Worker(solver)
            if workers[solver].trouble:
                print(f'{solver}: {workers[solver].trouble}', file=sys.stderr)
        return workers[solver]

    bar = tqdm(total=len(tasks) * (args.rounds + 1) * len(entries), disable=None, leave=False)

    def tick(what: str) -> None:
        bar.set_description_str(what)
        bar.update()

    try:
        for task in tasks:
            rows = list(play(task, entries, worker_of, args.rounds, args.seconds, tick))
            bar.clear()
            print(f'\n{task.name}: {task.about}\n{table(rows)}', flush=True)
            report['rows'] += rows
            if task.family:
                # Big mechanisms leave some libraries with memory that they do not give back.
                for solver in [name for name in workers if name != 'ours']:
                    versions[solver] = workers[solver].version
                    workers.pop(solver).close()
    except KeyboardInterrupt:
        print('\nstopped; what was measured up to here:', file=sys.stderr)
    finally:
        bar.close()
        for worker in workers.values():
            worker.close()
    report['versions'] = {**versions, **{k: worker.version for k, worker in workers.items()}}
    return report


def chosen_peers(parser: argparse.ArgumentParser, names: list[str] | None) -> list[Any]:
    """Return the selected, installed entries of peers, and print missing ones."""
    known = list(dict.fromkeys(entry.solver for entry in PEERS))
    for name in names or ():
        if name not in known:
            parser.error(f'no peer {name!r}; there are: {", ".join(known)}')
    wanted = known if names is None else names
    missing = [name for name in wanted if command_of(name) is None]
    if missing:
        how = 'tools/run python benchmark/set_up_peers.py'
        print(f'not installed: {", ".join(missing)} (`{how}`)', file=sys.stderr)
    return [entry for entry in PEERS if entry.solver in wanted and entry.solver not in missing]


if __name__ == '__main__':
    sys.exit(main())
