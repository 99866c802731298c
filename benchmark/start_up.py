"""Time of a process to import the package, and to its first solve, with a warm cache."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys

IMPORT = 'import time; t = time.perf_counter(); import ik_node; print(time.perf_counter() - t)'
FIRST_SOLVE = """
import time
import ik_node
t = time.perf_counter()
from ik_node.gallery.description_path import description_path
robot = ik_node.load_robot(description_path('hexapod.urdf'))
ik_node.Solver(robot).solve_pose({'platform_link': ((0.0, 0.0, 0.09), (0.0, 0.0, 0.0, 1.0))})
print(time.perf_counter() - t)
"""


def measure(code: str, repeats: int) -> list[float]:
    """Run the code in new processes, without counting the first, and collect its output."""
    command = [sys.executable, '-c', code]
    runs = [
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(repeats + 1)
    ]
    return runs[1:]


def main() -> None:
    """Print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--repeats', type=int, default=9)
    args = parser.parse_args()
    for what, code in (('import ik_node', IMPORT), ('load and first solve', FIRST_SOLVE)):
        times = measure(code, args.repeats)
        print(f'{what:22s} median {statistics.median(times):.3f} s, worst {max(times):.3f} s')


if __name__ == '__main__':
    main()
