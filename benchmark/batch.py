"""
Hundreds of thousands of goals: `Solver.solve_batch` on one core and on all, 7R arm.

Forward kinematics in NumPy verifies all answers. The first thousand are also compared bit by bit
with single calls of `solve_pose`.
"""

from __future__ import annotations

import argparse
import os
import sys
from time import perf_counter, process_time

import ik_node as ik
from machine import machine
import numpy as np
from rounds import TIGHT
from tasks.arms import panda, within_limits
from tasks.judge import errors, limit_excess
from tasks.task import Form


def main(words: list[str] | None = None) -> int:
    """Print a table; return 1 if a goal was not reached."""
    parser = argparse.ArgumentParser(
        prog='ik_node bench batch',
        description=__doc__,
        epilog='Of `cores` much less than `threads`, other processes have had the rest: compare '
        'goals by the second of a core then.',
    )
    parser.add_argument('--count', type=int, default=100_000, help='goals (default 100000)')
    parser.add_argument('--seed', type=int, default=0, help='of the goals (default 0)')
    parser.add_argument('--restarts', type=int, default=500, help='at most (default 500)')
    parser.add_argument('--rounds', type=int, default=3, help='the best counts (default 3)')
    args = parser.parse_args(words)
    arm, rng = panda(), np.random.default_rng((args.seed, 7))
    witness, starts = within_limits(arm, args.count, rng), within_limits(arm, args.count, rng)
    form = Form(arm, [('tool', 'pose')], starts, witness)
    solver = ik.Solver(ik.load_robot(arm.urdf()), ik.SolverOptions(restarts=args.restarts))
    solver.warm()
    goals = {'tool': (form.targets[:, 0, :3], form.targets[:, 0, 3:])}
    print(machine())
    names = ('threads', 'goals/s', 'us each', 'cores', 'goals/s core', 'scaling', 'solved %')
    print(' '.join(f'{name:>12s}' for name in names))
    rows = sorted({1, len(os.sched_getaffinity(0))})
    best = dict.fromkeys(rows, (np.inf, 0.0))
    good = 100.0
    for _ in range(args.rounds):  # by turns: the machine may be shared
        for threads in rows:
            begin, work = perf_counter(), process_time()
            found = solver.solve_batch(goals, starts, threads=threads)
            best[threads] = min(best[threads], (perf_counter() - begin, process_time() - work))
            good = min(good, 100 * float(right(form, found.q).mean()))
    for threads, (spent, work) in best.items():
        rate = f'{threads:12d} {args.count / spent:12.0f} {1e6 * spent / args.count:12.2f}'
        share = f'{work / spent:12.2f} {args.count / work:12.0f} {best[1][0] / spent:12.2f}'
        print(rate, share, f'{good:12.3f}')
    some = min(1000, args.count)
    same = sum(
        np.array_equal(solver.solve_pose({'tool': (p[:3], p[3:])}, q0).q, q)
        for p, q0, q in zip(form.targets[:some, 0], starts[:some], found.q, strict=False)
    )
    print(f'bit-identical to one by one: {same} of {some}')
    return 0 if good == 100.0 and same == some else 1


def right(form: Form, q: np.ndarray) -> np.ndarray:
    """Return which answers are correct."""
    parts = []
    for at in range(0, len(q), 10_000):
        part = slice(at, at + 10_000)
        wrong = errors(form.mechanism, form.goals, form.targets[part], q[part]).max(axis=1)
        outside = limit_excess(form.mechanism, q[part])
        parts.append((wrong <= TIGHT[0]) & (outside <= TIGHT[1]))
    return np.concatenate(parts)


if __name__ == '__main__':
    sys.exit(main())
