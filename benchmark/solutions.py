"""
Find all solutions, and count how often some are missed; `bench solutions`.

The second table has random arms and platforms, whose number of solutions is that of a search with
a miss probability of 1e-6: the share of incomplete answers is to be below the stated one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import sys
from time import thread_time
from typing import Any

import ik_node as ik
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

UPRIGHT = (0, 0, 0, 1)
# Dietmaier (1998): 40 assemblies. Rows: point of the base, of the platform, length of the leg.
DIETMAIER = np.array(
    [
        (0, 0, 0, 0, 0, 0, 1),
        (1.107915, 0, 0, 0.542805, 0, 0, 0.645275),
        (0.549094, 0.756063, 0, 0.956919, -0.528915, 0, 1.086284),
        (0.735077, -0.223935, 0.525991, 0.665885, -0.353482, 1.402538, 1.503439),
        (0.514188, -0.526063, -0.368418, 0.478359, 1.158742, 0.107672, 1.281933),
        (0.590473, 0.094733, -0.205018, -0.137087, -0.235121, 0.353913, 0.771071),
    ]
)
# Manseur & Doty (1989): 16 answers. Rows: d, a, alpha [degrees].
MANSEUR_DOTY = [(0, 0.3, 90), (0, 1, 1), (0.2, 0, 90), (0, 1.5, 1), (0, 0, 90), (0, 0, 1)]
ANSWER = [-1.67998116, -0.10949556, -0.00054250, 2.46989345, 2.22442219, 2.45385011]
UR5 = [(0.089159, 0, 90), (0, -0.425, 0), (0, -0.39225, 0), (0.10915, 0, 90)]
UR5 += [(0.09465, 0, -90), (0.0823, 0, 0)]


def platform(legs: Array) -> ik.Robot:
    """Return a body on legs, rows as those of `DIETMAIER`."""
    joint = '<joint name="free" type="floating"><parent link="base"/><child link="body"/></joint>'
    robot = ik.load_robot(f'<robot name="p"><link name="base"/><link name="body"/>{joint}</robot>')
    for k, (*ends, length) in enumerate(legs.tolist()):
        frames = {'frame_a': (ends[3:], UPRIGHT), 'frame_b': (ends[:3], UPRIGHT)}
        robot.add_closure('body', 'base', type='distance', name=f'{k}', distance=length, **frames)
    return robot


def arm(rows: Any, q: Any) -> tuple[ik.Robot, dict[str, Array]]:
    """Return an arm, and the pose of its tool at q as a goal."""
    robot = ik.from_dh([(*row, 0) for row in rows], degrees=True)
    return robot, {'link6': robot.forward(q, 'link6')}


def random_problems(random: np.random.Generator) -> Iterator[tuple[ik.Robot, dict[str, Array]]]:
    """Yield random arms and platforms by turns."""
    while True:
        rows = np.c_[random.uniform(-0.5, 0.5, (6, 2)), random.uniform(-180, 180, 6)]
        yield arm(rows, random.uniform(-3, 3, 6))
        yield arm(UR5, random.uniform(-3, 3, 6))
        base, top = random.normal(size=(6, 3)), 0.7 * random.normal(size=(6, 3))
        turn = Rotation.random(random_state=int(random.integers(1 << 30)))
        legs = np.linalg.norm(turn.apply(top) + random.normal(size=3) - base, axis=1)
        yield platform(np.c_[base, top, legs]), {}


def main(words: list[str]) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(prog='bench solutions', description=__doc__.split('\n')[1])
    parser.add_argument('--seeds', type=int, default=100, help='of the first table (100)')
    parser.add_argument('--problems', type=int, default=60, help='of the second table (60)')
    args = parser.parse_args(words)
    named = {
        'Dietmaier, 40': (platform(DIETMAIER), {}),
        'Manseur-Doty, 16': arm(MANSEUR_DOTY, ANSWER),
        'UR5, 8': arm(UR5, [0.3, -1, 0.9, 0.4, 0.7, 0.2]),
    }
    print('| mechanism | found | in so many seeds | median [ms] | slowest [ms] | starts |')
    print('|---|---|---|---|---|---|')
    for name, (robot, goals) in named.items():
        solver, counts, times, starts = ik.Solver(robot), [], [], []
        for seed in range(args.seeds):
            began = thread_time()
            found = solver.solve_all(goals, seed=seed)
            times.append(1e3 * (thread_time() - began))
            counts.append(len(found))
            starts.append(found.starts)
        most = max(counts)
        cells = (name, most, counts.count(most), np.median(times), max(times), np.median(starts))
        print('| {} | {} | {} | {:.3f} | {:.3f} | {:.0f} |'.format(*cells))
    print('\n| miss probability | problems | incomplete | median [ms] |\n|---|---|---|---|')
    random, wanted = np.random.default_rng(0), (0.1, 0.01, 0.001)
    missed, spent = dict.fromkeys(wanted, 0), {miss: [] for miss in wanted}
    for _, (robot, goals) in zip(range(args.problems), random_problems(random), strict=False):
        solver = ik.Solver(robot)
        count = len(solver.solve_all(goals, miss=1e-6, seconds=1.0))
        for miss in wanted:
            found = solver.solve_all(goals, miss=miss, seed=int(random.integers(1 << 20)))
            missed[miss] += len(found) < count
            spent[miss].append(1e3 * found.solve_time)
    for miss in wanted:
        print(f'| {miss} | {args.problems} | {missed[miss]} | {np.median(spent[miss]):.3f} |')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
