"""The volume of the command `reach`: its computation, and queries to a stored one."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
import csv
from pathlib import Path
import re
import sys
from time import perf_counter
from typing import Any

from ik_node.analysis.reach.files import check_suffix
from ik_node.analysis.reach.search import ReachSearch
from ik_node.analysis.reach.volume import ReachVolume
from ik_node.cli.arguments import (
    check_files,
    check_writable,
    engine_of,
    parse_goal_arguments,
    robot_of,
)
from ik_node.cli.reach_plot import volume_plot
from ik_node.display import say
from ik_node.errors import DescriptionError, OptionError
from ik_node.model.rotation import Array
from ik_node.motion.pose_table import read_goal_table
from ik_node.robot import Robot
from ik_node.whole_file import whole_file
import numpy as np
from tqdm import tqdm

# Number of positions of the base that are printed.
SHOWN = 5


def compute_volume(args: argparse.Namespace) -> int:
    """Compute a volume, write the files and return the exit code."""
    arguments = parse_goal_arguments(args)
    orientations = None if args.orientations is None else _orientations(args.orientations)
    extent = None if args.extent is None else _extent(args.extent)
    for option, value in (('--plane', args.plane), ('--at', args.at)):
        if value is not None:
            raise OptionError(option, value, 'it without --volume')
    robot = robot_of(args)
    path = Path(args.out or f'{default_stem(robot, args.link)}.npz')
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
    result = search.volume()
    if stopped and not result.reached.any():
        raise KeyboardInterrupt
    result.save(path)
    if draw is not None:
        draw(result)
    text = f'{result.describe()}, in {perf_counter() - began:.1f} s'
    return report_end(text, (path, args.plot), result.reached.any(), stopped=stopped)


def default_stem(robot: Robot, link: str) -> str:
    """Return the name of the output files without its ending."""
    return re.sub(r'[^\w.-]+', '_', f'{robot.name}_{link}_reach')


def report_end(
    text: str, paths: Iterable[str | Path | None], reached: object, *, stopped: bool
) -> int:
    """Print the result and the written files, and return the exit code."""
    written = ', '.join(str(path) for path in paths if path is not None)
    if stopped:
        print(f'ik_node reach: stopped; {text} is in {written}', file=sys.stderr)
        return 130
    say(f'{text}; {written}')
    return 0 if reached else 1


def query_volume(args: argparse.Namespace) -> int:
    """Answer a query to a stored map, or describe it, and return the exit code."""
    result = ReachVolume.load(args.robot)
    if args.targets is not None:
        return _place_base(result, args)
    if args.query is None:
        say(f'{result.robot}, {result.link}: {result.describe()}')
        return 0
    share = result.capability(args.query)
    q = result.q_at(args.query)
    if q is None:
        print('not reached')
        return 1
    of = '' if result.quats_xyzw is None else f' in {share:.0%} of the orientations'
    values = zip(result.joint_names, q.tolist(), strict=True)
    say(f'reached{of}; ' + ' '.join(f'{name}={value:.6g}' for name, value in values))
    return 0


def _place_base(result: ReachVolume, args: argparse.Namespace) -> int:
    """Find positions of the base, write all and print the best ones."""
    check_files(args.targets)
    (table,) = read_goal_table(Path(args.targets), ['target']).values()
    if result.quats_xyzw is not None and not table.turned:
        raise DescriptionError('no orientations, which the map needs', source=args.targets)
    box = None
    if args.extent is not None:
        if len(args.extent) != 4:
            raise OptionError('--extent', args.extent, 'MIN MAX MIN MAX of x and y of the base')
        box = np.reshape(args.extent, (2, 2))
    if args.out is not None:
        check_writable('-o', args.out)
    base = result.base_placement((table.positions, table.quats_xyzw), extent=box)
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
