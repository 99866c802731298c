"""
Time of a call in a loop at 1 kHz, on the hexapod: the C++ example, then the same in Python.

The platform moves on a circle of 1 cm, one turn a second, and each solve starts at the one before.
Both take real-time priority and locked memory if the system allows it. CMake and a C++ compiler
build the example in a folder of its own.
"""

from __future__ import annotations

import argparse
import gc
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time

import ik_node as ik
from ik_node.export import export_robot
from machine import machine
import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parents[1]
LINK = 'platform_link'
PERIOD, RADIUS = 1e-3, 0.01  # [s], [m]


def in_c(seconds: float, solver: ik.Solver) -> str:
    """Build and run the example; return what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        robot = Path(folder) / 'robot.ikr'
        robot.write_bytes(export_robot(solver, [LINK]))
        source = ['-S', str(HERE / 'examples' / 'cpp'), '-B', folder]
        python = [f'-DPython3_EXECUTABLE={sys.executable}', f'-Dik_node_DIR={_cmake_folder()}']
        for command in (['cmake', *source, *python], ['cmake', '--build', folder]):
            subprocess.run(command, check=True, capture_output=True)
        words = [f'{folder}/control_loop', str(robot), str(seconds), str(RADIUS)]
        return subprocess.run(words, check=False, capture_output=True, text=True).stdout


def _cmake_folder() -> str:
    return str(HERE / 'ik_node' / 'native' / 'cmake')


def in_python(seconds: float, solver: ik.Solver) -> str:
    """Do the same with a prepared call."""
    prepared, q = solver.prepare([LINK]), solver.q
    pose = ik.load_robot(HERE / 'urdf' / 'hexapod.urdf').forward(q, LINK)
    home, upright = pose[:3, 3].copy(), np.array((0.0, 0.0, 0.0, 1.0))
    count = int(seconds / PERIOD)
    solves, wakes = np.zeros(count), np.zeros(count)
    converged = 0
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(80))
    except OSError:
        print('Python: no real-time priority', file=sys.stderr)
    gc.freeze()
    due = time.perf_counter()
    for tick in range(count):
        due += PERIOD
        time.sleep(max(0.0, due - time.perf_counter()))
        woken = time.perf_counter()
        angle = 2.0 * np.pi * PERIOD * tick
        wanted = home + RADIUS * np.array((np.cos(angle), np.sin(angle), 0.0))
        solution = prepared(wanted, upright, q)
        if solution.status is ik.Status.CONVERGED:
            q, converged = solution.q, converged + 1
        solves[tick], wakes[tick] = time.perf_counter() - woken, woken - due
    lines = [f'hexapod: {count} ticks, {converged} converged']
    return '\n'.join([*lines, _percentiles('solve', solves), _percentiles('wake-up', wakes)])


def _percentiles(what: str, times: NDArray[np.float64]) -> str:
    values = 1e6 * np.quantile(times, (0.5, 0.99, 0.999, 1.0))
    named = zip(('p50', 'p99', 'p99.9', 'worst'), values, strict=True)
    return f'{what:8s} ' + '   '.join(f'{name} {value:8.1f} us' for name, value in named)


def main() -> None:
    """Print the percentiles of both."""
    parser = argparse.ArgumentParser(prog='ik_node bench control', description=__doc__)
    parser.add_argument('--seconds', type=float, default=60.0, help='of each loop (default 60)')
    args = parser.parse_args()
    print(machine())
    robot = ik.load_robot(HERE / 'urdf' / 'hexapod.urdf')
    solver = ik.Solver(robot, ik.SolverOptions(restarts=0))
    print(f'\nC++\n{in_c(args.seconds, solver)}\nPython\n{in_python(args.seconds, solver)}')


if __name__ == '__main__':
    main()
