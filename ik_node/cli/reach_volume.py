"""The volume of the command `reach`: its computation, and queries to a stored one."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
import re
import sys
from time import perf_counter
from typing import Any

from ik_node.analysis.reach.files import check_suffix
from ik_node.analysis.reach.search import CELL, ReachSearch
from ik_node.analysis.reach.volume import ReachVolume
from ik_node.cli.engine_arguments import engine_of
from ik_node.cli.goal_arguments import parse_goal_arguments
from ik_node.cli.robot_arguments import check_files, check_writable, robot_of
from ik_node.cli.volume_plot import volume_plot
from ik_node.display import say
from ik_node.errors import DescriptionError, OptionError
from ik_node.motion.pose_table import read_goal_table
from ik_node.whole_file import whole_file
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

Array = NDArray[np.float64]

# Number of positions of the base that are printed.
SHOWN = 5


def add_volume_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the volume and of its queries."""
    parser.add_argument('--volume', action='store_true', help='a map over positions in space')
    parser.add_argument(
        '--cell', type=float, default=CELL, metavar='M', help=f'side of a cell [m]; default {CELL}'
    )
    parser.add_argument(
        '--orientations',
        metavar='K|FILE',
        help="number of evenly spread directions of the link's z axis, or a CSV file of "
        'orientations qx qy qz qw; default: any orientation',
    )
    parser.add_argument(
        '--goal',
        action='append',
        default=[],
        metavar='LINK:x,y,z[,qx,qy,qz,qw]',
        help='pose that another link keeps, with --volume; may be repeated',
    )
    parser.add_argument(
        '--query', type=float, nargs=3, metavar=('X', 'Y', 'Z'), help='point in a stored map [m]'
    )
    parser.add_argument(
        '--targets', metavar='FILE', help='poses to find positions of the base for, .csv or .npy'
    )


def compute_volume(args: argparse.Namespace) -> int:
    """Compute a volume, write the files and return the exit code."""
    arguments = parse_goal_arguments(args)
    orientations = None if args.orientations is None else _orientations(args.orientations)
    extent = None if args.extent is None else _extent(args.extent)
    for option, value in (('--plane', args.plane), ('--at', args.at)):
        if value is not None:
            raise OptionError(option, value, 'it without --volume')
    robot = robot_of(args)
    stem = re.sub(r'[^\w.-]+', '_', f'{robot.name}_{args.link}_reach')
    path = Path(args.out or f'{stem}.npz')
    check_suffix(path, '-o')
    check_writable('-o', str(path))
    draw = None
    if args.plot is not None:
        draw = volume_plot(args.plot)
        check_writable('--plot', args.plot)
    poses, robot.q = arguments.of(robot)
    began, stopped = perf_counter(), False
    with engine_of(args) as (executor, threads, _):
        search = ReachSearch(
            robot,
            args.link,
            cell=args.cell,
            extent=extent,
            orientations=orientations,
            goals=poses,
            restarts=args.restarts,
            threads=threads,
            executor=executor,
        )
        try:
            # The bar is shown only if standard error is a terminal, and removed at the end.
            with tqdm(total=None, miniters=1, disable=None, leave=False) as bar:

                def progress(done: int, total: int) -> None:
                    bar.total = total
                    bar.update(done - bar.n)

                search.run(progress)
        except KeyboardInterrupt:
            stopped = True
    found = search.volume()
    if stopped and not found.reached.any():
        raise KeyboardInterrupt
    found.save(path)
    if draw is not None:
        draw(found)
    written = f'{path}, {args.plot}' if args.plot else f'{path}'
    text = f'{found.describe()}, in {perf_counter() - began:.1f} s'
    if stopped:
        print(f'ik_node reach: stopped; {text} is in {written}', file=sys.stderr)
        return 130
    say(f'{text}; {written}')
    return 0 if found.reached.any() else 1


def query_volume(args: argparse.Namespace) -> int:
    """Answer a query to a stored map, or describe it, and return the exit code."""
    found = ReachVolume.load(args.robot)
    if args.targets is not None:
        return _place_base(found, args)
    if args.query is None:
        say(f'{found.robot}, {found.link}: {found.describe()}')
        return 0
    share = found.capability(args.query)
    q = found.q_at(args.query)
    if q is None:
        print('not reached')
        return 1
    of = '' if found.quats_xyzw is None else f' in {share:.0%} of the orientations'
    values = zip(found.joint_names, q.tolist(), strict=True)
    say(f'reached{of}; ' + ' '.join(f'{name}={value:.6g}' for name, value in values))
    return 0


def _place_base(found: ReachVolume, args: argparse.Namespace) -> int:
    """Find positions of the base, write all and print the best ones."""
    check_files(args.targets)
    (table,) = read_goal_table(Path(args.targets), ['target']).values()
    if found.quats_xyzw is not None and not table.turned:
        raise DescriptionError('no orientations, which the map needs', source=args.targets)
    box = None
    if args.extent is not None:
        if len(args.extent) != 4:
            raise OptionError('--extent', args.extent, 'MIN MAX MIN MAX of x and y of the base')
        box = np.reshape(args.extent, (2, 2))
    if args.out is not None:
        check_writable('-o', args.out)
    base = found.base_placement((table.positions, table.quats_xyzw), extent=box)
    if args.out is not None:
        every = base.best(base.counts.size)
        with whole_file(args.out) as part, part.open('w', newline='', encoding='utf-8') as file:
            writer = csv.writer(file, lineterminator='\n')
            writer.writerow(('x', 'y', 'yaw', 'targets'))
            writer.writerows((x, y, yaw, int(count)) for x, y, yaw, count in every.tolist())
    best = base.best(SHOWN).tolist()
    for x, y, yaw, count in best:
        print(f'{int(count)} of {base.total} targets: x {x:.4g} m, y {y:.4g} m, yaw {yaw:.4g} rad')
    return 0 if best[0][3] else 1


def _extent(given: list[float]) -> Array:
    if len(given) != 6:
        raise OptionError('--extent', given, 'MIN MAX of x, of y and of z for a volume')
    return np.reshape(given, (3, 2))


def _orientations(given: str) -> Any:
    """Return a number of directions, or the quaternions in a file."""
    if re.fullmatch(r'\d+', given):
        return int(given)
    check_files(given)
    try:
        return np.loadtxt(given, delimiter=',', ndmin=2)
    except ValueError as error:
        raise DescriptionError(f'rows qx,qy,qz,qw expected: {error}', source=given) from None
