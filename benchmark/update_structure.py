"""
Time of `update_structure`, and of the first solve after it, when a robot is rearranged.

A chain of hinges; a closure at its tip is made and released by turns, as a foot is planted and
lifted. Then its base is moved before every solve, and at last nothing: what a call then spends on
looking for changes. Medians over `--repeats` changes, one thread, warm.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import time
import timeit

import ik_node as ik
import numpy as np


def hinges(count: int) -> tuple[ik.Link, ik.Link, ik.Closure]:
    """Return base and tip of a chain, and a closure between tip and base."""
    base = parent = ik.Link('base')
    for k in range(count):
        joint, link = ik.Joint(f'joint{k}'), ik.Link(f'link{k}')
        joint.set_dof('EZ' if k % 2 else 'EX')
        joint.set_position(0.0, 0.0, 0.1)
        joint.set_dof_values(0.05)
        parent.add_child(joint)
        joint.add_child(link)
        parent = link
    foot = ik.Closure('foot', 'point')
    foot.set_position(*parent.get_world_position())
    return base, parent, foot


def median_ms(do: Callable[[], object], before: Callable[[int], None], repeats: int) -> float:
    """Return the median time of an action after a change."""
    times = []
    for k in range(repeats):
        before(k)
        begin = time.perf_counter()
        do()
        times.append(time.perf_counter() - begin)
    return float(1e3 * np.median(times))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--repeats', type=int, default=100, help='changes (default 100)')
    repeats = parser.parse_args().repeats
    print(
        'joints  update_structure ms  with first solve ms  nothing new ms  base moved ms  '
        'looking for changes us'
    )
    for count in (10, 30, 100, 300):
        base, tip, foot = hinges(count)
        solver = ik.Solver(base)
        solver.solve()

        def turn(
            k: int, base: ik.Link = base, tip: ik.Link = tip, foot: ik.Closure = foot
        ) -> None:
            if k % 2:
                base.remove_child(foot)
                foot.remove_child(tip)
            else:
                base.add_child(foot)
                foot.make_closure(tip)

        def both(solver: ik.Solver = solver) -> None:
            solver.update_structure()
            solver.solve_pose({})

        alone = median_ms(solver.update_structure, turn, repeats)
        first = median_ms(both, turn, repeats)
        same = median_ms(solver.update_structure, lambda k: None, repeats)

        def move(k: int, base: ik.Link = base) -> None:
            base.set_position(0.01 * k, 0.0, 0.0)

        def solve(solver: ik.Solver = solver) -> None:
            solver.solve_pose({})

        moved = median_ms(solve, move, repeats)
        look = 1e3 * min(timeit.Timer(solver.refresh).repeat(20, 1000))
        print(f'{count:6d} {alone:20.2f} {first:20.2f} {same:15.2f} {moved:14.2f} {look:23.3f}')


if __name__ == '__main__':
    main()
