"""
Compare the speed of this checkout with an earlier version: a wheel, or a folder with `ik_node`.

Both versions solve the same problems in turn, each in a process of its own, and only what both
measured within the same minute is compared. So other load of the machine, another machine or
another day do not matter, as they would for times that were kept. A case fails if the fastest
round of this checkout is slower than the fastest of the other by more than the limit, also when it
is measured again. Each run appends one line to benchmark/results/track.jsonl.
"""

from __future__ import annotations

import argparse
from datetime import date
import json
import os
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory
from time import perf_counter
import zipfile

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / 'results' / 'track.jsonl'
LIMIT = 1.10  # of new time / old time
COUNT = 200  # problems of a case
SECONDS = 0.15  # of a case in one round
# Robot file, link, and largest offset [m] of its goals from its start.
CASES = {
    'arm6': ('arm6.urdf', 'tool_link', 0.15),
    'hexapod': ('hexapod.urdf', 'platform_link', 0.01),
    'hexapod small steps': ('hexapod.urdf', 'platform_link', 0.001),
    'delta': ('delta.urdf', 'platform_link', 0.02),
}


def work() -> int:
    """Measure each case once for every line on stdin; print times [us] as a line of JSON."""
    import ik_node
    import numpy as np

    calls = {}
    for name, (file, link, largest) in CASES.items():
        robot = ik_node.load_robot(str(ROOT / 'urdf' / file))
        solver = ik_node.Solver(robot)
        pose, rng = robot.forward(robot.q, link), np.random.default_rng(1)
        positions = pose[:3, 3] + rng.uniform(-largest, largest, (COUNT, 3))
        quat = ik_node.model.rotation.matrix_to_quat(pose[:3, :3])
        calls[name] = (solver.prepare([link]), positions, quat, robot.q)
    print(json.dumps(ik_node.__file__), flush=True)
    for _ in sys.stdin:
        found = {}
        for name, (solve, positions, quat, q0) in calls.items():
            best, end = np.inf, perf_counter() + SECONDS
            while perf_counter() < end:
                begin = perf_counter()
                for position in positions:
                    solve(position, quat, q0)
                best = min(best, perf_counter() - begin)
            found[name] = 1e6 * best / COUNT
        print(json.dumps(found), flush=True)
    return 0


def start(folder: Path) -> subprocess.Popen[str]:
    """Start the worker of one version."""
    command = [sys.executable, str(HERE / 'track.py'), '--work']
    environment = {**os.environ, 'PYTHONPATH': str(folder), 'OMP_NUM_THREADS': '1'}
    pipe = subprocess.PIPE
    worker = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
    assert worker.stdout is not None
    said = worker.stdout.readline()
    if not said or Path(json.loads(said)).parent.parent != folder:
        worker.communicate()
        raise SystemExit(f'bench-track: no ik_node can be imported from {folder}')
    return worker


def times(worker: subprocess.Popen[str]) -> dict[str, float]:
    """Return the times of one round [us]."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    print(file=worker.stdin, flush=True)
    found: dict[str, float] = json.loads(worker.stdout.readline())
    return found


def compare(old: Path, new: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """Return the fastest rounds of both versions by case [us], measured in turn."""
    workers = [start(old), start(new)]
    found: dict[str, tuple[float, float]] = {}
    try:
        for turn in range(rounds):
            pair: list[dict[str, float]] = [{}, {}]
            for which in (0, 1) if turn % 2 else (1, 0):
                pair[which] = times(workers[which])
            for name in CASES:
                before = found.get(name, (float('inf'),) * 2)
                found[name] = (min(before[0], pair[0][name]), min(before[1], pair[1][name]))
    finally:
        for worker in workers:
            worker.communicate()
    return found


def slower(found: dict[str, tuple[float, float]]) -> list[str]:
    """Return the cases that are slower than before by more than the limit."""
    return [name for name, (old, new) in found.items() if new > LIMIT * old]


def main(words: list[str] | None = None) -> int:
    """Compare, print, keep a line; return 1 if a case is slower."""
    parser = argparse.ArgumentParser(prog='ik_node bench track', description=__doc__)
    parser.add_argument('old', type=Path, help='a wheel, or a folder that contains ik_node')
    parser.add_argument('--rounds', type=int, default=20, help='of each version (default 20)')
    parser.add_argument('--keep', action='store_true', help=f'append to {RESULTS.name}')
    args = parser.parse_args(words)
    with TemporaryDirectory() as folder:
        old = args.old.resolve()
        if old.suffix == '.whl':
            with zipfile.ZipFile(old) as wheel:
                wheel.extractall(folder)
            old = Path(folder).resolve()
        found = compare(old, ROOT, args.rounds)
        if slower(found):
            found = compare(old, ROOT, 2 * args.rounds)
    print(f'{"[us]":24s} {"before":>9s} {"now":>9s} {"ratio":>6s}')
    for name, (before, now) in found.items():
        print(f'{name:24s} {before:9.2f} {now:9.2f} {now / before:6.2f}')
    if args.keep:
        keep(args.old.name, found)
    failed = slower(found)
    print(f'slower by more than 10 %: {", ".join(failed) or "none"}')
    return 1 if failed else 0


def keep(old: str, found: dict[str, tuple[float, float]]) -> None:
    """Append a line to the kept results."""
    from machine import machine

    head = ['git', '-C', str(ROOT), 'describe', '--always', '--dirty']
    commit = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    times_us = {name: [round(each, 2) for each in pair] for name, pair in found.items()}
    line = {'date': date.today().isoformat(), 'commit': commit, 'before': old, 'us': times_us}
    with RESULTS.open('a') as file:
        file.write(json.dumps({**line, 'machine': machine()}) + '\n')


if __name__ == '__main__':
    sys.exit(work() if sys.argv[1:] == ['--work'] else main())
