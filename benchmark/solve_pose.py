"""
Time of one `solve_pose` from Python, one thread, after a warm-up.

Every problem is solved `--repeats` times and its fastest time counts, which leaves the noise of
the machine out; the medians and the 99th percentile are over the problems.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import time

import ik_node as ik
import numpy as np
from tasks.problems import hexapod_set, ProblemSet, scenario_sets


def all_sets() -> Iterator[ProblemSet]:
    """Yield every set of problems."""
    yield from scenario_sets()
    yield hexapod_set()


def measure(problems: ProblemSet, repeats: int) -> str:
    """Solve all problems of a set and return its row."""
    times, steps, starts, solved = [], [], [], 0
    solver = problems.solver
    for q0, goals in zip(problems.starts, problems.goals, strict=True):
        best = np.inf
        for _ in range(repeats):
            begin = time.perf_counter()
            solution = solver.solve_pose(goals, q0)
            best = min(best, time.perf_counter() - begin)
        solved += solution.status is ik.Status.CONVERGED
        times.append(1e6 * best)
        steps.append(solution.iterations)
        starts.append(solution.starts)
    per_start = np.median(np.array(times) / np.array(starts))
    at_goal = np.inf
    for _ in range(300):
        begin = time.perf_counter()
        solver.solve_pose(goals, solution.q)
        at_goal = min(at_goal, time.perf_counter() - begin)
    return (
        f'{problems.name:16s} {len(solver.joint_names):4d} {100 * solved / len(times):8.1f} '
        f'{np.median(times):8.1f} {per_start:10.1f} {np.percentile(times, 99):8.1f} '
        f'{np.median(steps):6.1f} {max(starts):7d} {1e6 * at_goal:8.1f}'
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--repeats', type=int, default=7)
    args = parser.parse_args()
    print(
        f'{"problems":16s} {"nq":>4s} {"solved %":>8s} {"med us":>8s} {"per start":>10s} '
        f'{"p99 us":>8s} {"steps":>6s} {"starts":>7s} {"at goal":>8s}'
    )
    for problems in all_sets():
        print(measure(problems, args.repeats), flush=True)


if __name__ == '__main__':
    main()
