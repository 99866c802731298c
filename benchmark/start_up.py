"""
Time of a process to its first solution, from the start of its imports, and its memory.

Beside it stands the import of NumPy alone, in processes of the same round.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

MEMORY = 'print(time.perf_counter() - t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)'
PROGRAMS = {
    'import numpy': 'import numpy',
    'import ik_node': 'import ik_node',
    'first solution': """
import ik_node
from ik_node.description.files import description_path
robot = ik_node.load_robot(description_path('hexapod.urdf'))
ik_node.Solver(robot).solve_pose({'platform_link': ((0.0, 0.0, 0.09), (0.0, 0.0, 0.0, 1.0))})
""",
}


def measure(code: str) -> tuple[float, float]:
    """Return the time of a new process for some code [s], and its largest memory [MB]."""
    program = f'import resource, time\nt = time.perf_counter()\n{code}\n{MEMORY}'
    command = [sys.executable, '-c', program]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(said[0]), float(said[1])


def main() -> None:
    """Print medians."""
    parser = argparse.ArgumentParser(prog='ik_node bench start_up', description=__doc__)
    parser.add_argument('--repeats', type=int, default=9)
    args = parser.parse_args()
    runs: dict[str, list[tuple[float, float]]] = {what: [] for what in PROGRAMS}
    for at in range(args.repeats + 1):
        for what, code in PROGRAMS.items():
            found = measure(code)
            if at > 0:  # the first round fills the caches of the operating system
                runs[what].append(found)
    for what, found in runs.items():
        times, memory = zip(*found, strict=True)
        print(
            f'{what:16s} median {statistics.median(times):.3f} s, best {min(times):.3f} s, '
            f'worst {max(times):.3f} s, {statistics.median(memory):.0f} MB'
        )


if __name__ == '__main__':
    main()
