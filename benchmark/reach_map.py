"""
Maps of the positions that a link reaches, `Robot.reach`: time, size, completeness and queries.

The robots are an arm with the lengths and limits of a Panda, and the package's delta. For the
arm, random configurations within the limits are compared with the map: every position that they
reach must lie in a reached cell or next to one, because a cell is reached if its middle is.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
import resource
import sys
import tempfile
from time import perf_counter, process_time

import ik_node as ik
from ik_node.description.files import description_path
from machine import machine
import numpy as np
from scipy.ndimage import binary_dilation
from tasks.arms import panda, within_limits
from tasks.judge import forward

SLICE = 100_000  # sampled configurations whose kinematics are computed at once


def main(words: list[str] | None = None) -> int:
    """Print the rows; return 1 if the arm reaches a position that its map lacks."""
    parser = argparse.ArgumentParser(prog='ik_node bench reach', description=__doc__)
    parser.add_argument(
        '--orientations', type=int, default=32, help='directions of the last map; 0 = none'
    )
    parser.add_argument('--samples', type=int, default=2_000_000, help='(default 2000000)')
    parser.add_argument('--seed', type=int, default=0, help='of the samples (default 0)')
    args = parser.parse_args(words)
    print(machine())
    arm = ik.load_robot(panda().urdf())
    delta = ik.load_robot(description_path('delta.urdf'))
    found = _row('Panda-like arm', lambda: arm.reach('tool'))
    _row('delta', lambda: delta.reach('platform_link'))
    _row('delta', lambda: delta.reach('platform_link', cell=0.005))
    far = _beyond(found, args.samples, np.random.default_rng(args.seed))
    print(f'{far} of {args.samples} sampled configurations are more than a cell from reached ones')
    _queries(found)
    if args.orientations:
        count = args.orientations
        _row('Panda-like arm', lambda: arm.reach('tool', orientations=count))
    return 1 if far else 0


def _row(name: str, search: Callable[[], ik.ReachVolume]) -> ik.ReachVolume:
    """Search, and print what was found and what it took."""
    begin, work = perf_counter(), process_time()
    found = search()
    spent, work = perf_counter() - begin, process_time() - work
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'map.npz'
        found.save(file)
        size = 1e-6 * file.stat().st_size
    memory = 1e-6 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f'{name}: {found.describe()}; {spent:.1f} s, {work:.1f} s of processor time, '
        f'a file of {size:.1f} MB, at most {memory:.2f} GB of memory so far'
    )
    return found


def _beyond(found: ik.ReachVolume, samples: int, rng: np.random.Generator) -> int:
    """Return how many sampled configurations are more than one cell away from reached cells."""
    near = binary_dilation(np.pad(found.reached, 1), np.ones((3, 3, 3), dtype=bool))
    arm, count = panda(), 0
    for at in range(0, samples, SLICE):
        q = within_limits(arm, min(SLICE, samples - at), rng)
        positions = forward(arm, q)['tool'][:, :3, 3]
        cells = np.rint((positions - found.origin) / found.cell).astype(int) + 1
        inside = np.all((cells >= 0) & (cells < near.shape), axis=1)
        count += int(np.count_nonzero(~inside))
        count += int(np.count_nonzero(~near[tuple(cells[inside].T)]))
    return count


def _queries(found: ik.ReachVolume) -> None:
    """Print the times of queries."""
    rng = np.random.default_rng(1)
    reached = np.argwhere(found.reached)
    some = reached[rng.integers(len(reached), size=1_000_000)]
    points = found.origin + found.cell * some
    tuples = [tuple(point) for point in points[:10_000].tolist()]
    for name, query in (('contains', found.contains), ('q_at', found.q_at)):
        begin = perf_counter()
        for point in tuples:
            query(point)
        print(f'{name}: {1e6 * (perf_counter() - begin) / len(tuples):.2f} us a point')
    begin = perf_counter()
    found.contains(points)
    print(f'contains, a million points at once: {perf_counter() - begin:.2f} s')


if __name__ == '__main__':
    sys.exit(main())
