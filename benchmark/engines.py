"""
A million poses of a 7R arm by `ik_node batch` on threads, processes and Dask, and after a kill.

Each run is a command of its own. All files must be equal, byte for byte: those of all engines, and
of a job that is killed half-way and resumed. Poses come from forward kinematics of random
configurations. The CPU time of a killed job is that of its main process only.
"""

from __future__ import annotations

import argparse
from contextlib import suppress
from filecmp import cmp
import os
from pathlib import Path
import subprocess
import sys
import tempfile
from threading import Thread
from time import perf_counter, sleep

from machine import machine
import numpy as np
from tasks.arms import panda, within_limits
from tasks.task import Form

# Poses whose forward kinematics is computed at a time.
BLOCK = 20_000
# Time between two readings of the memory [s].
PERIOD = 0.2


def main(words: list[str] | None = None) -> int:
    """Print a table; return 1 if two files differ."""
    parser = argparse.ArgumentParser(prog='ik_node bench engines', description=__doc__)
    parser.add_argument('--count', type=int, default=1_000_000, help='poses (default 1000000)')
    parser.add_argument('--workers', type=int, default=2, help='(default 2)')
    parser.add_argument('--restarts', type=int, default=500, help='at most (default 500)')
    parser.add_argument('--seed', type=int, default=0, help='of the poses (default 0)')
    parser.add_argument('--engines', nargs='+', default=['threads', 'processes', 'dask'])
    args = parser.parse_args(words)
    print(machine())
    names = ('run', 'workers', 's', 'poses/s', 'CPU s', 'poses/CPU s', 'MB main', 'MB in all')
    print(' '.join(f'{name:>18s}' for name in names))
    with tempfile.TemporaryDirectory() as folder:
        drill = Drill(Path(folder), args.count, args.restarts, args.seed)
        return drill.run(args.engines, args.workers)


class Drill:
    """
    The runs on the same poses.

    Parameters
    ----------
    folder : Path
        Folder for all files.
    count : int
        Number of poses.
    restarts : int
        Option of the solver.
    seed : int
        Seed of the poses.

    """

    def __init__(self, folder: Path, count: int, restarts: int, seed: int) -> None:
        self._folder, self._count, self._restarts = folder, count, restarts
        arm, rng = panda(), np.random.default_rng((seed, 11))
        (folder / 'arm.urdf').write_text(arm.urdf())
        poses = np.lib.format.open_memmap(
            folder / 'poses.npy', mode='w+', dtype=np.float64, shape=(count, 7)
        )
        for at in range(0, count, BLOCK):
            q = within_limits(arm, min(BLOCK, count - at), rng)
            poses[at : at + BLOCK] = Form(arm, [('tool', 'pose')], q, q).targets[:, 0]
        poses.flush()

    def run(self, engines: list[str], workers: int) -> int:
        """Do all runs and compare their files with the first one."""
        outs = []
        for engine in engines:
            for number in sorted({1, workers}):
                option = '--threads' if engine == 'threads' else '--workers'
                more = ['--engine', engine, option, str(number)]
                outs.append(self._once(f'{engine}', number, more))
        processes = ['--engine', 'processes', '--workers', str(workers)]
        outs.append(self._once('job killed', workers, processes, kill_job))
        outs[-1] = self._once('and resumed', workers, [*processes, '--resume'], out=outs[-1])
        different = [out.name for out in outs if not cmp(outs[0], out, shallow=False)]
        print(
            f'{outs[0].stat().st_size / 1e6:.1f} MB each; compared with the first of {len(outs)}'
        )
        print(f'different: {", ".join(different) or "none"}')
        return 1 if different else 0

    def _once(self, name, workers, more, disturb=None, out=None):
        """Run the command once, print a row of the table, and return the file."""
        if out is None:
            out = self._folder / f'{name} {workers}.csv'.replace(' ', '_')
        command = [sys.executable, '-m', 'ik_node', 'batch', str(self._folder / 'arm.urdf')]
        command += ['--goals', str(self._folder / 'poses.npy'), '--link', 'tool']
        command += ['-o', str(out), '--restarts', str(self._restarts), *more]
        rows = rows_of(out)
        before, began = os.times(), perf_counter()
        job = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        memory = Memory(job.pid)
        if disturb is not None:
            disturb(job, out, self._count)
        job.wait()
        spent, after = perf_counter() - began, os.times()
        done = rows_of(out) - rows
        work = after[2] + after[3] - before[2] - before[3]
        figures = f'{spent:18.2f} {done / spent:18.0f} {work:18.2f} {done / work:18.0f}'
        print(f'{name:>18s} {workers:18d} {figures} {memory.ended()}', flush=True)
        return out


def kill_job(job: subprocess.Popen, out: Path, count: int) -> None:
    """Kill the job half-way."""
    wait_for_half(job, out, count)
    job.kill()


def wait_for_half(job: subprocess.Popen, out: Path, count: int) -> None:
    """Wait until half of the rows are in the file."""
    while job.poll() is None and rows_of(out) < count // 2:
        sleep(PERIOD / 4)
    assert job.poll() is None, 'it ended too soon'


def rows_of(out: Path) -> int:
    """Return the number of rows in a file."""
    if not out.is_file():
        return 0
    with out.open('rb') as file:
        lines = sum(block.count(b'\n') for block in iter(lambda: file.read(1 << 20), b''))
        file.seek(0)
        return max(0, lines - 1 - (file.read(1) == b'#'))


def children(process: int) -> list[int]:
    """Return all processes below a process."""
    own: list[int] = []
    for thread in Path(f'/proc/{process}/task').glob('*/children'):
        with suppress(FileNotFoundError, ProcessLookupError):
            own += map(int, thread.read_text().split())
    return own + [each for child in own for each in children(child)]


class Memory:
    """The most memory of a process, and of it with all that it started, without files."""

    def __init__(self, process: int) -> None:
        self._process, self._stop = process, False
        self._main: list[float] = [0.0]
        self._all: list[float] = [0.0]
        self._thread = Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop:
            own = private(self._process)
            self._main.append(own)
            self._all.append(own + sum(map(private, children(self._process))))
            sleep(PERIOD)

    def ended(self) -> str:
        """Return the columns of the table."""
        self._stop = True
        self._thread.join()
        return f'{max(self._main):18.0f} {max(self._all):18.0f}'


def private(process: int) -> float:
    """Return the memory of a process that it shares with no other and with no file [MB]."""
    try:
        lines = Path(f'/proc/{process}/smaps_rollup').read_text().splitlines()[1:]
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith('Private_Dirty')) / 1000


if __name__ == '__main__':
    sys.exit(main())
