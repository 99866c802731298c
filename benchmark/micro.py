"""
Times of pose and Jacobian, a step, a restart and an idle call, with lower bounds.

The limit is a damped step for one arm in plain Numba, see limit.py. Ours come from whole solves:
what a step, a further start and a call cost is fitted to the times of all problems of a task.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import sys
from time import perf_counter
from typing import Any

from limit import Limit, LIMITS
from machine import machine
import numpy as np
from peers.ours import calls_at_goal, Ours, pose_and_jacobian_loop
from tasks.arms import arm_tasks
from tasks.platforms import stewart_tasks
from tasks.task import Task

COUNT = 20_000


def fastest(do: Callable[[int], Any], count: int, rounds: int) -> float:
    """Return the time of one of `count` calls in the fastest round [us]."""
    # Many short rounds: on a shared machine some of them are left alone.
    some = max(1, count // 20)
    do(some)
    best = np.inf
    for _ in range(20 * rounds):
        begin = perf_counter()
        do(some)
        best = min(best, perf_counter() - begin)
    return 1e6 * best / some


def fitted(task: Task, rounds: int) -> tuple[float, float, float]:
    """Return our time of a step, a further start and a call [us], by least squares."""
    player = Ours(task.main.plain(), 1e-6, {'call': 'prepared'})
    times = np.full(len(player.cases), np.inf)
    counted = []
    for _ in range(rounds):
        counted = []
        for at, case in enumerate(player.cases):
            begin = perf_counter()
            raw = player.solve(case)
            times[at] = min(times[at], perf_counter() - begin)
            counted.append((raw.iterations, raw.starts - 1, 1.0))
    fit = np.linalg.lstsq(np.array(counted), 1e6 * times, rcond=None)[0]
    return float(fit[0]), float(fit[1]), float(fit[2])


def main(words: list[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog='ik_node bench micro', description=__doc__)
    parser.add_argument('--rounds', type=int, default=15, help='the fastest counts (default 15)')
    args = parser.parse_args(words)
    rounds = args.rounds
    print(machine())
    arms = {task.name: task for task in arm_tasks(500, 0)}
    tasks = {'6R': arms['arm6_random'], '7R': arms['arm7_random']}
    rows: dict[str, list[float]] = {}
    for name, make in LIMITS.items():
        limit, task = Limit(make()), tasks[name]
        player = Ours(task.main.plain(), 1e-6, {'call': 'pose'})
        evaluations = pose_and_jacobian_loop(player)
        step, restart, call = fitted(task, rounds)
        for what, value in (
            ('limit: pose and Jacobian', fastest(limit.jacobians, COUNT, rounds)),
            ('limit: damped step', fastest(limit.steps, COUNT, rounds)),
            ('ours: pose, residual and Jacobian', fastest(evaluations, COUNT, rounds)),
            ('ours: step, fitted', step),
            ('ours: further start, fitted', restart),
            ('ours: call, fitted', call),
        ):
            rows.setdefault(what, []).append(value)
    print(f'\n{"[us]":40s} {"6R":>8s} {"7R":>8s}')
    for what, values in rows.items():
        print(f'{what:40s} ' + ' '.join(f'{value:8.2f}' for value in values))
    stewart = next(iter(stewart_tasks(50, 0)))
    print(f'\n{"a call at its goal already [us]":40s} {"7R":>8s} {"Stewart 42":>10s}')
    found = [calls_at_goal(task.main.plain()) for task in (tasks['7R'], stewart)]
    for what in found[0]:
        values = [fastest(calls[what], 2000, rounds) for calls in found]
        print(f'{what:40s} {values[0]:8.2f} {values[1]:10.2f}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
